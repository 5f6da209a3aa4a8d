# SPDX-License-Identifier: Apache-2.0
"""Delete files of another writer, rewritten by firn: readers see the same rows, in every snapshot."""

import json

import fastavro
import pyarrow as pa
import pytest
from pyiceberg.partitioning import PartitionField, PartitionSpec
from pyiceberg.schema import Schema
from pyiceberg.transforms import IdentityTransform
from pyiceberg.types import IntegerType, LongType, NestedField, StringType

from .deletes import Deleter, local
from .rows import by_duckdb, by_pyiceberg

SCHEMA = Schema(NestedField(1, "id", LongType()), NestedField(2, "part", IntegerType()),
                NestedField(3, "text", StringType()))
BY_PART = PartitionSpec(PartitionField(2, 1000, IdentityTransform(), "part"))
NAME = "db.t"


def rows_of(keys):
    return pa.table({"id": pa.array(keys, pa.int64()), "part": pa.array([k % 2 for k in keys], pa.int32()),
                     "text": [None if k % 7 == 0 else f"text {k % 50}" for k in keys]})


def fill(lake, spec=None, files=6, rows_each=100, properties=None):
    options = {} if spec is None else {"partition_spec": spec}
    table = lake.catalog.create_table(NAME, SCHEMA, properties={"format-version": "2", **(properties or {})}, **options)
    for i in range(files):
        table.append(rows_of(range(i * rows_each, (i + 1) * rows_each)))
    return sorted(lake.files(NAME), key=lambda file: file.file_path)


def kinds(lake):
    """[equality, position, vectors]: live delete files."""
    counts = [0, 0, 0]
    for line in manifest_list(lake):
        if line["content"] != 1:
            continue
        with open(local(line["manifest_path"]), "rb") as file:
            for entry in fastavro.reader(file):
                if entry["status"] == 2:
                    continue
                data = entry["data_file"]
                counts[0 if data["content"] == 2 else 2 if data["file_format"] == "PUFFIN" else 1] += 1
    return counts


def manifest_list(lake):
    with open(local(lake.load(NAME).current_snapshot().manifest_list), "rb") as file:
        return list(fastavro.reader(file))


def row_ids(lake):
    return sorted((line["manifest_path"], line["first_row_id"]) for line in manifest_list(lake) if line["content"] == 0)


def read(lake, snapshot_id=None, pyiceberg=True):
    table = lake.load(NAME)
    rows = by_duckdb(table.metadata_location, snapshot_id)
    if pyiceberg:
        assert by_pyiceberg(table, snapshot_id) == rows, "readers disagree"
    return rows


def rewrite(lake, before, *options, pyiceberg_before=True):
    """Rewrites deletes; rows, old snapshots and data files stay. Returns the outcome."""
    head = lake.load(NAME).current_snapshot().snapshot_id
    data = sorted(file.file_path for file in lake.files(NAME)) if pyiceberg_before else None
    done = lake.firn_json("rewrite-deletes", NAME, *options)["outcome"]
    assert done["failures"] == [] and done["leftover_files"] == []
    assert read(lake) == before
    assert read(lake, head, pyiceberg_before) == before
    if data is not None:
        assert sorted(file.file_path for file in lake.files(NAME)) == data
    again = lake.firn_json("rewrite-deletes", NAME, *options)
    assert again["plan"]["deletes"] == []
    return done


@pytest.mark.parametrize("spec", [None, BY_PART])
def test_equality_deletes_become_positions(lake, spec):
    fill(lake, spec)
    files = lake.files(NAME)
    for keys in ([5, 150, 250, 10**6], [151, 400]):
        for part in (0, 1) if spec else (None,):
            own = next((file for file in files if spec and file.partition[0] == part), None)
            Deleter(lake, NAME).by_equality("id", keys, own)
    lake.load(NAME).append(rows_of([5, 150]))
    before = read(lake, pyiceberg=False)
    assert sum(before.values()) == 600 - 5 + 2
    done = rewrite(lake, before, pyiceberg_before=False)
    assert done["equality_files_removed"] == (4 if spec else 2)
    assert done["rows_converted"] == 5
    assert kinds(lake) == [0, 2 if spec else 1, 0]
    assert lake.load(NAME).current_snapshot().summary.operation.value == "delete"


