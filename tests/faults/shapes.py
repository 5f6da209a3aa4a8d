# SPDX-License-Identifier: Apache-2.0
"""Tables of different shapes, made without firn, small enough to be copied for every run.

A shape is built in a local folder for a location that may be elsewhere: see ROOTS of the plain reader.
"""

import json
import os
import random
import uuid

import pyarrow as pa
import pyarrow.parquet as pq
from pyiceberg.catalog.memory import InMemoryCatalog

from tests.schedules import plain_reader
from tests.schedules.plain_reader import DATA
from tests.schedules.plain_writer import Commit

FIELDS = [{"id": 1, "name": "uid", "required": False, "type": "long"},
          {"id": 2, "name": "key", "required": False, "type": "long"},
          {"id": 3, "name": "cat", "required": False, "type": "string"},
          {"id": 4, "name": "text", "required": False, "type": "string"},
          {"id": 5, "name": "noise", "required": False, "type": "double"}]

# version, files of a commit, commits, rows of a file, partitions, deletes, bytes of a target file, letters of a text
SHAPES = {
    "many-v2": (2, 120, 4, 40, 0, None, 100_000, 10),
    "partitioned-v2": (2, 90, 4, 50, 9, None, 50_000, 10),
    "positions-v2": (2, 50, 4, 100, 0, "positions", 100_000, 10),
    "equality-v2": (2, 45, 4, 80, 3, "equality", 100_000, 10),
    "large-v2": (2, 8, 4, 600, 0, None, 8_000_000, 2000),
    "heavy-v2": (2, 6, 4, 80, 2, None, 512_000_000, 100_000),
    "plain-v3": (3, 80, 4, 50, 4, None, 80_000, 10),
    "vectors-v3": (3, 50, 4, 100, 0, "vectors", 100_000, 10),
    "upserts-v3": (3, 40, 4, 80, 2, "equality", 100_000, 10),
    "old-v1": (1, 60, 4, 60, 0, None, 100_000, 10),
    "ranges-v2": (2, 2, 3, 40, 0, None, 512_000_000, 900_000),
}
# Files of 18 MB, whose row groups are large enough to stay as they are and to be copied by a store.
PROPERTIES = {"ranges-v2": {"write.parquet.row-group-size-bytes": "16000000"}}
FILES = {"ranges-v2": {"compression": "zstd", "use_dictionary": False, "data_page_size": 1 << 20}}


class PlainFiles:
    """A table that is its newest metadata file."""

    def __init__(self, location):
        self.at = location

    def current(self):
        return self.at, plain_reader.load(self.at)

    def swap(self, old, new):
        assert old == self.at
        self.at = new


def rows_of(rng, first, count, cat, letters):
    return [{1: first + i, 2: rng.randrange(500), 3: cat, 4: rng.randbytes(letters // 2).hex(), 5: rng.random()}
            for i in range(count)]


def empty_table(location, version, partitions, properties):
    spec = [{"source-id": 3, "field-id": 1000, "name": "cat", "transform": "identity"}] if partitions else []
    metadata = {
        "format-version": version, "table-uuid": str(uuid.uuid4()), "location": location, "last-sequence-number": 0,
        "last-updated-ms": 1_700_000_000_000, "last-column-id": 5, "current-schema-id": 0, "schemas": [
            {"type": "struct", "schema-id": 0, "fields": FIELDS}],
        "default-spec-id": 0, "partition-specs": [{"spec-id": 0, "fields": spec}], "last-partition-id": 1000,
        "default-sort-order-id": 0, "sort-orders": [{"order-id": 0, "fields": []}],
        "properties": properties, "current-snapshot-id": -1, "refs": {},
        "snapshots": [], "statistics": [], "snapshot-log": [], "metadata-log": []}
    if version >= 3:
        metadata["next-row-id"] = 0
    at = f"{location}/metadata/00000-{uuid.uuid4()}.metadata.json"
    os.makedirs(plain_reader.local(location) + "/metadata")
    with open(plain_reader.local(at), "w", encoding="utf-8") as file:
        json.dump(metadata, file)
    return PlainFiles(at)


def delete_some(table, rng, kind):
    commit = Commit(table, rng)
    entries = [entry for entry in commit.live() if entry.content == DATA]
    if kind == "equality":
        keys = [{2: key} for key in rng.sample(range(500), 12)]  # DuckDB takes no notice of partitions
        for partition in sorted({entry.partition for entry in entries}):
            commit.delete_equal([2], keys, {"cat": partition[0]})
    else:
        some = rng.sample(entries, len(entries) * 2 // 3)
        pairs = [(e, sorted(rng.sample(range(e.file["record_count"]), rng.randrange(1, 30)))) for e in some]
        commit.delete_positions(pairs) if kind == "positions" else commit.delete_by_vectors(pairs)
    commit.publish("delete")


def build(shape, location):
    """Writes the table; returns the location of its metadata file."""
    version, files, commits, rows, partitions, deletes, target, letters = SHAPES[shape]
    rng = random.Random(shape)
    if version == 1:
        return build_v1(location, rng, files * commits, rows, target, letters)
    properties = {"write.target-file-size-bytes": str(target), **PROPERTIES.get(shape, {})}
    table = empty_table(location, version, partitions, properties)
    first = 0
    for _ in range(commits):
        commit = Commit(table, rng)
        for cat in [f"c{i}" for i in range(partitions)] or ["c"]:
            for _ in range(max(1, files // max(partitions, 1))):
                commit.add_rows(rows_of(rng, first, rows, cat, letters), **FILES.get(shape, {}))
                first += rows
        commit.publish("append")
        for _ in range(2 if deletes else 0):
            delete_some(table, rng, deletes)
    return table.at


def build_v1(location, rng, files, rows, target, letters):
    """By PyIceberg, in a local folder: only append-only tables of version 1 are of interest."""
    folder = plain_reader.local(location)
    catalog = InMemoryCatalog("v1", warehouse=f"file://{folder}")
    catalog.create_namespace("db")
    schema = pa.schema([("uid", pa.int64()), ("key", pa.int64()), ("cat", pa.string()), ("text", pa.string()),
                        ("noise", pa.float64())])
    table = catalog.create_table("db.t", schema, location=f"file://{folder}", properties={
        "format-version": "1", "write.target-file-size-bytes": str(target)})
    os.makedirs(f"{folder}/data", exist_ok=True)
    paths = []
    for i in range(files):
        some = rows_of(rng, i * rows, rows, "c", letters)
        paths.append(f"file://{folder}/data/{rng.getrandbits(96):024x}.parquet")
        pq.write_table(pa.Table.from_pylist([dict(zip(schema.names, row.values())) for row in some], schema), paths[-1][7:])
    for begin in range(0, files, max(1, files // 4)):
        table.add_files(paths[begin:begin + max(1, files // 4)], check_duplicate_files=False)
    return table.metadata_location
