# SPDX-License-Identifier: Apache-2.0
"""Tables with deletes of another writer: firn folds them into the data; readers see the same rows, in every snapshot."""

import glob

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from pyiceberg.conversions import from_bytes
from pyiceberg.partitioning import PartitionField, PartitionSpec
from pyiceberg.schema import Schema
from pyiceberg.transforms import IdentityTransform
from pyiceberg.types import IntegerType, LongType, NestedField, StringType

from .deletes import Deleter
from .rows import by_duckdb, by_pyiceberg

SCHEMA = Schema(NestedField(1, "id", LongType()), NestedField(2, "part", IntegerType()),
                NestedField(3, "text", StringType()))
BY_PART = PartitionSpec(PartitionField(2, 1000, IdentityTransform(), "part"))
NAME = "db.t"


def fill(lake, spec=None, files=8, rows_each=100):
    options = {} if spec is None else {"partition_spec": spec}
    table = lake.catalog.create_table(NAME, SCHEMA, properties={"format-version": "2"}, **options)
    for i in range(files):
        ids = range(i * rows_each, (i + 1) * rows_each)
        table.append(pa.table({"id": pa.array(ids, pa.int64()), "part": pa.array([k % 2 for k in ids], pa.int32()),
                               "text": [None if k % 7 == 0 else f"text {k % 50}" for k in ids]}))
    return sorted(lake.files(NAME), key=lambda file: file.file_path)


def ids(lake):
    return sorted(lake.load(NAME).scan(selected_fields=("id",)).to_arrow()["id"].to_pylist())


def read(lake, snapshot_id=None, pyiceberg=True):
    table = lake.load(NAME)
    rows = by_duckdb(table.metadata_location, snapshot_id)
    if pyiceberg:
        assert by_pyiceberg(table, snapshot_id) == rows, "readers disagree"
    return rows


def check_metrics(lake):
    """Counts and bounds of every live file are those of its rows."""
    for file in lake.files(NAME):
        rows = pq.read_table(file.file_path.removeprefix("file://"))
        assert file.record_count == rows.num_rows
        for field_id, count in (file.null_value_counts or {}).items():
            assert rows.column(SCHEMA.find_column_name(field_id)).null_count == count
        for field_id, count in (file.value_counts or {}).items():
            assert count == rows.num_rows
        # Engines answer min() and max() from bounds once no delete applies: they must not be those of deleted rows.
        for field_id, kind in ((1, LongType()), (2, IntegerType())):
            values = [v for v in rows.column(SCHEMA.find_column_name(field_id)).to_pylist() if v is not None]
            assert from_bytes(kind, file.lower_bounds[field_id]) == min(values)
            assert from_bytes(kind, file.upper_bounds[field_id]) == max(values)


def fold(lake, deleted):
    """Optimizes; returns the live files."""
    head = lake.load(NAME).current_snapshot().snapshot_id
    before = read(lake)
    done = lake.firn_json("optimize", NAME)["outcome"]
    assert done["failures"] == [] and done["deleted_rows"] == deleted
    assert read(lake) == before
    assert read(lake, head) == before
    assert lake.firn_json("plan", NAME)["groups"] == []
    return lake.files(NAME)


@pytest.mark.parametrize("per_file", [False, True])
@pytest.mark.parametrize("spec", [None, BY_PART])
def test_position_deletes_drop_out(lake, spec, per_file):
    files = fill(lake, spec)
    if spec is None:
        Deleter(lake, NAME).by_position([(file, [0, 3, 99]) for file in files], per_file)
        deleted = 24
    else:
        for part in (0, 1):
            own = [file for file in files if file.partition[0] == part]
            Deleter(lake, NAME).by_position([(file, [0, 3, 49]) for file in own], per_file)
        deleted = 48
    left = fold(lake, deleted)
    assert len(left) == (1 if spec is None else 2)
    assert sum(file.record_count for file in left) == 800 - deleted
    check_metrics(lake)


def test_one_large_file_is_rewritten_from_the_threshold_on(lake):
    (file,) = fill(lake, files=1)
    Deleter(lake, NAME).by_position([(file, range(29))])
    assert lake.firn_json("plan", NAME)["groups"] == []
    Deleter(lake, NAME).by_position([(file, range(50, 52))])
    (group,) = lake.firn_json("plan", NAME)["groups"]
    assert group["deleted_rows"] == 31 and "31.0 %" in group["why"]
    fold(lake, 31)
    assert len(ids(lake)) == 69


def test_file_without_rows_left_goes_away(lake):
    files = fill(lake, files=2)
    Deleter(lake, NAME).by_position([(files[0], range(100))], per_file=True)
    left = fold(lake, 100)
    assert [file.file_path for file in left] == [files[1].file_path]


def test_equality_deletes_reach_older_rows_only(lake):
    fill(lake, files=4)
    Deleter(lake, NAME).by_equality("id", [5, 150, 250, 399, 10**6])
    table = lake.load(NAME)
    table.append(pa.table({"id": pa.array([5, 150], pa.int64()), "part": pa.array([1, 0], pa.int32()),
                           "text": ["new", "new"]}))
    # PyIceberg reads no equality deletes; folded, they concern nothing any more.
    before = read(lake, pyiceberg=False)
    done = lake.firn_json("optimize", NAME)["outcome"]
    assert done["failures"] == [] and done["deleted_rows"] == 4
    assert read(lake, pyiceberg=False) == before
    assert sum(before.values()) == 398
    assert lake.firn_json("plan", NAME)["groups"] == []


