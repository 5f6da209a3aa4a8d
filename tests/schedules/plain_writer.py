# SPDX-License-Identifier: Apache-2.0
"""Another engine that commits to the same tables: appends, upserts, deletes of every kind, overwrites, rollbacks.

Written from the specification with pyarrow and fastavro, on a SQLite catalog; it shares no code with firn or PyIceberg.
"""

import contextlib
import json
import os
import sqlite3
import time

import fastavro
import pyarrow as pa
import pyarrow.parquet as pq

from tests.interop.deletes import POSITIONS, write_puffin

from . import plain_reader
from .plain_reader import DATA, EQUALITY_DELETES, POSITION_DELETES, local, located

TYPES = {"long": pa.int64(), "int": pa.int32(), "string": pa.string(), "double": pa.float64()}


class Conflict(Exception):
    """Another commit came first."""


def field(name, kind, field_id, optional=True):
    return {"name": name, "type": ["null", kind] if optional else kind, "field-id": field_id,
            **({"default": None} if optional else {})}


def id_map(name, field_id, key_id, value_id, value):
    items = {"type": "record", "name": f"k{key_id}_v{value_id}",
             "fields": [field("key", "int", key_id, False), field("value", value, value_id, False)]}
    return field(name, {"type": "array", "items": items, "logicalType": "map"}, field_id)


def entry_schema(spec, schema, version):
    types = {f["id"]: f["type"] for f in schema["fields"]}
    avro = {"long": "long", "int": "int", "string": "string", "double": "double"}
    partition = [field(f["name"], avro[types[f["source-id"]]] if f["transform"] == "identity" else "int", f["field-id"])
                 for f in spec["fields"]]
    file = [field("content", "int", 134, False), field("file_path", "string", 100, False),
            field("file_format", "string", 101, False),
            field("partition", {"type": "record", "name": "r102", "fields": partition}, 102, False),
            field("record_count", "long", 103, False), field("file_size_in_bytes", "long", 104, False),
            id_map("column_sizes", 108, 117, 118, "long"), id_map("value_counts", 109, 119, 120, "long"),
            id_map("null_value_counts", 110, 121, 122, "long"), id_map("nan_value_counts", 137, 138, 139, "long"),
            id_map("lower_bounds", 125, 126, 127, "bytes"), id_map("upper_bounds", 128, 129, 130, "bytes"),
            field("equality_ids", {"type": "array", "items": "int", "element-id": 136}, 135),
            field("split_offsets", {"type": "array", "items": "long", "element-id": 133}, 132),
            field("sort_order_id", "int", 140), field("referenced_data_file", "string", 143)]
    if version >= 3:
        file += [field("first_row_id", "long", 142), field("content_offset", "long", 144), field("content_size_in_bytes", "long", 145)]
    return {"type": "record", "name": "manifest_entry", "fields": [
        field("status", "int", 0, False), field("snapshot_id", "long", 1), field("sequence_number", "long", 3),
        field("file_sequence_number", "long", 4),
        field("data_file", {"type": "record", "name": "r2", "fields": file}, 2, False)]}


def list_schema(version):
    summary = {"type": "record", "name": "r508", "fields": [
        field("contains_null", "boolean", 509, False), field("contains_nan", "boolean", 518),
        field("lower_bound", "bytes", 510), field("upper_bound", "bytes", 511)]}
    fields = [field("manifest_path", "string", 500, False), field("manifest_length", "long", 501, False),
              field("partition_spec_id", "int", 502, False), field("content", "int", 517, False),
              field("sequence_number", "long", 515, False), field("min_sequence_number", "long", 516, False),
              field("added_snapshot_id", "long", 503, False)]
    for i, what in enumerate(["files", "rows"]):
        names = [("added", 504, 512), ("existing", 505, 513), ("deleted", 506, 514)]
        fields += [field(f"{name}_{what}_count", "long" if i else "int", ids[i], False) for name, *ids in names]
    fields += [field("partitions", {"type": "array", "items": summary, "element-id": 508}, 507),
               field("key_metadata", "bytes", 519)]
    if version >= 3:
        fields.append(field("first_row_id", "long", 520))
    return {"type": "record", "name": "manifest_file", "fields": fields}


