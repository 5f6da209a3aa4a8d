# SPDX-License-Identifier: Apache-2.0
"""A system that has no more threads, from the first on or in the middle of the work: it is done with fewer, or refused."""

import os
import re
import select
import subprocess
from pathlib import Path

import pyarrow as pa
import pytest

from .conftest import BINARY
from .test_s3_ranges import ENDPOINT, Store, table_of

FILES, UNAVAILABLE, LIMIT_REACHED = 6, 8, 9


@pytest.fixture(scope="module")
def preload(tmp_path_factory):
    library = tmp_path_factory.mktemp("few_threads") / "few_threads.so"
    subprocess.run(["cc", "-shared", "-fPIC", "-o", library, Path(__file__).parent / "few_threads.c", "-ldl"], check=True)
    return str(library)


def with_threads(lake, preload, count):
    return dict(lake.environment, LD_PRELOAD=preload, THREADS_MAX=str(count))


def run(lake, preload, count, *arguments):
    return subprocess.run([BINARY, *arguments], env=with_threads(lake, preload, count), capture_output=True, text=True,
                          timeout=120)


def make_table(lake, name, rows=4000, **properties):
    table = lake.catalog.create_table(name, schema=pa.schema([("id", pa.int64()), ("text", pa.string())]), **properties)
    for number in range(FILES):
        table.append(pa.table({"id": range(number * rows, (number + 1) * rows),
                               "text": [f"text {row * 7919 % 1000}" for row in range(rows)]}))
    return name


def optimize_with_fewer_threads(lake, preload, counts, read, **properties):
    """Of every count: done, or refused and as before. Then with more; how the runs ended."""
    codes = []
    for count in counts:
        name = make_table(lake, f"db.t{count}", **properties)
        rows = read(name)
        done = run(lake, preload, count, "optimize", f"lake.{name}", "--threads", "2")
        assert done.returncode in (0, LIMIT_REACHED), f"{count} threads: exit {done.returncode}: {done.stdout}{done.stderr}"
        assert len(lake.files(name)) == (1 if done.returncode == 0 else FILES)
        assert done.returncode == 0 or "no thread could be started" in done.stdout + done.stderr, done.stdout
        assert read(name) == rows, f"{count} threads"
        codes.append(done.returncode)
    return codes


def test_optimize_worksWithTheThreadsThereAre_orChangesNothing(lake, preload):
    codes = optimize_with_fewer_threads(lake, preload, range(20), lake.rows)
    assert codes[0] == LIMIT_REACHED and codes[-1] == 0


@pytest.mark.parametrize("command", [["analyze", "lake.db.t"], ["plan", "lake.db.t"],
                                     ["simulate", "--from-table", "lake.db.t", "--threads", "3"]])
def test_commandsThatChangeNothing_answer(lake, preload, command):
    make_table(lake, "db.t")
    for count in range(0, 20, 2):
        done = run(lake, preload, count, *command)
        assert done.returncode in (0, LIMIT_REACHED), f"{count} threads: exit {done.returncode}: {done.stderr}"
    assert done.returncode == 0, done.stderr


def test_serve_refusesToStart_orServes(lake, preload):
    make_table(lake, "db.t")
    served = []
    for count in range(0, 40):
        process = subprocess.Popen([BINARY, "serve", "--catalog", "lake", "--listen", "127.0.0.1:0", "--shadow", "--watch",
                                    f"{lake.folder}/warehouse", "--state", f"{lake.folder}/state.db"],
                                   env=with_threads(lake, preload, count), stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                                   text=True)
        assert select.select([process.stdout], [], [], 60)[0], f"{count} threads: neither an address nor an end"
        served.append("firn serves at" in process.stdout.readline())
        if served[-1]:
            process.terminate()
        _, errors = process.communicate(timeout=60)
        assert process.returncode == (0 if served[-1] else LIMIT_REACHED), f"{count} threads: {errors}"
        assert served[-1] or re.search(r"firn: limit reached: .+: no thread could be started: ", errors), errors
        if served[-2:] == [True, True]:
            break
    assert served[-1] and not served[0]


@pytest.mark.skipif(not ENDPOINT, reason="no S3 server (FIRN_TEST_S3_ENDPOINT)")
@pytest.mark.parametrize("compression", ["none", "snappy"])  # copied by the store; read and written
def test_spliceInAStore_worksWithTheThreadsThereAre_orLeavesNothing(tmp_path, preload, compression):
    store = Store(tmp_path)
    tables = [table_of(seed) for seed in range(2)]
    inputs = [store.write(f"in{i}.parquet", table, compression=compression) for i, table in enumerate(tables)]
    keys = [part for key, value in store.keys.items() for part in ("--property", f"{key}={value}")]
    codes = []
    for count in (0, 5, 9, 40):
        output = f"s3://{store.bucket}/{store.root}/out{count}.parquet"
        done = run(store.lake, preload, count, "splice", *inputs, "-o", output, "--threads", "2", *keys)
        codes.append(done.returncode)
        assert done.returncode in (0, UNAVAILABLE, LIMIT_REACHED), f"{count} threads: {done.returncode}: {done.stderr}"
        assert done.returncode == 0 or f"out{count}.parquet" not in store.names()
        assert done.returncode != 0 or pa.concat_tables(tables).equals(store.read(f"out{count}.parquet"))
        if compression == "none":  # parts that Arrow's client has on their way when it is given up may arrive later
            assert not store.uploads()
    assert codes[-1] == 0