def test_equality_delete_of_null(lake):
    fill(lake, files=5)
    Deleter(lake, NAME).by_equality("text", [None, "text 1"])
    before = read(lake, pyiceberg=False)
    done = lake.firn_json("optimize", NAME)["outcome"]
    assert done["failures"] == [] and done["deleted_rows"] == 500 - sum(before.values()) > 70
    assert read(lake, pyiceberg=False) == before


def test_deletion_vectors_and_row_ids(lake):
    files = fill(lake)
    Deleter(lake, NAME).by_vector([(file, [1, 2, 98]) for file in files[:6]])
    fold(lake, 18)
    (file,) = lake.files(NAME)
    stored = pq.read_table(file.file_path.removeprefix("file://"))
    assert stored.column_names[-2:] == ["_row_id", "_last_updated_sequence_number"]
    row_ids = stored["_row_id"].to_pylist()
    assert len(set(row_ids)) == 782 and None not in row_ids and max(row_ids) < 800
    # Every append was one snapshot, and the rows of a file follow each other.
    numbers = dict(zip(stored["id"].to_pylist(), stored["_last_updated_sequence_number"].to_pylist()))
    assert all(number == key // 100 + 1 for key, number in numbers.items())
    firsts = {}
    for key, row_id in zip(stored["id"].to_pylist(), row_ids):
        firsts.setdefault(key // 100, set()).add(row_id - key % 100)
    assert all(len(first) == 1 for first in firsts.values()) and len(firsts) == 8
    check_metrics(lake)


def test_row_ids_survive_a_second_rewrite(lake):
    files = fill(lake, files=5)
    Deleter(lake, NAME).by_vector([(files[0], [0])])
    fold(lake, 1)
    (first,) = lake.files(NAME)
    expected = {row["id"]: row for row in pq.read_table(first.file_path.removeprefix("file://")).to_pylist()}
    Deleter(lake, NAME).by_vector([(first, range(0, 499, 2))])
    fold(lake, 250)
    (second,) = lake.files(NAME)
    rows = pq.read_table(second.file_path.removeprefix("file://")).to_pylist()
    assert len(rows) == 249
    assert all(row == expected[row["id"]] for row in rows)


def test_unreadable_delete_file_leaves_its_data_alone(lake):
    files = fill(lake, BY_PART)
    own = [file for file in files if file.partition[0] == 0]
    Deleter(lake, NAME).by_position([(own[0], [1])])
    (path,) = glob.glob(f"{lake.folder}/**/*-pos.parquet", recursive=True)
    with open(path, "r+b") as damaged:
        damaged.truncate(40)
    done = lake.firn_any("optimize", f"lake.{NAME}", "--json")
    assert done.returncode != 0
    paths = {file.file_path for file in lake.files(NAME)}
    assert own[0].file_path in paths and len(paths) == 3


@pytest.mark.parametrize("dictionary", [False, True])
def test_oneDeletedRow_onePageOfEachColumnIsDecoded(lake, dictionary):
    rows, columns, pages = 200_000, 12, 20
    schema = pa.schema([pa.field(f"c{i}", pa.int64(), metadata={"PARQUET:field_id": str(i + 1)}) for i in range(columns)])
    table = lake.catalog.create_table(NAME, schema, properties={"format-version": "2", "firn.delete-ratio-threshold": "1e-6"})
    path = lake.folder / "warehouse/db/t/data/one.parquet"
    path.parent.mkdir(parents=True)
    random = np.random.default_rng(3)  # without order, so that dictionaries are the smaller form
    data = [random.integers(0, 1000, rows) for _ in range(columns)]
    pq.write_table(pa.table(data, schema=schema), path, compression="zstd", use_dictionary=dictionary,
                   write_batch_size=rows // pages, data_page_size=1, write_page_index=True)
    table.add_files([f"file://{path}"])
    Deleter(lake, NAME).by_position([(lake.files(NAME)[0], [43_210])])
    outcome = lake.firn_json("optimize", NAME)["outcome"]
    tiers = outcome["tiers"]
    assert outcome["deleted_rows"] == 1
    (file,) = lake.files(NAME)
    left = pq.read_table(file.file_path.removeprefix("file://"))
    assert [left[i].to_numpy().tolist() for i in range(columns)] == [np.delete(c, 43_210).tolist() for c in data]
    assert tiers["P6"]["chunks"] == columns and tiers["P0"]["chunks"] == 0 and set(tiers) == {"P0", "P6"}
    # The dictionary of a chunk is read for the one page, so it counts with that.
    meta = pq.read_metadata(path).row_group(0)
    chunks = [meta.column(i) for i in range(columns)]
    total = sum(c.total_compressed_size for c in chunks)
    dictionaries = sum(c.data_page_offset - c.dictionary_page_offset for c in chunks) if dictionary else 0
    assert tiers["P0"]["bytes"] + tiers["P6"]["bytes"] == total
    assert tiers["P6"]["bytes"] - dictionaries < 1.2 * (total - dictionaries) / pages
