# SPDX-License-Identifier: Apache-2.0
"""The memory of `firn optimize` is bounded by --memory, whatever the number of files and columns of one group is."""

import copy
import os
import subprocess
import sys

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
from pyiceberg.io.pyarrow import parquet_files_to_data_files

from .conftest import BINARY

COLUMNS, FILES, ROWS = 300, 500, 20
COUNTED = 100  # columns that get metrics by default


# A process has at least the peak of the one that started it: so a small one stands between.
MEASURE = """
import resource, subprocess, sys
done = subprocess.run(sys.argv[1:], stdout=subprocess.PIPE, stderr=subprocess.STDOUT)
sys.stderr.buffer.write(done.stdout)
print(resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss * 1024)
sys.exit(done.returncode)
"""


def peak_bytes(lake, *arguments):
    """Runs firn; its largest resident memory."""
    done = subprocess.run([sys.executable, "-S", "-c", MEASURE, BINARY, *map(str, arguments)], capture_output=True,
                          text=True, errors="replace", env=lake.environment, timeout=300)
    assert done.returncode == 0, done.stderr
    return int(done.stdout)


def random_table(lake, files, rows):
    """Files of a size that merges keep their pages in memory for; nothing in them can be compressed."""
    schema = pa.schema([pa.field(f"c{i}", pa.float64(), metadata={"PARQUET:field_id": str(i + 1)}) for i in range(5)])
    random = np.random.default_rng(5)
    folder = lake.folder / "files"
    folder.mkdir()
    paths = []
    for k in range(files):
        path = folder / f"{k:05d}.parquet"
        pq.write_table(pa.table([random.random(rows) for _ in schema], schema=schema), path, compression="zstd",
                       store_schema=False, write_page_index=True)
        paths.append(f"file://{path}")
    table = lake.catalog.create_table("db.t", schema=schema, properties={"write.target-file-size-bytes": str(128 << 20)})
    table.add_files(paths, check_duplicate_files=False)
    return table


def wide_table(lake):
    """Many small files of many columns in one partition: their footers and metrics are larger than their rows."""
    fields = [pa.field(f"c{i}", pa.int64() if i % 2 else pa.string(), metadata={"PARQUET:field_id": str(i + 1)})
              for i in range(COLUMNS)]
    schema = pa.schema(fields)
    folder = lake.folder / "files"
    folder.mkdir()
    paths = []
    for k in range(FILES):
        rows = range(k * ROWS, (k + 1) * ROWS)
        data = [pa.array(rows if i % 2 else [f"v{r:06d}" for r in rows], f.type) for i, f in enumerate(fields)]
        path = folder / f"{k:05d}.parquet"
        pq.write_table(pa.table(data, schema=schema), path, compression="zstd", store_schema=False)
        paths.append(f"file://{path}")
    table = lake.catalog.create_table("db.t", schema=schema)
    table.add_files(paths, check_duplicate_files=False)
    return table


def test_manyWideFilesInOneGroup_memoryIsBounded_andMetricsAreRight(lake):
    table = wide_table(lake)
    before = table.scan(selected_fields=("c0", "c1", "c299")).to_arrow().sort_by("c1")
    limit = 256 << 20
    peak = peak_bytes(lake, "optimize", "lake.db.t", "--quiet", "--memory", "256MB", "--threads", 2)
    assert peak < limit, f"{peak / 1e6:.0f} MB with --memory {limit / 1e6:.0f} MB"
    files = lake.files("db.t")
    assert len(files) == 1 and files[0].record_count == FILES * ROWS
    assert lake.load("db.t").scan(selected_fields=("c0", "c1", "c299")).to_arrow().sort_by("c1") == before
    # The metrics were read again after the merge: they are those of all inputs.
    counts, lower, upper = files[0].value_counts, files[0].lower_bounds, files[0].upper_bounds
    assert set(counts) == set(range(1, COUNTED + 1)) and set(counts.values()) == {FILES * ROWS}
    last = FILES * ROWS - 1
    for i in range(COUNTED):
        expected = ((0).to_bytes(8, "little"), last.to_bytes(8, "little")) if i % 2 else (b"v000000", f"v{last:06d}".encode())
        assert (lower[i + 1], upper[i + 1]) == expected
    assert lake.firn_json("plan", "db.t")["groups"] == []


def table_of_links(lake, count):
    """A table of `count` names of one file, in one partition."""
    schema = pa.schema([pa.field("id", pa.int64(), metadata={"PARQUET:field_id": "1"}),
                        pa.field("text", pa.string(), metadata={"PARQUET:field_id": "2"})])
    folder = lake.folder / "files"
    folder.mkdir()
    first = folder / "first.parquet"
    pq.write_table(pa.table([[1, 2, 3], ["a", "b", None]], schema=schema), first, store_schema=False)
    table = lake.catalog.create_table("db.t", schema=schema)
    (known,) = parquet_files_to_data_files(table.io, table.metadata, iter([f"file://{first}"]))
    with table.transaction() as transaction, transaction.update_snapshot().fast_append() as append:
        for i in range(count):
            path = folder / f"{i:06d}.parquet"
            os.link(first, path)
            entry = copy.copy(known)
            entry._data = list(known._data)
            entry._data[1] = f"file://{path}"
            entry._spec_id = 0
            append.append_data_file(entry)


def test_moreFilesThanOneMergeMayHave_becomeOneFile_inTwoSteps(lake):
    count = 33_000
    table_of_links(lake, count)
    plan = lake.firn_json("plan", "db.t")
    assert [group["files"] for group in plan["groups"]] == [count // 5] * 5
    limit = 192 << 20
    peak = peak_bytes(lake, "optimize", "lake.db.t", "--quiet", "--memory", "192MB", "--threads", 2)
    assert peak < limit, f"{peak / 1e6:.0f} MB with --memory {limit / 1e6:.0f} MB"
    files = lake.files("db.t")
    assert [f.record_count for f in files] == [3 * count]
    rows = lake.load("db.t").scan().to_arrow()
    assert rows["id"].value_counts().to_pylist() == [{"values": i, "counts": count} for i in (1, 2, 3)]
    assert rows["text"].null_count == count
    assert lake.firn_json("plan", "db.t")["groups"] == []


def test_manyBlocksOfMemoryAreReturnedByAllThreads(lake):
    random_table(lake, files=60, rows=176_000)
    limit = 256 << 20
    peak = peak_bytes(lake, "optimize", "lake.db.t", "--quiet", "--memory", "256MB", "--threads", 2)
    assert peak < limit, f"{peak / 1e6:.0f} MB with --memory {limit / 1e6:.0f} MB"
    assert len(lake.files("db.t")) <= 4
