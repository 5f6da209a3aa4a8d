# SPDX-License-Identifier: Apache-2.0
"""What must hold of a table after a fault: rows by two readers, nothing missing, counts that agree, leftovers."""

import os

import pyarrow as pa
import pyarrow.parquet as pq

from tests.interop.rows import by_duckdb, by_pyiceberg, multiset
from tests.schedules import plain_reader
from tests.schedules.plain_reader import DATA, EQUALITY_DELETES, local

ADDED, EXISTING, DELETED = 1, 0, 2


def plain_rows(location):
    metadata = plain_reader.load(location)
    names = {f["id"]: f["name"] for f in metadata["schemas"][-1]["fields"]}
    rows = plain_reader.scan(metadata, metadata["current-snapshot-id"])
    return multiset(pa.Table.from_pylist([{names[i]: v for i, v in row.values.items() if i in names} for row in rows]))


def readers_of(place, location):
    """Two that read the table as it is now: PyIceberg refuses equality deletes, DuckDB 1.5 errs on vectors that share a
    file and has no store here, the plain reader knows no version 1."""
    metadata = plain_reader.load(location)
    deletes = []
    if metadata["format-version"] > 1:
        head = next(s for s in metadata["snapshots"] if s["snapshot-id"] == metadata["current-snapshot-id"])
        deletes = [entry for entry in plain_reader.entries(metadata, head) if entry.content != DATA]
    some = []
    if not any(entry.content == EQUALITY_DELETES for entry in deletes):
        some.append(lambda at: by_pyiceberg(place.static(at)))
    if location.startswith("file:") and not any(entry.file["file_format"] == "PUFFIN" for entry in deletes):
        some.append(by_duckdb)
    if metadata["format-version"] > 1:
        some.append(plain_rows)
    assert len(some) >= 2
    return some[:2]


def rows(place, location):
    """Those on which two readers agree."""
    first, second = (reader(location) for reader in readers_of(place, location))
    assert first == second, f"readers disagree: {sum(first.values())} and {sum(second.values())} rows"
    return first


def lines_of(snapshot):
    for line in plain_reader.avro(snapshot["manifest-list"]):
        yield line, plain_reader.avro(line["manifest_path"])


def check_structure(location):
    """Every snapshot: all that it names is there, as long as it says, and counts are right. Returns the named files."""
    metadata = plain_reader.load(location)
    named = {location.rsplit("/", 1)[-1]}
    named |= {entry["metadata-file"].rsplit("/", 1)[-1] for entry in metadata.get("metadata-log", [])}
    known = {snapshot["snapshot-id"] for snapshot in metadata["snapshots"]}
    assert metadata["current-snapshot-id"] in known
    assert metadata["refs"]["main"]["snapshot-id"] == metadata["current-snapshot-id"]
    seen = set()
    for snapshot in metadata["snapshots"]:
        named.add(snapshot["manifest-list"].rsplit("/", 1)[-1])
        for line, entries in lines_of(snapshot):
            path = line["manifest_path"]
            named.add(path.rsplit("/", 1)[-1])
            if path in seen:
                continue
            seen.add(path)
            assert os.path.getsize(local(path)) == line["manifest_length"], path
            check_counts(line, entries)
            for entry in entries:
                named.add(entry["data_file"]["file_path"].rsplit("/", 1)[-1])
                if entry["status"] != DELETED:
                    check_file(entry["data_file"])
    return named


def check_counts(line, entries):
    for status, word in ((ADDED, "added"), (EXISTING, "existing"), (DELETED, "deleted")):
        some = [entry["data_file"]["record_count"] for entry in entries if entry["status"] == status]
        files = line.get(f"{word}_files_count", line.get(f"{word}_data_files_count"))
        assert files == len(some), f"{line['manifest_path']}: {files} {word} files, not {len(some)}"
        assert line[f"{word}_rows_count"] == sum(some), f"{line['manifest_path']}: {word} rows"


def check_file(file):
    path = local(file["file_path"])
    assert os.path.getsize(path) == file["file_size_in_bytes"], path
    if file["file_format"] == "PARQUET" and path not in check_file.good:
        assert pq.ParquetFile(path).metadata.num_rows == file["record_count"], path
        check_file.good.add(path)


check_file.good = set()


def unnamed(place, named):
    """Files that nothing names, but for hints."""
    return {name for name in place.files() if name not in named and not name.startswith(("version-hint", ".version-hint"))}
