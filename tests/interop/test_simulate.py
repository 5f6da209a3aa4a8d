# SPDX-License-Identifier: Apache-2.0
"""The history of a table that PyIceberg wrote, played against policies: what `none` ends with is what the writers left."""

import json

import pyarrow as pa
from pyiceberg.expressions import EqualTo
from pyiceberg.partitioning import PartitionField, PartitionSpec
from pyiceberg.schema import Schema
from pyiceberg.transforms import IdentityTransform
from pyiceberg.types import LongType, NestedField, StringType

SCHEMA = Schema(NestedField(1, "id", LongType()), NestedField(2, "day", LongType()), NestedField(3, "text", StringType()))


def make(lake):
    spec = PartitionSpec(PartitionField(2, 1000, IdentityTransform(), "day"))
    return lake.catalog.create_table("db.t", schema=SCHEMA, partition_spec=spec)


def append(table, count, days):
    for i in range(count):
        table.append(pa.table({"id": list(range(60)), "day": [j % days for j in range(60)],
                               "text": [f"row {i} {j}" * 5 for j in range(60)]}))


def play(lake, *arguments):
    done = lake.firn("simulate", "--from-table", "lake.db.t", "--policies", "firn,none", "--json", *arguments)
    run = json.loads(done.stdout)[0]
    return run["history"], {policy["policy"]: policy for policy in run["policies"]}


def test_withoutRewrites_noneEndsWithTheFilesThatAreThere(lake):
    table = make(lake)
    append(table, 12, days=3)
    table.delete(EqualTo("day", 1))
    table.delete(EqualTo("id", 2))  # copy on write of one partition
    append(table, 2, days=2)
    history, policies = play(lake)
    assert history["rewrites_left_out"] == 0 and "first" in history["start_reason"]
    live = lake.files("db.t")
    assert policies["none"]["end_files"] == len(live)
    assert policies["none"]["end_bytes"] == sum(file.file_size_in_bytes for file in live)
    rows = sum(lake.rows("db.t").values())
    assert policies["none"]["end_rows"] == rows and policies["firn"]["end_rows"] == rows
    assert policies["firn"]["end_files"] < len(live)


def test_rewritesAreLeftOut_andTheirFilesMayGoLater(lake):
    table = make(lake)
    append(table, 10, days=2)
    lake.firn("optimize", "lake.db.t", "--quiet")
    before = sum(lake.rows("db.t").values())
    table = lake.load("db.t")
    table.delete(EqualTo("day", 0))
    append(table, 3, days=2)
    history, policies = play(lake)
    assert history["rewrites_left_out"] >= 1 and history["files_of_rewrites"] == 20
    assert before == 600
    assert policies["none"]["end_files"] == 10 + 3 * 2, "day 0 was emptied, day 1 is as writers left it"
    assert policies["none"]["end_rows"] == sum(lake.rows("db.t").values())
    text = lake.firn("simulate", "--from-table", "lake.db.t", "--policies", "none").stdout
    assert "Left out:" in text and "of 20 files" in text


def test_expiredHistory_startsAtTheOldest(lake):
    table = make(lake)
    append(table, 6, days=2)
    oldest = [snapshot.snapshot_id for snapshot in lake.load("db.t").snapshots()][:3]
    table.maintenance.expire_snapshots().by_ids(oldest).commit()
    history, policies = play(lake)
    assert history["start_reason"] == "no older one is known", "PyIceberg takes the parent's id away"
    assert history["start_files"] == 8 and history["commits"] == 3
    assert policies["none"]["end_files"] == 12


def test_branch(lake):
    table = make(lake)
    append(table, 3, days=1)
    table.manage_snapshots().create_branch(table.current_snapshot().snapshot_id, "audit").commit()
    append(lake.load("db.t"), 4, days=1)
    assert play(lake, "--branch", "audit")[1]["none"]["end_files"] == 3
    assert play(lake)[1]["none"]["end_files"] == 7


def test_noHistory_isSaid(lake):
    table = make(lake)
    for appends, words in ((0, "the table has no snapshot"), (1, "no history before the newest snapshot")):
        append(table, appends, days=1)
        done = lake.firn("simulate", "--from-table", "lake.db.t", expect=2)
        assert words in done.stderr