def test_equality_deletes_become_vectors_and_row_ids_stay(lake):
    files = fill(lake)
    Deleter(lake, NAME).by_vector([(file, [1, 2, 98]) for file in files[:4]])
    Deleter(lake, NAME).by_equality("id", [k for k in range(600) if k % 10 == 3])
    Deleter(lake, NAME).by_equality("text", [None, "text 1"])
    before, ids = read(lake, pyiceberg=False), row_ids(lake)
    done = rewrite(lake, before, pyiceberg_before=False)
    assert done["vectors_removed"] == 4 and done["vectors_added"] == 6
    assert kinds(lake) == [0, 0, 6]
    assert row_ids(lake) == ids
    assert sum(before.values()) < 600 - 12 - 60 - 70
    assert lake.load(NAME).current_snapshot().summary.operation.value == "delete"


def test_many_small_position_deletes_become_one(lake):
    files = fill(lake)
    for k in range(4):
        Deleter(lake, NAME).by_position([(file, [k, 10 + k]) for file in files])
        Deleter(lake, NAME).by_position([(files[k], [50 + k])])
    done = rewrite(lake, read(lake))
    assert done["position_files_removed"] == 8 and done["position_files_added"] == 1
    assert kinds(lake) == [0, 1, 0]
    assert lake.load(NAME).current_snapshot().summary.operation.value == "replace"


def test_position_deletes_by_file(lake):
    files = fill(lake, properties={"write.delete.granularity": "file"})
    for k in range(3):
        Deleter(lake, NAME).by_position([(file, [k]) for file in files[:4]], per_file=True)
    done = rewrite(lake, read(lake))
    assert done["position_files_removed"] == 12 and done["position_files_added"] == 4


def test_position_deletes_of_an_upgraded_table_become_vectors(lake):
    files = fill(lake)
    Deleter(lake, NAME).by_position([(file, [0, 3, 99]) for file in files])
    Deleter(lake, NAME).by_position([(files[0], [50])])
    Deleter(lake, NAME).by_vector([(files[5], [0, 1, 3, 99])])
    done = rewrite(lake, read(lake))
    assert done["position_files_removed"] == 2 and done["vectors_added"] == 5
    assert kinds(lake) == [0, 0, 6]


def test_upgrade_on_the_way(lake):
    files = fill(lake)
    Deleter(lake, NAME).by_position([(file, [0, 3, 99]) for file in files])
    Deleter(lake, NAME).by_equality("id", [5, 105])
    before = read(lake, pyiceberg=False)
    plan = lake.firn_json("rewrite-deletes", NAME, "--format-version", "3", "--dry-run")["plan"]
    assert plan["writes_vectors"] and lake.load(NAME).format_version == 2
    done = lake.firn_json("rewrite-deletes", NAME, "--format-version", "3")
    assert done["upgraded"] and lake.load(NAME).format_version == 3
    assert kinds(lake) == [0, 0, 6] and read(lake) == before
    assert all(first is not None for _, first in row_ids(lake))
    again = lake.firn_json("rewrite-deletes", NAME, "--format-version", "3")
    assert again["plan"]["deletes"] == []


def test_dangling_deletes_go(lake):
    files = fill(lake)
    Deleter(lake, NAME).by_position([(files[0], [0, 1])], per_file=True)
    Deleter(lake, NAME).by_equality("id", [10**6])
    table = lake.load(NAME)
    table.overwrite(rows_of(range(1000, 1100)))
    before = read(lake)
    done = rewrite(lake, before)
    assert kinds(lake) == [0, 0, 0]
    assert done["data_files_read"] == 0
    assert sum(before.values()) == 100