class Commit:
    """One snapshot of a branch in the making: what it adds, and what it takes out of the table."""

    def __init__(self, table, rng, branch="main"):
        self.table, self.rng, self.branch = table, rng, branch
        self.location, self.metadata = table.current()
        self.version = self.metadata["format-version"]
        self.sequence = self.metadata["last-sequence-number"] + 1
        self.snapshot_id = rng.getrandbits(62) + 1
        self.added, self.removed = [], set()
        schemas = {s["schema-id"]: s for s in self.metadata["schemas"]}
        self.schema = schemas[self.metadata["current-schema-id"]]
        self.specs = {s["spec-id"]: s for s in self.metadata["partition-specs"]}
        self.spec = self.specs[self.metadata["default-spec-id"]]

    def head(self):
        current = self.metadata.get("current-snapshot-id")
        if self.branch != "main":
            current = self.metadata["refs"][self.branch]["snapshot-id"]
        return next((s for s in self.metadata["snapshots"] if s["snapshot-id"] == current), None)

    def rows(self):
        return plain_reader.scan(self.metadata, self.head()["snapshot-id"]) if self.head() else []

    def live(self):
        return plain_reader.entries(self.metadata, self.head()) if self.head() else []

    def path(self, ending):
        return f"{local(self.metadata['location'])}/data/{self.rng.getrandbits(96):024x}-{ending}"

    def partition_of(self, values):
        return {f["name"]: values.get(f["source-id"]) for f in self.spec["fields"]}

    def _file(self, content, path, count, spec_id, partition, **more):
        self.added.append((spec_id, {
            "content": content, "file_path": located(path), "file_format": "PARQUET", "partition": partition,
            "record_count": count, "file_size_in_bytes": os.path.getsize(path), **more}))

    def add_rows(self, rows, sequence_number=None, **options):
        """`rows`: dicts by field id; one file for each partition. `options`: of the Parquet writer, instead of chosen ones."""
        groups = {}
        for values in rows:
            groups.setdefault(tuple(self.partition_of(values).items()), []).append(values)
        for partition, part in groups.items():
            path = self.path("data.parquet")
            columns = [pa.field(f["name"], TYPES[f["type"]], True, {"PARQUET:field_id": str(f["id"])})
                       for f in self.schema["fields"]]
            arrays = [pa.array([values.get(f["id"]) for values in part], TYPES[f["type"]]) for f in self.schema["fields"]]
            os.makedirs(os.path.dirname(path), exist_ok=True)
            chosen = {"compression": self.rng.choice(["zstd", "snappy", "none"]),
                      "use_dictionary": self.rng.random() < 0.7,
                      "data_page_version": self.rng.choice(["1.0", "2.0"]),
                      "data_page_size": self.rng.choice([64, 1024, 1 << 20]), "write_batch_size": 4}
            pq.write_table(pa.Table.from_arrays(arrays, schema=pa.schema(columns)), path, **{**chosen, **options})
            self._file(DATA, path, len(part), self.spec["spec-id"], dict(partition), sequence_number=sequence_number)

    def delete_equal(self, ids, keys, partition):
        """One equality delete file in the current spec and `partition`."""
        fields = [next(f for f in self.schema["fields"] if f["id"] == i) for i in ids]
        path = self.path("eq.parquet")
        columns = [pa.field(f["name"], TYPES[f["type"]], True, {"PARQUET:field_id": str(f["id"])}) for f in fields]
        arrays = [pa.array([key[i] for key in keys], TYPES[f["type"]]) for i, f in zip(ids, fields)]
        pq.write_table(pa.Table.from_arrays(arrays, schema=pa.schema(columns)), path)
        self._file(EQUALITY_DELETES, path, len(keys), self.spec["spec-id"], partition, equality_ids=list(ids))

    def delete_positions(self, entry_positions):
        """Position delete files, one for each partition that is touched, or one for each data file."""
        groups = {}
        one_each = self.rng.random() < 0.5
        for entry, positions in entry_positions:
            groups.setdefault((entry.spec_id, entry.partition, entry.path if one_each else ""), []).append((entry, positions))
        for (spec_id, partition, _), part in groups.items():
            pairs = sorted((entry.path, position) for entry, positions in part for position in positions)
            path = self.path("pos.parquet")
            pq.write_table(pa.table({"file_path": [p for p, _ in pairs], "pos": [n for _, n in pairs]}, schema=POSITIONS), path)
            names = [f["name"] for f in self.specs[spec_id]["fields"]]
            paths = [pairs[0][0].encode(), pairs[-1][0].encode()]
            self._file(POSITION_DELETES, path, len(pairs), spec_id, dict(zip(names, partition)),
                       lower_bounds=[{"key": 2147483546, "value": paths[0]}],
                       upper_bounds=[{"key": 2147483546, "value": paths[1]}])

    def delete_by_vectors(self, entry_positions):
        """One vector for each data file; it takes the place of all that deleted by position before."""
        live = self.live()
        path, vectors = self.path("dv.puffin"), []
        for entry, positions in entry_positions:
            before = [d for d in live if d.content == POSITION_DELETES and d.file["file_format"] == "PUFFIN"
                      and d.file["referenced_data_file"] == entry.path]
            self.removed |= {(d.path, d.file.get("content_offset")) for d in before}
            old = plain_reader.deleted_positions(entry, [d for d in live if d.content == POSITION_DELETES])
            vectors.append((entry, sorted(old | set(positions))))
        places = write_puffin(path, [(entry.path, positions) for entry, positions in vectors])
        for (entry, positions), (offset, length) in zip(vectors, places):
            names = [f["name"] for f in self.specs[entry.spec_id]["fields"]]
            self._file(POSITION_DELETES, path, len(positions), entry.spec_id, dict(zip(names, entry.partition)),
                       referenced_data_file=entry.path, content_offset=offset, content_size_in_bytes=length)
            self.added[-1][1]["file_format"] = "PUFFIN"

    def remove_file(self, entry):
        """With the vector that belongs to it."""
        self.removed.add((entry.path, entry.file.get("content_offset")))
        for other in self.live():
            if other.content == POSITION_DELETES and other.file.get("referenced_data_file") == entry.path:
                self.removed.add((other.path, other.file.get("content_offset")))

    def _write_manifest(self, spec_id, content, raws):
        path = f"{local(self.metadata['location'])}/metadata/{self.rng.getrandbits(96):024x}-m.avro"
        schema = entry_schema(self.specs[spec_id], self.schema, self.version)
        header = {"schema": json.dumps(self.schema), "schema-id": str(self.schema["schema-id"]),
                  "partition-spec": json.dumps(self.specs[spec_id]["fields"]), "partition-spec-id": str(spec_id),
                  "format-version": str(self.version), "content": "deletes" if content else "data"}
        with open(path, "wb") as file:
            fastavro.writer(file, fastavro.parse_schema(schema), raws, codec="deflate", metadata=header)
        line = {"manifest_path": located(path), "manifest_length": os.path.getsize(path),
                "partition_spec_id": spec_id, "content": content, "sequence_number": self.sequence,
                "min_sequence_number": min((r["sequence_number"] or self.sequence for r in raws if r["status"] != 2),
                                           default=self.sequence),
                "added_snapshot_id": self.snapshot_id, "partitions": None, "key_metadata": None, "first_row_id": None}
        for status, name in ((0, "existing"), (1, "added"), (2, "deleted")):
            some = [r for r in raws if r["status"] == status]
            line[f"{name}_files_count"] = len(some)
            line[f"{name}_rows_count"] = sum(r["data_file"]["record_count"] for r in some)
        return line

    def _carried(self):
        """The parent's manifests, rewritten where something leaves."""
        lines = []
        for line in plain_reader.avro(self.head()["manifest-list"]) if self.head() else []:
            key = lambda raw: (raw["data_file"]["file_path"], raw["data_file"].get("content_offset"))
            raws = plain_reader.avro(line["manifest_path"])
            if not any(raw["status"] != 2 and key(raw) in self.removed for raw in raws):
                lines.append(dict(line))
                continue
            kept, row_id = [], line.get("first_row_id")
            for raw in raws:
                if raw["status"] == 2:
                    continue
                raw = {**raw, "data_file": dict(raw["data_file"])}
                inherit = line["sequence_number"]
                for name, value in (("sequence_number", inherit), ("file_sequence_number", inherit),
                                    ("snapshot_id", line["added_snapshot_id"])):
                    raw[name] = value if raw[name] is None else raw[name]
                if line["content"] == 0 and row_id is not None and raw["data_file"].get("first_row_id") is None:
                    raw["data_file"]["first_row_id"] = row_id
                    row_id += raw["data_file"]["record_count"]
                gone = key(raw) in self.removed
                raw["status"] = 2 if gone else 0
                raw["snapshot_id"] = self.snapshot_id if gone else raw["snapshot_id"]
                kept.append(raw)
            lines.append(self._write_manifest(line["partition_spec_id"], line["content"], kept))
        return lines

    def _assign_row_ids(self, lines, snapshot):
        if self.version < 3:
            return
        first = next_row_id = self.metadata.get("next-row-id", 0)
        for line in lines:
            if line["content"] == 0 and line.get("first_row_id") is None:
                line["first_row_id"] = next_row_id
                next_row_id += line["added_rows_count"] + line["existing_rows_count"]
        self.metadata["next-row-id"] = next_row_id
        snapshot.update({"first-row-id": first, "added-rows": next_row_id - first})

    def publish(self, operation):
        lines, groups = self._carried(), {}
        for spec_id, file in self.added:
            groups.setdefault((spec_id, min(file["content"], 1)), []).append(file)
        for (spec_id, content), files in groups.items():
            raws = []
            for file in files:
                number = file.pop("sequence_number", None)
                raws.append({"status": 1, "snapshot_id": self.snapshot_id, "sequence_number": number,
                             "file_sequence_number": None, "data_file": file})
            lines.insert(0, self._write_manifest(spec_id, content, raws))
        parent = self.head()["snapshot-id"] if self.head() else None
        snapshot = {"snapshot-id": self.snapshot_id, "sequence-number": self.sequence,
                    "timestamp-ms": max(int(time.time() * 1000), self.metadata["last-updated-ms"] + 1),
                    "summary": {"operation": operation}, "schema-id": self.schema["schema-id"]}
        header = {"snapshot-id": str(self.snapshot_id), "sequence-number": str(self.sequence),
                  "format-version": str(self.version), "parent-snapshot-id": str(parent or "null")}
        if parent is not None:
            snapshot["parent-snapshot-id"] = parent
        self._assign_row_ids(lines, snapshot)
        if self.version >= 3:
            header["first-row-id"] = str(snapshot["first-row-id"])
        path = f"{local(self.metadata['location'])}/metadata/snap-{self.snapshot_id}-1.avro"
        with open(path, "wb") as file:
            fastavro.writer(file, fastavro.parse_schema(list_schema(self.version)), lines, codec="deflate", metadata=header)
        snapshot["manifest-list"] = located(path)
        self.metadata["snapshots"].append(snapshot)
        self.metadata["last-sequence-number"] = self.sequence
        if self.branch == "main":
            self.point_main_at(self.snapshot_id, snapshot["timestamp-ms"])
        else:
            self.metadata["refs"][self.branch]["snapshot-id"] = self.snapshot_id
            self.swap(snapshot["timestamp-ms"])

    def point_main_at(self, snapshot_id, timestamp_ms=None):
        """Rollback, when there is no new snapshot."""
        now = timestamp_ms or max(int(time.time() * 1000), self.metadata["last-updated-ms"] + 1)
        self.metadata["current-snapshot-id"] = snapshot_id
        self.metadata.setdefault("refs", {})["main"] = {"snapshot-id": snapshot_id, "type": "branch"}
        self.metadata.setdefault("snapshot-log", []).append({"snapshot-id": snapshot_id, "timestamp-ms": now})
        self.swap(now)

    def swap(self, now=None):
        """Publishes the metadata; the catalog takes it only if nobody was faster."""
        before = self.metadata["last-updated-ms"]
        self.metadata["last-updated-ms"] = now or max(int(time.time() * 1000), before + 1)
        self.metadata.setdefault("metadata-log", []).append({"metadata-file": self.location, "timestamp-ms": before})
        count = int(os.path.basename(self.location).split("-")[0]) + 1
        new = f"{self.metadata['location']}/metadata/{count:05d}-{self.rng.getrandbits(96):024x}.metadata.json"
        with open(local(new), "w", encoding="utf-8") as file:
            json.dump(self.metadata, file)
        self.table.swap(self.location, new)


def upgrade_to_v3(table, rng):
    """Of a table without rows; PyIceberg does not write format version 3 yet."""
    commit = Commit(table, rng)
    commit.metadata.update({"format-version": 3, "next-row-id": 0})
    commit.swap()


class PlainTable:
    """A table in the SQLite catalog."""

    def __init__(self, database, namespace, name):
        self.database, self.key = database, (namespace, name)

    def connect(self):
        return contextlib.closing(sqlite3.connect(self.database, timeout=0.2, isolation_level=None))

    def current(self):
        with self.connect() as connection:
            location = connection.execute("SELECT metadata_location FROM iceberg_tables WHERE table_namespace = ? AND "
                                          "table_name = ?", self.key).fetchone()[0]
        return location, plain_reader.load(location)

    def swap(self, old, new):
        with self.connect() as connection:
            done = connection.execute(
                "UPDATE iceberg_tables SET metadata_location = ?, previous_metadata_location = ? WHERE "
                "table_namespace = ? AND table_name = ? AND metadata_location = ?", (new, old, *self.key, old))
            if done.rowcount != 1:
                raise Conflict
