# SPDX-License-Identifier: Apache-2.0
"""A reader of the table specification's scan planning, without any speed: which rows a snapshot holds, and where.

It shares no code with firn. Files never change, so what was parsed once is kept.
"""

import functools
import json
import zlib
from dataclasses import dataclass

import fastavro
import pyarrow.parquet as pq

DELETED = 2
DATA, POSITION_DELETES, EQUALITY_DELETES = 0, 1, 2
ROW_ID, LAST_UPDATED = 2147483540, 2147483539


ROOTS = {}  # location -> local folder, for tables of an object store of which a copy lies there


def local(location):
    for root, folder in ROOTS.items():
        if location.startswith(root):
            return folder + location[len(root):]
    return "/" + location.removeprefix("file:").lstrip("/")


def located(path):
    """The location of a local path: the opposite of `local`."""
    for root, folder in ROOTS.items():
        if path.startswith(folder):
            return root + path[len(folder):]
    return f"file://{path}"


@dataclass(frozen=True)
class Entry:
    """A live manifest entry with everything that it inherits."""
    content: int
    path: str
    spec_id: int
    partition: tuple
    sequence_number: int
    snapshot_id: int
    first_row_id: int | None
    file: dict

    def __hash__(self):
        return hash((self.path, self.file.get("content_offset")))


@dataclass
class Row:
    values: dict  # by field id
    entry: Entry
    position: int
    row_id: int | None
    last_updated: int | None


@functools.lru_cache(maxsize=4096)
def avro(path):
    with open(local(path), "rb") as file:
        return list(fastavro.reader(file))


@functools.lru_cache(maxsize=4096)
def parquet(path):
    """(rows by field id) of a file; columns without id by name."""
    table = pq.ParquetFile(local(path)).read()
    ids = [int((field.metadata or {}).get(b"PARQUET:field_id", b"-1")) for field in table.schema]
    columns = [column.to_pylist() for column in table.columns]
    return [dict(zip(ids, row)) for row in zip(*columns)] if columns else []


@functools.lru_cache(maxsize=4096)
def vector(path, offset, size):
    with open(local(path), "rb") as file:
        file.seek(offset)
        blob = file.read(size)
    length = int.from_bytes(blob[:4], "big")
    body, crc = blob[4:4 + length], int.from_bytes(blob[4 + length:8 + length], "big")
    assert length + 8 == size and zlib.crc32(body) == crc and body[:4] == b"\xd1\xd3\x39\x64"
    return frozenset(roaring(body[4:]))


def number(data, at, size):
    return int.from_bytes(data[at:at + size], "little")


def roaring(data):
    """The values of a 64-bit Roaring bitmap in its portable serialization."""
    at = 8
    for _ in range(number(data, 0, 8)):
        high, at = number(data, at, 4) << 32, at + 4
        at = yield from bitmap32(data, at, high)


