# SPDX-License-Identifier: Apache-2.0
"""What a table's properties say of Parquet files: other readers find it so in the files that firn writes."""

import json
import random

import duckdb
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from pyiceberg.conversions import from_bytes
from pyiceberg.schema import Schema
from pyiceberg.types import DoubleType, FixedType, LongType, NestedField, StringType, StructType, UUIDType

SCHEMA = Schema(NestedField(1, "id", LongType(), required=True), NestedField(2, "word", StringType()),
                NestedField(3, "text", StringType()), NestedField(4, "key", UUIDType()),
                NestedField(5, "place", StructType(NestedField(6, "zip", LongType()))),
                NestedField(7, "price", DoubleType()), NestedField(8, "code", FixedType(3)))


def fill(table, appends=6, rows=2000):
    for append in range(appends):
        rng = random.Random(append)
        table.append(pa.Table.from_pylist([{
            "id": rng.randrange(10**9) * 2, "word": rng.choice([None, "a", "b", f"w{append}"]),
            "text": f"text {rng.randrange(10**6)}", "key": rng.randbytes(16), "place": {"zip": rng.randrange(50) * 2},
            "price": rng.random(), "code": rng.randbytes(3)
        } for _ in range(rows)], schema=table.schema().as_arrow()))


def optimized(lake, properties):
    """The only file of a table that was filled, got the properties, and was optimized; and the outcome."""
    table = lake.catalog.create_table("db.t", schema=SCHEMA)
    fill(table)
    with lake.load("db.t").transaction() as change:
        change.set_properties(properties)
    before = lake.rows("db.t")
    outcome = lake.firn_json("optimize", "db.t", "--quiet")["outcome"]
    assert lake.rows("db.t") == before
    (file,) = lake.files("db.t")
    return file, outcome


def enabled(*names):
    return {f"write.parquet.bloom-filter-enabled.column.{name}": "true" for name in names}


def filters(path):
    rows = duckdb.sql(f"select path_in_schema, bloom_filter_length from parquet_metadata('{path}')").fetchall()
    return {name: length for name, length in rows if length is not None}


def excluded(path, column, values, kind):
    """Values that DuckDB's reader says no row group can hold."""
    return [value for value in values if all(row[0] for row in duckdb.sql(
        "select bloom_filter_excludes from parquet_bloom_probe(?, ?, ?::" + kind + ")", params=[path, column, value]
    ).fetchall())]


def test_bloomFilters_ofColumnsThatAsk_denyNoValueAndMostOthers(lake):
    file, outcome = optimized(lake, enabled("id", "word", "text", "place.zip", "code"))
    path = file.file_path.removeprefix("file://")
    assert outcome["notes"] == []
    assert set(filters(path)) == {"id", "word", "text", "place, zip", "code"}
    data = pq.read_table(path).to_pydict()
    assert excluded(path, "id", data["id"][::40], "bigint") == []
    assert excluded(path, "word", {word for word in data["word"] if word is not None}, "varchar") == []
    assert excluded(path, "text", data["text"][::40], "varchar") == []
    assert len(excluded(path, "id", range(1, 600, 2), "bigint")) > 280
    assert len(excluded(path, "text", [f"other {i}" for i in range(300)], "varchar")) > 280
    for value in data["id"][::100]:
        assert duckdb.sql(f"select count(*) from '{path}' where id = {value}").fetchone()[0] > 0


def test_bloomFilters_sizeAndShare(lake):
    file, outcome = optimized(lake, enabled("id", "text", "gone") | {
        "write.parquet.bloom-filter-fpp.column.id": "0.2", "write.parquet.bloom-filter-max-bytes": "16384",
        "write.parquet.bloom-filter-ndv.column.text": "4000"})
    path = file.file_path.removeprefix("file://")
    sizes = filters(path)
    assert sizes["id"] < 9000 and sizes["text"] < 9000
    assert outcome["notes"] == [
        "write.parquet.bloom-filter-enabled.column.gone has no effect: the table has no such column"]
    missing = excluded(path, "id", range(1, 1000, 2), "bigint")
    assert 350 < len(missing) < 499
    with lake.load("db.t").transaction() as change:
        change.set_properties({"write.parquet.bloom-filter-fpp.column.id": "2"})
    fill(lake.load("db.t"))
    error = lake.firn_any("optimize", "lake.db.t", "--quiet")
    assert error.returncode != 0 and "bloom-filter-fpp.column.id" in error.stderr


