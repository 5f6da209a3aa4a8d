# SPDX-License-Identifier: Apache-2.0
"""Another writer that deletes rows: delete files, vectors and the snapshots that hold them, made without firn.

PyIceberg writes the data; what it cannot write is written here with pyarrow and fastavro from the specification.
"""

import json
import os
import sqlite3
import struct
import time
import uuid
import zlib

import fastavro
import pyarrow as pa
import pyarrow.parquet as pq

PATH_ID, POS_ID = 2147483546, 2147483545
POSITIONS = pa.schema([
    pa.field("file_path", pa.string(), False, {"PARQUET:field_id": str(PATH_ID)}),
    pa.field("pos", pa.int64(), False, {"PARQUET:field_id": str(POS_ID)})])


def local(location):
    return location.removeprefix("file://")


def optional(name, field_id, kind):
    return {"name": name, "field-id": field_id, "type": ["null", kind], "default": None}


VECTOR_FIELDS = [optional("first_row_id", 142, "long"), optional("referenced_data_file", 143, "string"),
                 optional("content_offset", 144, "long"), optional("content_size_in_bytes", 145, "long")]


def bitmap(positions):
    """64-bit Roaring, array containers only."""
    containers = {}
    for position in sorted(set(positions)):
        assert position < 2**32
        containers.setdefault(position >> 16, []).append(position & 0xFFFF)
    assert all(len(low) <= 4096 for low in containers.values())
    head = struct.pack("<II", 12346, len(containers))
    head += b"".join(struct.pack("<HH", key, len(low) - 1) for key, low in containers.items())
    offset, offsets = len(head) + 4 * len(containers), b""
    for low in containers.values():
        offsets += struct.pack("<I", offset)
        offset += 2 * len(low)
    body = b"".join(struct.pack(f"<{len(low)}H", *low) for low in containers.values())
    return struct.pack("<QI", 1, 0) + head + offsets + body


def vector_blob(positions):
    body = b"\xd1\xd3\x39\x64" + bitmap(positions)
    return struct.pack(">I", len(body)) + body + struct.pack(">I", zlib.crc32(body))


def write_puffin(path, vectors):
    """One blob for each (data file, positions); returns [(offset, length)]."""
    data, blobs, places = b"PFA1", [], []
    for referenced, positions in vectors:
        blob = vector_blob(positions)
        places.append((len(data), len(blob)))
        blobs.append({"type": "deletion-vector-v1", "fields": [POS_ID], "snapshot-id": -1, "sequence-number": -1,
                      "offset": len(data), "length": len(blob),
                      "properties": {"referenced-data-file": referenced, "cardinality": str(len(set(positions)))}})
        data += blob
    footer = json.dumps({"blobs": blobs}).encode()
    data += b"PFA1" + footer + struct.pack("<II", len(footer), 0) + b"PFA1"
    with open(path, "wb") as file:
        file.write(data)
    return places