def bitmap32(data, start, high):
    cookie = number(data, start, 4)
    has_runs = cookie & 0xFFFF == 12347
    count, at = ((cookie >> 16) + 1, start + 4) if has_runs else (number(data, start + 4, 4), start + 8)
    runs = 0
    if has_runs:
        runs, at = number(data, at, (count + 7) // 8), at + (count + 7) // 8
    heads = [(number(data, at + 4 * i, 2), number(data, at + 4 * i + 2, 2) + 1) for i in range(count)]
    at += 4 * count + (4 * count if not has_runs or count >= 4 else 0)
    for i, (key, size) in enumerate(heads):
        base = high | key << 16
        if runs >> i & 1:
            pairs, at = number(data, at, 2), at + 2
            for j in range(pairs):
                first, more = number(data, at + 4 * j, 2), number(data, at + 4 * j + 2, 2)
                yield from range(base + first, base + first + more + 1)
            at += 4 * pairs
        elif size <= 4096:
            yield from (base + number(data, at + 2 * j, 2) for j in range(size))
            at += 2 * size
        else:
            bits = number(data, at, 8192)
            yield from (base + j for j in range(65536) if bits >> j & 1)
            at += 8192
    return at


def entries(metadata, snapshot):
    """Live entries of a snapshot, data and deletes."""
    found = []
    for line in avro(snapshot["manifest-list"]):
        next_row_id = line.get("first_row_id")
        for raw in avro(line["manifest_path"]):
            file = raw["data_file"]
            first_row_id = file.get("first_row_id")
            if raw["status"] == DELETED:
                continue
            if line["content"] == 0 and first_row_id is None and next_row_id is not None:
                first_row_id, next_row_id = next_row_id, next_row_id + file["record_count"]
            inherit = line["sequence_number"] if raw["status"] == 1 else None
            data = raw["sequence_number"]
            found.append(Entry(
                content=file["content"], path=file["file_path"], spec_id=line["partition_spec_id"],
                partition=tuple(file["partition"].values()), sequence_number=inherit if data is None else data,
                snapshot_id=line["added_snapshot_id"] if raw["snapshot_id"] is None else raw["snapshot_id"],
                first_row_id=first_row_id, file=file))
    return found


def defaults(metadata):
    """Values that rows have in columns which their file lacks, by field id."""
    return {f["id"]: f["initial-default"] for s in metadata["schemas"] for f in s["fields"] if "initial-default" in f}


def same_scope(delete, data):
    return delete.spec_id == data.spec_id and delete.partition == data.partition


def deleted_positions(entry, deletes):
    gone = set()
    for delete in deletes:
        if delete.content != POSITION_DELETES or delete.sequence_number < entry.sequence_number:
            continue
        if delete.file["file_format"] == "PUFFIN":
            if delete.file["referenced_data_file"] == entry.path:
                gone |= vector(delete.path, delete.file["content_offset"], delete.file["content_size_in_bytes"])
        elif same_scope(delete, entry):
            path_id, pos_id = 2147483546, 2147483545
            gone |= {row[pos_id] for row in parquet(delete.path) if row[path_id] == entry.path}
    return gone


@functools.lru_cache(maxsize=4096)
def keys(path, ids):
    return frozenset(tuple(row[i] for i in ids) for row in parquet(path))


def equality_deletes(metadata, entry, deletes):
    unpartitioned = {spec["spec-id"] for spec in metadata["partition-specs"] if not spec["fields"]}
    for delete in deletes:
        if delete.content == EQUALITY_DELETES and delete.sequence_number > entry.sequence_number and (
                delete.spec_id in unpartitioned or same_scope(delete, entry)):
            ids = tuple(delete.file["equality_ids"])
            yield ids, keys(delete.path, ids)


def scan(metadata, snapshot_id):
    """Every row that a reader of the snapshot sees."""
    snapshot = next(s for s in metadata["snapshots"] if s["snapshot-id"] == snapshot_id)
    live = entries(metadata, snapshot)
    deletes = [entry for entry in live if entry.content != DATA]
    missing = defaults(metadata)
    rows = []
    for entry in live:
        if entry.content != DATA:
            continue
        gone = deleted_positions(entry, deletes)
        equalities = list(equality_deletes(metadata, entry, deletes))
        stored = parquet(entry.path)
        assert len(stored) == entry.file["record_count"], f"{entry.path}: record_count"
        for position, values in enumerate({**missing, **values} for values in stored):
            if position in gone or any(tuple(values.get(i) for i in ids) in dead for ids, dead in equalities):
                continue
            row_id, updated = values.get(ROW_ID), values.get(LAST_UPDATED)
            if entry.first_row_id is not None:
                row_id = entry.first_row_id + position if row_id is None else row_id
                updated = entry.sequence_number if updated is None else updated
            rows.append(Row(values, entry, position, row_id, updated))
    return rows


def load(location):
    with open(local(location), encoding="utf-8") as file:
        return json.load(file)


def forget():
    """Drops what was parsed; the files of the next table have other names."""
    for cache in (avro, parquet, vector, keys):
        cache.cache_clear()