def test_dictionaryAndStatistics_canBeTurnedOff(lake):
    file, _ = optimized(lake, {"write.parquet.dict-encoding-enabled.column.word": "false",
                               "write.parquet.stats-enabled.column.id": "false",
                               "write.parquet.page-size-bytes": "8192", "write.parquet.compression-codec": "snappy"})
    footer = pq.read_metadata(file.file_path.removeprefix("file://"))
    columns = {footer.row_group(0).column(i).path_in_schema: footer.row_group(0).column(i)
               for i in range(footer.num_columns)}
    assert not columns["word"].has_dictionary_page
    assert not columns["id"].is_stats_set and columns["text"].is_stats_set
    assert {column.compression for column in columns.values()} == {"SNAPPY"}


@pytest.mark.parametrize("mode", ["none", "counts", "truncate(3)", "truncate(16)", "full"])
def test_metricsModes_areThoseOfTheManifests(lake, mode):
    file, _ = optimized(lake, {"write.metadata.metrics.default": "none", "write.metadata.metrics.column.text": mode})
    counts, low, high = file.value_counts or {}, file.lower_bounds or {}, file.upper_bounds or {}
    assert set(counts) == (set() if mode == "none" else {3})
    assert set(low) == set(high) == (set() if mode in ("none", "counts") else {3})
    if mode == "none":
        return
    assert counts[3] == 12000 and file.null_value_counts[3] == 0
    if mode == "counts":
        return
    texts = pq.read_table(file.file_path.removeprefix("file://"))["text"].to_pylist()
    low, high = from_bytes(StringType(), low[3]), from_bytes(StringType(), high[3])
    assert low <= min(texts) and high >= max(texts)
    if mode == "truncate(3)":
        assert (low, high) == ("tex", "tey")


def test_metrics_onlyOfTheFirstColumns(lake):
    file, _ = optimized(lake, {"write.metadata.metrics.max-inferred-column-defaults": "2"})
    assert set(file.value_counts) == set(file.lower_bounds) == {1, 2}


def splice(lake, folder, paths, *arguments):
    out = folder / "out.parquet"
    done = lake.firn("splice", *paths, "-o", out, "--json", *arguments)
    return str(out), json.loads(done.stdout)


def test_splice_filtersOfPyarrow_areUnitedOrDropped(lake, tmp_path):
    paths = []
    for i in range(3):
        rng = random.Random(i)
        paths.append(tmp_path / f"{i}.parquet")
        pq.write_table(pa.table({"a": pa.array([rng.randrange(10**9) * 2 for _ in range(20000)], pa.int64()),
                                 "b": pa.array([rng.randrange(10**9) * 2 for _ in range(20000)], pa.int64())}),
                       paths[-1], use_dictionary=False, bloom_filter_options={"a": {"fpp": 1e-6}, "b": {"fpp": 0.05}})
    out, report = splice(lake, tmp_path, paths)
    assert report["bloom_filters"] == 1
    assert report["notes"] == ["Bloom filters are not kept (united they would be too full): b"]
    assert set(filters(out)) == {"a"}
    assert excluded(out, "a", pq.read_table(out)["a"].to_pylist()[::100], "bigint") == []
    assert len(excluded(out, "a", range(1, 600, 2), "bigint")) > 280


def test_splice_filtersOfDuckdb_areBuiltFromTheDictionary(lake, tmp_path):
    paths = []
    for i in range(4):
        paths.append(tmp_path / f"{i}.parquet")
        duckdb.sql(f"copy (select 'v' || (i * 7 + {i}) % 300 as s, (i % 50) * 2 as n from range(20000) t(i)) "
                   f"to '{paths[-1]}' (format parquet)")
    assert set(filters(paths[0])) == {"s", "n"}
    out, report = splice(lake, tmp_path, paths)
    assert report["bloom_filters"] == 2 and report["notes"] == []
    assert excluded(out, "s", [f"v{i}" for i in range(300)], "varchar") == []
    assert excluded(out, "n", range(0, 100, 2), "bigint") == []
    assert len(excluded(out, "s", [f"w{i}" for i in range(300)], "varchar")) > 280
