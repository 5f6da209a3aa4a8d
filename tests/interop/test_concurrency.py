# SPDX-License-Identifier: Apache-2.0
"""PyIceberg appends while firn optimizes the same table through the same catalog; and firn is killed at any moment."""

import datetime
import os
import random
import signal
import subprocess
import time

import pyarrow as pa
from pyiceberg.catalog.sql import SqlCatalog

from ..held_process import hold, let_go
from .conftest import BINARY
from .rows import by_duckdb, by_pyiceberg
from .shared_table import race
from .test_memory import table_of_links

def catalog_of(uri, warehouse):
    return SqlCatalog("lake", uri=uri, warehouse=warehouse)


def test_tenAppendersAgainstThreeOptimizers_nothingLostOrDoubled(lake):
    name = race(catalog_of, (lake.uri, f"file://{lake.folder}/warehouse"), lake.environment, writers=10, appends=6,
                rows_each=15, optimizers=3)
    ids = sorted(lake.load(name).scan().to_arrow()["id"].to_pylist())
    lake.firn("optimize", f"lake.{name}", "--quiet")
    assert sorted(lake.load(name).scan().to_arrow()["id"].to_pylist()) == ids


def test_killedAtAnyMoment_tableIsWhole_nextRunWorks(lake):
    seed = int(os.environ.get("FIRN_TEST_SEED", "7"))
    print(f"seed {seed}")
    rng = random.Random(seed)
    table = lake.catalog.create_table("db.t", schema=pa.schema([("id", pa.int64()), ("text", pa.string())]))
    next_id = 0
    for round_number in range(12):
        for _ in range(6):
            table = lake.load("db.t")
            table.append(pa.table({"id": range(next_id, next_id + 50), "text": ["x" * 10] * 50}))
            next_id += 50
        run = subprocess.Popen([BINARY, "optimize", "lake.db.t", "--quiet"], env=lake.environment,
                               stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        time.sleep(rng.random() * 0.15)
        run.send_signal(signal.SIGKILL)
        run.wait()
        table = lake.load("db.t")
        assert sorted(table.scan().to_arrow()["id"].to_pylist()) == list(range(next_id)), f"round {round_number}"
    lake.firn("optimize", "lake.db.t", "--quiet")
    assert sorted(lake.load("db.t").scan().to_arrow()["id"].to_pylist()) == list(range(next_id))
    lake.rows("db.t")


def test_expiryMeanwhile_theTagKeepsThePlansSnapshot_andGoesWithTheCommit(lake):
    files = 12_000
    table_of_links(lake, files)
    planned = lake.load("db.t").current_snapshot().snapshot_id
    run = subprocess.Popen([BINARY, "optimize", "lake.db.t", "--quiet", "--pin", "always", "--threads", "1"],
                           env=lake.environment, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
    try:
        while not [name for name in lake.load("db.t").refs() if name.startswith("firn-plan-")]:
            assert run.poll() is None, run.stdout.read()
        hold(run)
        lake.load("db.t").append(pa.table({"id": [7, 8], "text": ["x", "y"]}))
        lake.load("db.t").maintenance.expire_snapshots().older_than(
            datetime.datetime.now() + datetime.timedelta(days=1)).commit()
        table = lake.load("db.t")
        assert {s.snapshot_id for s in table.snapshots()} == {planned, table.current_snapshot().snapshot_id}
    finally:
        let_go(run)
    output = run.communicate(timeout=300)[0]
    assert run.returncode == 0, output
    table = lake.load("db.t")
    assert list(table.refs()) == ["main"]
    assert len(lake.files("db.t")) <= 3
    assert sum(by_pyiceberg(table).values()) == 3 * files + 2
    assert by_pyiceberg(table) == by_duckdb(table.metadata_location)