class Deleter:
    """Commits deletes to one table of a lake."""

    def __init__(self, lake, name):
        self.lake, self.name = lake, name

    def by_position(self, rows, per_file=False, bounds=None):
        """`rows`: [(data file entry, positions)]; one delete file for all, or one a data file. `bounds`: other paths
        than the right ones."""
        groups = [[row] for row in rows] if per_file else [rows]
        self.commit([self._position_file(group, bounds) for group in groups])

    def by_equality(self, column, values, partition_of=None):
        table = self.lake.load(self.name)
        field = table.schema().find_field(column)
        kind = table.schema().as_arrow().field(column).type
        schema = pa.schema([pa.field(column, kind, True, {"PARQUET:field_id": str(field.field_id)})])
        path = self._new_path("eq.parquet")
        pq.write_table(pa.table({column: values}, schema=schema), path)
        entry = self._entry(2, path, "PARQUET", len(values), partition_of)
        entry["equality_ids"] = [field.field_id]
        self.commit([entry])

    def by_vector(self, rows):
        """Upgrades the table to v3 when it is not."""
        path = self._new_path("dv.puffin")
        places = write_puffin(path, [(file.file_path, positions) for file, positions in rows])
        entries = []
        for (file, positions), (offset, length) in zip(rows, places):
            entry = self._entry(1, path, "PUFFIN", len(set(positions)), file)
            entry.update(referenced_data_file=file.file_path, content_offset=offset, content_size_in_bytes=length)
            entries.append(entry)
        self.commit(entries, version=3)

    def _position_file(self, rows, bounds=None):
        path = self._new_path("pos.parquet")
        pairs = sorted((file.file_path, position) for file, positions in rows for position in positions)
        pq.write_table(pa.table({"file_path": [p for p, _ in pairs], "pos": [n for _, n in pairs]}, schema=POSITIONS),
                       path)
        entry = self._entry(1, path, "PARQUET", len(pairs), rows[0][0])
        lower, upper = bounds or (pairs[0][0], pairs[-1][0])
        entry["lower_bounds"] = [{"key": PATH_ID, "value": lower.encode()}]
        entry["upper_bounds"] = [{"key": PATH_ID, "value": upper.encode()}]
        return entry

    def _new_path(self, ending):
        return f"{local(self.lake.load(self.name).location())}/data/{uuid.uuid4()}-{ending}"

    def _entry(self, content, path, file_format, records, partition_of):
        values = {}
        if partition_of is not None:
            table = self.lake.load(self.name)
            for i, field in enumerate(table.specs()[partition_of.spec_id].fields):
                values[field.name] = partition_of.partition[i]
        return {"content": content, "file_path": f"file://{path}", "file_format": file_format, "partition": values,
                "record_count": records, "file_size_in_bytes": os.path.getsize(path)}

    def commit(self, entries, version=None):
        table = self.lake.load(self.name)
        with open(local(table.metadata_location), encoding="utf-8") as file:
            metadata = json.load(file)
        version = max(metadata["format-version"], version or 2)
        head = next(s for s in metadata["snapshots"] if s["snapshot-id"] == metadata["current-snapshot-id"])
        with open(local(head["manifest-list"]), "rb") as file:
            reader = fastavro.reader(file)
            list_schema, lines = reader.writer_schema, list(reader)
        snapshot_id, sequence = uuid.uuid4().int >> 66, metadata["last-sequence-number"] + 1
        folder = f"{local(table.location())}/metadata"
        manifest = f"{folder}/{uuid.uuid4()}-m0.avro"
        spec_id = metadata["default-spec-id"]
        self._write_manifest(manifest, lines, metadata, version, snapshot_id, entries)
        rows = sum(entry["record_count"] for entry in entries)
        lines.append({"manifest_path": f"file://{manifest}", "manifest_length": os.path.getsize(manifest),
                      "partition_spec_id": spec_id, "content": 1, "sequence_number": sequence,
                      "min_sequence_number": sequence, "added_snapshot_id": snapshot_id,
                      "added_files_count": len(entries), "existing_files_count": 0, "deleted_files_count": 0,
                      "added_rows_count": rows, "existing_rows_count": 0, "deleted_rows_count": 0,
                      "partitions": None, "key_metadata": None})
        snapshot = {"snapshot-id": snapshot_id, "parent-snapshot-id": head["snapshot-id"], "sequence-number": sequence,
                    "timestamp-ms": max(int(time.time() * 1000), metadata["last-updated-ms"]),
                    "summary": {"operation": "delete"}, "schema-id": metadata["current-schema-id"]}
        if version >= 3:
            first = metadata.setdefault("next-row-id", 0)
            if not any(field["name"] == "first_row_id" for field in list_schema["fields"]):
                list_schema["fields"].append(optional("first_row_id", 520, "long"))
            for line in lines:
                if line["content"] == 0 and line.get("first_row_id") is None:
                    line["first_row_id"] = metadata["next-row-id"]
                    metadata["next-row-id"] += line["added_rows_count"] + line["existing_rows_count"]
            snapshot.update({"first-row-id": first, "added-rows": metadata["next-row-id"] - first})
        manifest_list = f"{folder}/snap-{snapshot_id}-0-{uuid.uuid4()}.avro"
        header = {"snapshot-id": str(snapshot_id), "parent-snapshot-id": str(head["snapshot-id"]),
                  "sequence-number": str(sequence), "format-version": str(version)}
        if version >= 3:
            header["first-row-id"] = str(snapshot["first-row-id"])
        with open(manifest_list, "wb") as file:
            fastavro.writer(file, fastavro.parse_schema(list_schema), lines, codec="deflate", metadata=header)
        snapshot["manifest-list"] = f"file://{manifest_list}"
        metadata.update({"format-version": version, "last-sequence-number": sequence,
                         "last-updated-ms": snapshot["timestamp-ms"], "current-snapshot-id": snapshot_id})
        metadata["snapshots"].append(snapshot)
        metadata["refs"]["main"] = {"snapshot-id": snapshot_id, "type": "branch"}
        metadata.setdefault("snapshot-log", []).append(
            {"snapshot-id": snapshot_id, "timestamp-ms": snapshot["timestamp-ms"]})
        self._publish(table, metadata)

    @staticmethod
    def _write_manifest(path, lines, metadata, version, snapshot_id, entries):
        data = next(line for line in lines if line["content"] == 0)
        with open(local(data["manifest_path"]), "rb") as file:
            reader = fastavro.reader(file)
            schema, header = reader.writer_schema, dict(reader.metadata)
        file_fields = next(f for f in schema["fields"] if f["name"] == "data_file")["type"]["fields"]
        names = {field["name"] for field in file_fields}
        file_fields += [field for field in VECTOR_FIELDS if field["name"] not in names]
        header = {key: header[key] for key in ("schema", "partition-spec", "partition-spec-id")}
        header.update({"format-version": str(version), "content": "deletes"})
        rows = [{"status": 1, "snapshot_id": snapshot_id, "sequence_number": None, "file_sequence_number": None,
                 "data_file": entry} for entry in entries]
        with open(path, "wb") as file:
            fastavro.writer(file, fastavro.parse_schema(schema), rows, codec="deflate", metadata=header)

    def _publish(self, table, metadata):
        number = int(os.path.basename(table.metadata_location).split("-")[0]) + 1
        location = f"{table.location()}/metadata/{number:05d}-{uuid.uuid4()}.metadata.json"
        metadata.setdefault("metadata-log", []).append(
            {"metadata-file": table.metadata_location, "timestamp-ms": metadata["last-updated-ms"]})
        with open(local(location), "w", encoding="utf-8") as file:
            json.dump(metadata, file)
        namespace, name = self.name.split(".")
        with sqlite3.connect(self.lake.uri.removeprefix("sqlite:///")) as connection:
            done = connection.execute(
                "UPDATE iceberg_tables SET metadata_location = ?, previous_metadata_location = ? "
                "WHERE table_namespace = ? AND table_name = ? AND metadata_location = ?",
                (location, table.metadata_location, namespace, name, table.metadata_location))
            assert done.rowcount == 1