def test_equality_deletes_of_all_partitions(lake):
    fill(lake, BY_PART)
    with lake.load(NAME).update_spec() as update:
        update.remove_field("part")
    table = lake.load(NAME)
    table.append(rows_of(range(600, 700)))
    Deleter(lake, NAME).by_equality("id", [1, 2, 601, 10**6])
    lake.load(NAME).append(rows_of([2]))
    before = read(lake, pyiceberg=False)
    assert sum(before.values()) == 700 - 3 + 1
    done = rewrite(lake, before, pyiceberg_before=False)
    assert done["equality_files_removed"] == 1 and done["rows_converted"] == 3
    assert kinds(lake) == [0, 3, 0]  # each in the spec and partition of its data files


def test_only_the_branch_changes(lake):
    fill(lake)
    Deleter(lake, NAME).by_equality("id", [1, 2])
    table = lake.load(NAME)
    head = table.current_snapshot().snapshot_id
    table.manage_snapshots().create_branch(head, "audit").commit()
    done = lake.firn_json("rewrite-deletes", NAME, "--branch", "audit")["outcome"]
    assert done["equality_files_removed"] == 1
    table = lake.load(NAME)
    assert table.current_snapshot().snapshot_id == head and kinds(lake)[0] == 1
    audit = table.snapshot_by_name("audit").snapshot_id
    assert audit == done["snapshot_id"] != head
    assert by_pyiceberg(table, audit) == by_duckdb(table.metadata_location, head)


def test_dry_run_writes_nothing(lake):
    files = fill(lake)
    Deleter(lake, NAME).by_equality("id", [1, 2])
    before = lake.load(NAME).metadata_location
    plan = lake.firn_json("rewrite-deletes", NAME, "--dry-run")["plan"]
    assert plan["equality_files"] == 1 and plan["scanned_rows"] == 100 * len(files)
    assert lake.load(NAME).metadata_location == before
    assert "Dry run" in lake.firn("rewrite-deletes", f"lake.{NAME}", "--dry-run").stdout
    assert json.loads(lake.firn_any("rewrite-deletes", f"lake.{NAME}", "--json", "--only", "dangling").stdout)[
        "plan"]["deletes"] == []


def each_reader(lake):
    """What each reader sees: they disagree where a delete file's entry lies."""
    table = lake.load(NAME)
    return by_duckdb(table.metadata_location), by_pyiceberg(table)


@pytest.mark.parametrize("command", [("rewrite-deletes", "--min-input-files", "2"), ("optimize",)])
def test_rows_of_files_that_the_bounds_exclude(lake, command):
    files = fill(lake, files=8)
    bounds = (files[0].file_path, files[0].file_path)
    Deleter(lake, NAME).by_position([(files[0], range(20)), (files[3], [5, 6])], bounds=bounds)
    Deleter(lake, NAME).by_position([(files[0], [70]), (files[1], [3])])
    Deleter(lake, NAME).by_position([(files[2], [3]), (files[4], [3])])
    before = each_reader(lake)
    done = lake.firn_any(command[0], f"lake.{NAME}", "--json", *command[1:])
    failures = json.loads(done.stdout)["outcome"]["failures"]
    # A rewrite of data names each data file that stays, one of deletes the delete file.
    assert [failure["code"] for failure in failures] == ["corrupt"] * (2 if command[0] == "optimize" else 1)
    assert all("disagree" in failure["message"] for failure in failures)
    assert each_reader(lake) == before
    assert kinds(lake)[1] >= 2


def test_rows_of_a_file_that_the_bounds_exclude_outlive_the_named_file(lake):
    files = fill(lake)
    Deleter(lake, NAME).by_position([(files[0], [1]), (files[3], [5, 6])],
                                    bounds=(files[0].file_path, files[0].file_path))
    first = int.from_bytes(files[0].lower_bounds[1], "little")
    lake.load(NAME).delete(f"id >= {first} and id < {first + 100}")
    before = each_reader(lake)
    assert sum(before[0].values()) == 500 - 2
    lake.firn_any("rewrite-deletes", f"lake.{NAME}")
    assert each_reader(lake) == before
    assert kinds(lake) == [0, 1, 0]
