# SPDX-License-Identifier: Apache-2.0
"""Many equality deletes over many rows: 700 files of keys against 17.6 M rows whose keys have no order.

100 data files, five columns, then 700 equality delete files of 1,000 keys each, half of which exist. All of them apply to all
rows and no bound prunes. `firn rewrite-deletes` and `firn optimize`, each on a copy, with `--memory 512MB`. Which rows must be
left was computed when the table was made.
"""

import json
import os
import random as random_of_python
import shutil
import statistics
import sys
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
from deletes import Round, fingerprint, use_lake
from spark_months import restore

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))
from tests.interop.conftest import Lake  # noqa: E402
from tests.schedules.plain_reader import local  # noqa: E402
from tests.schedules.plain_writer import PlainTable  # noqa: E402

FILES, ROWS, DELETE_FILES, KEYS = 100, 176_000, 700, 1_000
GOAL = 5e6  # rows compared a second and core


def make(folder):
    lake, random = Lake(folder), np.random.default_rng(11)
    schema = pa.schema([pa.field("key", pa.int64()), *(pa.field(f"value_{i}", pa.float64()) for i in range(4))])
    schema = pa.schema([f.with_metadata({"PARQUET:field_id": str(i + 1)}) for i, f in enumerate(schema)])
    lake.catalog.create_table("db.equality", schema, properties={
        "format-version": "2", "write.target-file-size-bytes": "134217728"})
    table = PlainTable(str(folder / "catalog.db"), "db", "equality")
    keys = random.integers(0, 1 << 62, FILES * ROWS)
    dead = np.concatenate([random.choice(keys, DELETE_FILES * KEYS // 2), random.integers(0, 1 << 62, DELETE_FILES * KEYS // 2)])
    random.shuffle(dead)
    commit, left = Round(table, random_of_python.Random(3)), []
    for k in range(FILES):
        some = keys[k * ROWS:(k + 1) * ROWS]
        rows = pa.table([some, *(random.random(ROWS) for _ in range(4))], schema=schema)
        commit.add_table(rows)
        left.append(rows.filter(pa.array(~np.isin(some, dead))))
    commit.publish("append")
    commit = Round(table, commit.rng)
    for k in range(DELETE_FILES):
        commit.delete_equal([1], [{1: int(key)} for key in dead[k * KEYS:(k + 1) * KEYS]], {})
    commit.publish("delete")
    pq.write_table(pa.concat_tables(left), folder.parent / "expected.parquet")


def key_bytes(folder):
    """(bytes of the key columns, bytes of all data files)."""
    files = list((folder / "work/warehouse").rglob("*data.parquet"))
    groups = [meta.row_group(i) for meta in map(pq.read_metadata, files) for i in range(meta.num_row_groups)]
    return sum(g.column(0).total_compressed_size for g in groups), sum(f.stat().st_size for f in files)


def bytes_read():
    """By this process and the children that it has waited for."""
    return int(Path("/proc/self/io").read_text().split("rchar:")[1].split()[0])


def measure(firn, folder, command, runs):
    from measure import peak_mb, timed
    arguments = [str(firn), command, "--threads", "2", "--memory", "512MB", "lake.db.equality"]
    some = []
    for _ in range(runs):
        restore(folder)
        os.sync()
        before = bytes_read()
        some.append(timed([*arguments, "--json"]))
        some[-1]["read"] = bytes_read() - before
    location = local(PlainTable(str(folder / "work/catalog.db"), "db", "equality").current()[0])
    found = fingerprint(f"iceberg_scan('{location}')")
    assert found == fingerprint(f"'{folder}/expected.parquet'"), f"{command}: other rows: {found}"
    row = {key: statistics.median(r[key] for r in some) for key in ("cpu", "wall", "read")}
    if command == "rewrite-deletes":
        assert json.loads(some[-1]["output"])["plan"]["scanned_rows"] == FILES * ROWS
    restore(folder)
    row["rss_mb"] = peak_mb([*arguments, "--quiet"])
    return row


def equality_bench(firn, data, runs, results):
    folder = data / "equality"
    if not (folder / ".done").exists():
        shutil.rmtree(folder, ignore_errors=True)
        (folder / "work").mkdir(parents=True)
        make(folder / "work")
        shutil.copytree(folder / "work", folder / "pristine")
        (folder / ".done").touch()
    use_lake(folder)
    rows = FILES * ROWS
    print(f"\n{DELETE_FILES} equality delete files of {KEYS:,} keys over {rows:,} rows in {FILES} files, keys without order, "
          f"--memory 512MB, {runs} runs, medians; rows as computed")
    for command in ("rewrite-deletes", "optimize"):
        row = measure(firn, folder, command, runs)
        results[f"equality/{command}"] = row
        row["rows_per_core_second"] = rows / row["cpu"]
        print(f"  {command:16} CPU {row['cpu']:.2f} s, wall {row['wall']:.2f} s, RSS {row['rss_mb']:.0f} MB, {row['read'] / 1e6:,.1f} MB "
              f"read, {row['rows_per_core_second'] / 1e6:.1f} M rows a second and core", end="")
        if command == "rewrite-deletes":
            columns, files = key_bytes(folder)
            row.update(key_bytes=columns, file_bytes=files)
            print(f" (goal {GOAL / 1e6:.0f}); key columns {columns / 1e6:,.1f} MB of {files / 1e6:,.1f} MB in data files", end="")
        print()
