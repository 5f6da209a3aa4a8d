# SPDX-License-Identifier: Apache-2.0
"""Tables that PyIceberg wrote, optimized by firn: two other readers see the same rows, now and in every snapshot."""

import datetime
import decimal
import random
import uuid
from collections import Counter

import pyarrow as pa
import pytest
from pyiceberg.partitioning import PartitionField, PartitionSpec
from pyiceberg.schema import Schema
from pyiceberg.transforms import (BucketTransform, DayTransform, HourTransform, IdentityTransform, MonthTransform,
                                  TruncateTransform, YearTransform)
from pyiceberg.types import (BinaryType, BooleanType, DateType, DecimalType, DoubleType, FixedType, FloatType,
                             IntegerType, ListType, LongType, MapType, NestedField, StringType, StructType,
                             TimestampType, TimestamptzType, TimeType, UUIDType)

START = datetime.datetime(1969, 12, 30)
ALL_TYPES = Schema(
    NestedField(1, "id", LongType(), required=True),
    NestedField(2, "flag", BooleanType()),
    NestedField(3, "small", IntegerType()),
    NestedField(4, "real", FloatType()),
    NestedField(5, "wide", DoubleType()),
    NestedField(6, "price9", DecimalType(9, 2)),
    NestedField(7, "price18", DecimalType(18, 4)),
    NestedField(8, "price38", DecimalType(38, 6)),
    NestedField(9, "day", DateType()),
    NestedField(10, "clock", TimeType()),
    NestedField(11, "at", TimestampType()),
    NestedField(12, "at_utc", TimestamptzType()),
    NestedField(13, "text", StringType()),
    NestedField(14, "key", UUIDType()),
    NestedField(15, "code", FixedType(5)),
    NestedField(16, "blob", BinaryType()),
    NestedField(17, "place", StructType(NestedField(18, "x", IntegerType()), NestedField(19, "name", StringType()))),
    NestedField(20, "tags", ListType(21, StringType(), element_required=False)),
    NestedField(22, "counts", MapType(23, StringType(), 24, LongType(), value_required=False)),
)


def maybe(rng, value):
    return None if rng.random() < 0.15 else value


def row(rng, key):
    at = START + datetime.timedelta(hours=rng.randrange(4, 44), microseconds=rng.randrange(10**6))
    return {
        "id": key, "flag": maybe(rng, rng.random() < 0.5), "small": maybe(rng, rng.randrange(-1000, 1000)),
        "real": maybe(rng, rng.choice([0.0, -0.0, 1.5, -3.25, float("inf"), float("nan")])),
        "wide": maybe(rng, rng.gauss(0, 1e6)),
        "price9": maybe(rng, decimal.Decimal(rng.randrange(-10**8, 10**8)).scaleb(-2)),
        "price18": maybe(rng, decimal.Decimal(rng.randrange(-10**17, 10**17)).scaleb(-4)),
        "price38": maybe(rng, decimal.Decimal(rng.randrange(-10**30, 10**30)).scaleb(-6)),
        "day": maybe(rng, at.date()), "clock": maybe(rng, at.time()), "at": maybe(rng, at),
        "at_utc": maybe(rng, at.replace(tzinfo=datetime.timezone.utc)),
        "text": maybe(rng, rng.choice(["", "a", "äöü", "long text " * 5, f"k{rng.randrange(50)}", "\U0001f600"])),
        "key": maybe(rng, uuid.UUID(int=rng.getrandbits(128)).bytes), "code": maybe(rng, rng.randbytes(5)),
        "blob": maybe(rng, rng.randbytes(rng.randrange(20))),
        "place": maybe(rng, {"x": maybe(rng, rng.randrange(9)), "name": maybe(rng, "p")}),
        "tags": maybe(rng, [maybe(rng, f"t{i}") for i in range(rng.randrange(4))]),
        "counts": maybe(rng, [(f"c{i}", maybe(rng, i)) for i in range(rng.randrange(3))]),
    }


def fill(table, appends, rows_each, seed=1):
    rng = random.Random(seed)
    schema = table.schema().as_arrow()
    for append in range(appends):
        keys = range(append * rows_each, (append + 1) * rows_each)
        table.append(pa.Table.from_pylist([row(rng, key) for key in keys], schema=schema))


