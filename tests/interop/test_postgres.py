# SPDX-License-Identifier: Apache-2.0
"""The SQL catalog on a real PostgreSQL, shared with PyIceberg, with and without faults around COMMIT."""

import multiprocessing
import os
import random
import shutil
import subprocess
import tempfile
import time

import pyarrow as pa
import pytest
from pyiceberg.exceptions import CommitFailedException

from tests.services.postgres import PASSWORD, Postgres
from tests.services.postgres_proxy import PostgresProxy

from .conftest import BINARY
from .rows import by_duckdb, by_pyiceberg

psycopg2 = pytest.importorskip("psycopg2", reason="psycopg2-binary is not installed")


@pytest.fixture(scope="module")
def server():
    # Not below pytest's folder: another user's server cannot enter it.
    folder = tempfile.mkdtemp(prefix="firn-postgres-")
    os.chmod(folder, 0o755)
    made = None
    try:
        made = Postgres(folder + "/server")
        made.start()
    except RuntimeError as error:
        if made:
            made.stop()
        pytest.skip(f"no PostgreSQL server: {error}")
    yield made
    made.stop()
    shutil.rmtree(folder, ignore_errors=True)


def catalog_of(uri, folder):
    from pyiceberg.catalog.sql import SqlCatalog
    return SqlCatalog("lake", uri=uri.replace("postgresql:", "postgresql+psycopg2:"), warehouse=f"file://{folder}/warehouse")


def make_table(server, folder, appends=6):
    catalog = catalog_of(server.uri, folder)
    name = f"n{random.randrange(10**9)}.t"
    catalog.create_namespace(name.split(".")[0])
    table = catalog.create_table(name, schema=pa.schema([("id", pa.int64()), ("text", pa.string())]))
    for append in range(appends):
        table.append(pa.table({"id": range(append * 10, append * 10 + 10), "text": [f"x{append}"] * 10}))
    return catalog, name


def environment_of(uri, **more):
    return dict(os.environ, PYICEBERG_CATALOG__LAKE__URI=uri, **more)


def optimize(uri, name, **more):
    return subprocess.run([BINARY, "optimize", f"lake.{name}", "--quiet"], capture_output=True, text=True,
                          env=environment_of(uri, **more), timeout=300)


def check_rows(catalog, name, rows):
    table = catalog.load_table(name)
    assert by_pyiceberg(table) == rows
    assert by_duckdb(table.metadata_location) == rows
    return table


def replaces(table):
    return [s for s in table.snapshots() if s.summary.operation.value == "replace"]


def uris(server):
    jdbc = f"jdbc:postgresql://127.0.0.1:{server.port}/lake"
    return {"plain": (server.uri, {}), "psycopg2": (server.uri_at(server.port, "postgresql+psycopg2"), {}),
            "jdbc": (jdbc, {"PYICEBERG_CATALOG__LAKE__JDBC__USER": "firn", "PYICEBERG_CATALOG__LAKE__JDBC__PASSWORD": PASSWORD,
                            "PYICEBERG_CATALOG__LAKE__TYPE": "jdbc"})}


@pytest.mark.parametrize("kind", ["plain", "psycopg2", "jdbc"])
def test_optimize_tableOfPyIceberg_keepsRows(server, tmp_path, kind):
    catalog, name = make_table(server, tmp_path)
    rows = by_pyiceberg(catalog.load_table(name))
    before = catalog.load_table(name).metadata_location
    uri, more = uris(server)[kind]
    done = optimize(uri, name, **more)
    assert done.returncode == 0, done.stderr
    table = check_rows(catalog, name, rows)
    assert len(table.inspect.files()) == 1
    previous = server.sql("lake", "SELECT previous_metadata_location FROM iceberg_tables WHERE table_namespace = "
                          f"'{name.split('.')[0]}'").strip()
    assert previous == before
    # And PyIceberg goes on from there.
    table.append(pa.table({"id": [1000], "text": ["y"]}))
    assert sum(by_pyiceberg(catalog.load_table(name)).values()) == sum(rows.values()) + 1


def test_wrongPassword_isSaidWithoutIt(server, tmp_path):
    _, name = make_table(server, tmp_path, appends=1)
    done = optimize(server.uri.replace("p%2Fw", "hunter2"), name)
    assert done.returncode == 2, done.stderr
    assert "authentication failed" in done.stderr and "hunter2" not in done.stderr


# Fault of the first COMMIT, exit code, replace snapshots of the table after it.
@pytest.mark.parametrize("fault", ["pass", "cut_before", "cut_after", "late:1"])
def test_connectionLostAtCommit_isSettledByTheDatabase(server, tmp_path, fault):
    catalog, name = make_table(server, tmp_path)
    rows = by_pyiceberg(catalog.load_table(name))
    with PostgresProxy(server.port, [fault]) as proxy:
        done = optimize(server.uri_at(proxy.port), name)
        assert proxy.taken and proxy.taken[0] == fault
    # The commit counts once, whether the first one arrived or a second one was made.
    assert done.returncode == 0, done.stderr
    table = check_rows(catalog, name, rows)
    assert len(replaces(table)) == 1
    assert len(table.inspect.files()) == 1
    for snapshot in table.snapshots():
        by_pyiceberg(table, snapshot.snapshot_id)


def append_rows(uri, folder, name, writer, appends, rows_each):
    catalog = catalog_of(uri, folder)
    for number in range(appends):
        base = (writer * appends + number) * rows_each
        rows = pa.table({"id": range(base, base + rows_each), "text": [f"w{writer}"] * rows_each})
        while True:
            try:
                catalog.load_table(name).append(rows)
                break
            except CommitFailedException:
                time.sleep(random.random() * 0.1)


def test_appendersAgainstOptimizers_nothingLostOrDoubled(server, tmp_path):
    writers, appends, rows_each = 5, 6, 10
    catalog, name = make_table(server, tmp_path, appends=0)
    context = multiprocessing.get_context("spawn")
    processes = [context.Process(target=append_rows, args=(server.uri, str(tmp_path), name, w, appends, rows_each))
                 for w in range(writers)]
    for process in processes:
        process.start()
    ends = []
    while any(process.is_alive() for process in processes):
        runs = [subprocess.Popen([BINARY, "optimize", f"lake.{name}", "--quiet"], env=environment_of(server.uri),
                                 stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True) for _ in range(2)]
        for run in runs:
            error = run.communicate(timeout=300)[1]
            ends.append(run.returncode)
            assert run.returncode in (0, 6, 8, 11), error
    assert all(process.exitcode == 0 for process in map(lambda p: (p.join(), p)[1], processes))
    table = catalog.load_table(name)
    ids = sorted(table.scan().to_arrow()["id"].to_pylist())
    assert ids == list(range(writers * appends * rows_each))
    assert by_duckdb(table.metadata_location) == by_pyiceberg(table)
    assert 0 in ends, "at least one run optimized"


def test_serverStartedAgain_theNextRunWorks(server, tmp_path):
    catalog, name = make_table(server, tmp_path)
    rows = by_pyiceberg(catalog.load_table(name))
    server.stop()
    down = optimize(server.uri, name)
    assert down.returncode == 8, f"{down.returncode} {down.stderr}"
    server.launch()
    done = optimize(server.uri, name)
    assert done.returncode == 0, done.stderr
    catalog = catalog_of(server.uri, tmp_path)
    assert len(check_rows(catalog, name, rows).inspect.files()) == 1
