# SPDX-License-Identifier: Apache-2.0
"""Entries whose metrics cannot be true, and files whose columns do not say that their bytes are text."""

import os

import duckdb
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from pyiceberg.manifest import DataFile, DataFileContent, FileFormat
from pyiceberg.schema import Schema
from pyiceberg.typedef import Record
from pyiceberg.types import LongType, NestedField, StringType

FILES, ROWS = 8, 30


def long_bound(value):
    return value.to_bytes(8, "little", signed=True)


def arrow_schema(text):
    return pa.schema([pa.field("a", pa.int64(), metadata={"PARQUET:field_id": "1"}),
                      pa.field("b", text, metadata={"PARQUET:field_id": "2"})])


def write(lake, name, tables, entry_of):
    """Appends the files to a table of their own, with metrics as `entry_of(number)` says."""
    table = lake.catalog.create_table(name, Schema(NestedField(1, "a", LongType()), NestedField(2, "b", StringType())),
                                      properties={"format-version": "2"})
    folder = lake.folder / "files" / name
    folder.mkdir(parents=True)
    with table.transaction() as transaction, transaction.update_snapshot().fast_append() as append:
        for number, content in enumerate(tables):
            path = folder / f"{number}.parquet"
            pq.write_table(content, path, store_schema=False)
            members = dict(content=DataFileContent.DATA, file_path=f"file://{path}", file_format=FileFormat.PARQUET,
                           partition=Record(), record_count=content.num_rows, file_size_in_bytes=os.path.getsize(path),
                           column_sizes={}, value_counts={}, null_value_counts={}, nan_value_counts={},
                           lower_bounds={}, upper_bounds={}, split_offsets=None, equality_ids=None,
                           sort_order_id=None, spec_id=0)
            append.append_data_file(DataFile.from_args(**(members | entry_of(number))))


def honest(number):
    return {"value_counts": {1: ROWS, 2: ROWS}, "null_value_counts": {1: 0, 2: 0},
            "lower_bounds": {1: long_bound(number * ROWS), 2: b"v0"},
            "upper_bounds": {1: long_bound(number * ROWS + ROWS - 1), 2: b"v3"}}


WRONG = {
    "more nulls than values": {"null_value_counts": {1: FILES * ROWS, 2: 0}},
    "all null": {"null_value_counts": {1: ROWS, 2: ROWS}},
    "negative": {"null_value_counts": {1: -FILES * ROWS, 2: -1}},
    "other values": {"value_counts": {1: 3, 2: 10**12}},
    "bounds the wrong way round": {"lower_bounds": {1: long_bound(2**62), 2: b"zz"},
                                   "upper_bounds": {1: long_bound(-2**62), 2: b"a"}},
    "bounds of other values": {"lower_bounds": {1: long_bound(-5), 2: b"a"}, "upper_bounds": {1: long_bound(-4), 2: b"b"}},
}


@pytest.mark.parametrize("case", WRONG)
def test_wrongEntry_hidesNoRowsOfTheMergedFile(lake, case):
    def content(number):
        return pa.table([pa.array(range(number * ROWS, number * ROWS + ROWS)), [f"v{k % 4}" for k in range(ROWS)]],
                        schema=arrow_schema(pa.string()))
    write(lake, "db.t", [content(number) for number in range(FILES)],
          lambda number: honest(number) | (WRONG[case] if number == FILES - 1 else {}))
    lake.firn("optimize", "lake.db.t", "-q")
    files = lake.files("db.t")
    assert len(files) == 1
    merged = files[0]
    assert merged.value_counts == {1: FILES * ROWS, 2: FILES * ROWS}
    assert merged.null_value_counts == {1: 0, 2: 0}
    assert merged.lower_bounds == {1: long_bound(0), 2: b"v0"}
    assert merged.upper_bounds == {1: long_bound(FILES * ROWS - 1), 2: b"v3"}
    table = lake.load("db.t")
    for value in range(0, FILES * ROWS, 7):
        assert table.scan(row_filter=f"a == {value}").to_arrow().num_rows == 1, value
    assert table.scan(row_filter="b == 'v1'").to_arrow().num_rows == FILES * (ROWS // 4 + 1)


def test_bytesWithoutAnnotation_becomeTextIfTheyAreUtf8(lake):
    def content(number):
        return pa.table([[number], [f"ü{number}".encode()]], schema=arrow_schema(pa.binary()))
    write(lake, "db.t", [content(number) for number in range(FILES)], lambda _: {})
    before = sorted(lake.load("db.t").scan().to_arrow()["b"].cast(pa.string()).to_pylist())
    lake.firn("optimize", "lake.db.t", "-q")
    assert len(lake.files("db.t")) == 1
    path = lake.files("db.t")[0].file_path.removeprefix("file://")
    assert pq.read_schema(path).field("b").type == pa.string()
    assert sorted(row[0] for row in duckdb.sql(f"SELECT b FROM '{path}'").fetchall()) == before


def test_fileWithBytesThatAreNoUtf8_staysAsItIs(lake):
    def content(number):
        return pa.table([[number], [b"\xff" if number == 3 else b"x"]], schema=arrow_schema(pa.binary()))
    write(lake, "db.t", [content(number) for number in range(FILES)], lambda _: {})
    done = lake.firn("optimize", "lake.db.t", expect=11)
    assert "no UTF-8" in done.stdout and "3.parquet" in done.stdout
    left = [file.file_path for file in lake.files("db.t")]
    assert len(left) == 2 and any(path.endswith("3.parquet") for path in left), "the others are merged"


def test_spliceOfTextAndBytes_isReadByEveryone(lake, tmp_path):
    text, data = tmp_path / "text.parquet", tmp_path / "data.parquet"
    pq.write_table(pa.table({"t": ["a", None]}), text, store_schema=False)
    pq.write_table(pa.table({"t": pa.array([b"\xff"], pa.binary())}), data, store_schema=False)
    for number, inputs in enumerate([(text, data), (data, text)]):
        out = tmp_path / f"{number}.parquet"
        done = lake.firn("splice", "-o", out, *inputs)
        assert "Note: column t is byte array in some inputs and byte array (string) in others" in done.stdout
        values = {"text.parquet": [b"a", None], "data.parquet": [b"\xff"]}
        expected = [value for path in inputs for value in values[path.name]]
        assert pq.read_table(out)["t"].to_pylist() == expected
        assert [row[0] for row in duckdb.sql(f"SELECT t FROM '{out}'").fetchall()] == expected