def snapshots(lake, name):
    """Rows of the first, the middle and the last snapshot."""
    ids = [snapshot.snapshot_id for snapshot in lake.load(name).snapshots()]
    return {i: lake.rows(name, i) for i in {ids[0], ids[len(ids) // 2], ids[-1]}}


def check_optimize(lake, name, before_files=None):
    """Optimizes and checks everything that must hold afterwards; returns the outcome."""
    before = lake.rows(name)
    history = snapshots(lake, name)
    files_before = len(lake.files(name))
    outcome = lake.firn_json("optimize", name, "--quiet")
    assert lake.rows(name) == before
    for snapshot_id, rows in history.items():
        assert lake.rows(name, snapshot_id) == rows
    files_after = len(lake.files(name))
    assert files_after < files_before
    snapshot = lake.load(name).current_snapshot()
    assert snapshot.summary.operation.value == "replace"
    assert int(snapshot.summary["total-data-files"]) == files_after
    assert int(snapshot.summary["total-records"]) == sum(before.values())
    again = lake.firn_json("plan", name)
    assert again["groups"] == [], "a second run must plan nothing"
    return outcome


def test_unpartitioned_all_types(lake):
    table = lake.catalog.create_table("db.t", schema=ALL_TYPES)
    fill(table, appends=12, rows_each=80)
    check_optimize(lake, "db.t")
    assert len(lake.files("db.t")) == 1


PARTITIONS = [
    ("identity", 3, IdentityTransform()), ("bucket", 1, BucketTransform(3)), ("bucket_text", 13, BucketTransform(4)),
    ("truncate", 13, TruncateTransform(2)), ("year", 11, YearTransform()), ("month", 9, MonthTransform()),
    ("day", 12, DayTransform()), ("hour", 11, HourTransform()), ("identity_text", 13, IdentityTransform()),
]


@pytest.mark.parametrize("name,source,transform", PARTITIONS, ids=[p[0] for p in PARTITIONS])
def test_partitioned_rowsStayInTheirPartition(lake, name, source, transform):
    spec = PartitionSpec(PartitionField(source, 1000, transform, "p"))
    schema = ALL_TYPES if name != "identity" else Schema(*[
        f if f.field_id != 3 else NestedField(3, "small", IntegerType()) for f in ALL_TYPES.fields])
    table = lake.catalog.create_table("db.t", schema=schema, partition_spec=spec)
    rng = random.Random(7)
    arrow = table.schema().as_arrow()
    for append in range(8):
        rows = [row(rng, append * 60 + i) for i in range(60)]
        for r in rows:
            r["small"] = rng.choice([None, -5, 3])
        table.append(pa.Table.from_pylist(rows, schema=arrow))
    check_optimize(lake, "db.t")
    partitions = Counter(str(file.partition) for file in lake.files("db.t"))
    assert max(partitions.values()) < 5, "five small files of a partition are worth a merge"


def test_evolvedSchema_missingRenamedAndPromotedColumns(lake):
    schema = Schema(NestedField(1, "id", LongType(), required=True), NestedField(2, "a", IntegerType()),
                    NestedField(3, "b", StringType()), NestedField(4, "f", FloatType()),
                    NestedField(5, "d", DecimalType(8, 2)))
    table = lake.catalog.create_table("db.t", schema=schema)

    def add(names, count, base):
        values = {"id": range(base, base + count), "a": range(count), "a2": range(count), "b": [f"b{i}" for i in range(count)],
                  "c": [f"c{i % 3}" for i in range(count)], "f": [i / 2 for i in range(count)],
                  "d": [decimal.Decimal(i) for i in range(count)]}
        arrow = table.schema().as_arrow()
        table.append(pa.table({f.name: pa.array(values[f.name], f.type) for f in arrow if f.name in names}, schema=arrow))

    for i in range(3):
        add(["id", "a", "b", "f", "d"], 30, i * 100)
    with table.update_schema() as update:
        update.rename_column("a", "a2")
        update.add_column("c", StringType())
        update.update_column("f", DoubleType())
        update.update_column("d", DecimalType(20, 2))
    for i in range(3):
        add(["id", "a2", "b", "c", "f", "d"], 30, 1000 + i * 100)
    with table.update_schema() as update:
        update.delete_column("b")
        update.update_column("a2", LongType())
    for i in range(3):
        add(["id", "a2", "c", "f", "d"], 30, 2000 + i * 100)
    check_optimize(lake, "db.t")
    assert len(lake.files("db.t")) == 1


def test_evolvedSpec_filesOfOldSpecsStayUnderTheirSpec(lake):
    table = lake.catalog.create_table("db.t", schema=ALL_TYPES)
    fill(table, appends=6, rows_each=30)
    with table.update_spec() as update:
        update.add_field("at", MonthTransform(), "month")
    fill(table, appends=6, rows_each=30, seed=2)
    check_optimize(lake, "db.t")


def test_writersGoOnAfterwards(lake):
    table = lake.catalog.create_table("db.t", schema=ALL_TYPES)
    fill(table, appends=8, rows_each=50)
    check_optimize(lake, "db.t")
    table = lake.load("db.t")
    fill(table, appends=1, rows_each=50, seed=3)
    table.delete("id < 10")
    rows = lake.rows("db.t")
    assert sum(rows.values()) == 8 * 50 + 50 - 20
    fill(table, appends=7, rows_each=50, seed=4)
    check_optimize(lake, "db.t")


def test_pointQueriesFindEveryRow_boundsAreRight(lake):
    table = lake.catalog.create_table("db.t", schema=ALL_TYPES)
    fill(table, appends=6, rows_each=40)
    everything = table.scan().to_arrow().to_pylist()
    check_optimize(lake, "db.t")
    table = lake.load("db.t")
    for r in everything[::17]:
        assert r["id"] in table.scan(row_filter=f"id == {r['id']}").to_arrow()["id"].to_pylist()
        if r["small"] is not None:
            assert r["id"] in table.scan(row_filter=f"small == {r['small']}").to_arrow()["id"].to_pylist()
        if r["text"]:
            assert r["id"] in table.scan(row_filter=f"text == '{r['text']}'").to_arrow()["id"].to_pylist()


def test_dryRun_changesNothing(lake):
    table = lake.catalog.create_table("db.t", schema=ALL_TYPES)
    fill(table, appends=8, rows_each=20)
    before = lake.load("db.t").metadata_location
    lake.firn_json("optimize", "db.t", "--dry-run")
    assert lake.load("db.t").metadata_location == before


def test_emptyTable_isNoError(lake):
    lake.catalog.create_table("db.t", schema=ALL_TYPES)
    lake.firn_json("optimize", "db.t")
    assert lake.load("db.t").current_snapshot() is None
