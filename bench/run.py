#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Benchmarks of firn beside other tools, in turn in one run, medians and ratios.

    ./x bench [splice] [planning] [spark] [deletes] [equality] [--runs 5] [--json FILE]

splice    TPC-H lineitem SF1 as 100 and as 2,000 zstd files into one: DuckDB COPY, pyarrow write_dataset, firn splice
planning  manifest entries a second, and a table of one million files (google-benchmark programs)
spark     2,500 files in 84 months written by Spark: rewrite_data_files against firn optimize (installs Spark; minutes)
deletes   6 M rows under 1,000 position and 200 equality delete files: the same two and iceberg-compaction (minutes)
equality  700 equality delete files over 17.6 M rows with keys without order: rows a second and core, bytes read

Without names: splice and planning. CPU is user + system of the whole process tree. Compare only inside one run.
"""

import argparse
import json
import os
import resource
import shlex
import shutil
import statistics
import subprocess
import sys
import time
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq

ROOT = Path(__file__).resolve().parent.parent
DATA = ROOT / "build/bench"

DUCKDB = """
import duckdb, sys
c = duckdb.connect(config={'threads': 2})
c.execute(f"COPY (SELECT * FROM read_parquet('{sys.argv[1]}/*.parquet')) TO '{sys.argv[2]}' "
          "(FORMAT parquet, COMPRESSION zstd, ROW_GROUP_SIZE 1048576)")
"""
PYARROW = """
import sys, pyarrow.dataset as ds, pyarrow.parquet as pq
d = ds.dataset(sys.argv[1], format='parquet')
with pq.ParquetWriter(sys.argv[2], d.schema, compression='zstd', compression_level=3,
                      store_decimal_as_integer=True) as w:
    rows, batches = 0, []
    import pyarrow as pa
    for batch in d.to_batches():
        batches.append(batch); rows += batch.num_rows
        if rows >= 1 << 20:
            w.write_table(pa.Table.from_batches(batches), row_group_size=1 << 20); rows, batches = 0, []
    if batches: w.write_table(pa.Table.from_batches(batches), row_group_size=1 << 20)
"""


def lineitem():
    """The table as pyarrow sees it, with Iceberg's field ids."""
    DATA.mkdir(parents=True, exist_ok=True)
    source = DATA / "lineitem.parquet"
    if not source.exists():
        subprocess.run([str(Path(sys.executable).with_name("tpchgen-cli")), "parquet", "-s", "1", "--tables=lineitem",
                        "-o", str(DATA)], check=True, stdout=subprocess.DEVNULL)
    table = pq.read_table(source)
    fields = [pa.field(f.name, pa.string() if pa.types.is_string_view(f.type) else f.type,
                       metadata={"PARQUET:field_id": str(i + 1)}) for i, f in enumerate(table.schema)]
    return table.cast(pa.schema(fields))


def small_files(count):
    folder = DATA / f"lineitem_{count}"
    if not (folder / ".done").exists():
        shutil.rmtree(folder, ignore_errors=True)
        folder.mkdir(parents=True)
        table = lineitem()
        for k in range(count):
            begin, end = table.num_rows * k // count, table.num_rows * (k + 1) // count
            pq.write_table(table.slice(begin, end - begin), folder / f"part-{k:05d}.parquet", compression="zstd",
                           compression_level=3, store_decimal_as_integer=True, write_page_index=True, store_schema=False)
        (folder / ".done").touch()
    return folder


def timed(command):
    """Wall, CPU and peak memory of one process tree."""
    start, before = time.time(), resource.getrusage(resource.RUSAGE_CHILDREN)
    done = subprocess.run(["/usr/bin/env", "bash", "-c", f"exec {shlex.join(command)}"], capture_output=True, text=True)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    if done.returncode:
        raise RuntimeError(f"{command[:3]} failed: {done.stderr[-2000:]}")
    return {"wall": time.time() - start, "cpu": after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime,
            "output": done.stdout}


def peak_mb(command):
    """Peak resident memory of one more run (getrusage of all children only keeps the largest)."""
    script = ("import resource, subprocess, sys; subprocess.run(sys.argv[1:], check=True, stdout=subprocess.DEVNULL); "
              "print(resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss)")
    out = subprocess.run([sys.executable, "-c", script, *command], capture_output=True, text=True, check=True).stdout
    return int(out.split()[-1]) / 1024


def splice_bench(firn, runs, results):
    for count in (100, 2000):
        folder, out = small_files(count), DATA / "out.parquet"
        inputs = sorted(str(p) for p in folder.glob("*.parquet"))
        tools = {
            "duckdb": [sys.executable, "-c", DUCKDB, str(folder), str(out)],
            "pyarrow": [sys.executable, "-c", PYARROW, str(folder), str(out)],
            "firn": [str(firn), "splice", "--quiet", "--threads", "1", *inputs, "-o", str(out)],
            "firn, 2 threads": [str(firn), "splice", "--quiet", "--threads", "2", *inputs, "-o", str(out)],
        }
        measured = {name: [] for name in tools}
        for _ in range(runs):
            for name, command in tools.items():
                out.unlink(missing_ok=True)
                os.sync()
                measured[name].append(timed(command) | {"bytes": 0})
                meta = pq.read_metadata(out)
                measured[name][-1].update(bytes=out.stat().st_size, row_groups=meta.num_row_groups, rows=meta.num_rows)
        base = measured["duckdb"]
        print(f"\nlineitem, {count:,} files into one, {runs} runs, medians")
        print(f"  {'tool':18}{'CPU s':>8}{'/DuckDB':>9}{'wall s':>8}{'/DuckDB':>9}{'MB':>8}{'/DuckDB':>9}{'RSS MB':>8}{'groups':>8}")
        for name, rows in measured.items():
            out.unlink(missing_ok=True)
            row = {key: statistics.median(r[key] for r in rows) for key in ("cpu", "wall", "bytes", "row_groups")}
            row["cpu_ratio"] = statistics.median(r["cpu"] / b["cpu"] for r, b in zip(rows, base))
            row["wall_ratio"] = statistics.median(r["wall"] / b["wall"] for r, b in zip(rows, base))
            row["size_ratio"] = row["bytes"] / statistics.median(b["bytes"] for b in base)
            row["rss_mb"] = peak_mb(tools[name])
            assert len({r["rows"] for r in rows} | {base[0]["rows"]}) == 1, "row counts differ"
            results[f"splice/{count}/{name}"] = row
            print(f"  {name:18}{row['cpu']:>8.2f}{row['cpu_ratio']:>9.2f}{row['wall']:>8.2f}{row['wall_ratio']:>9.2f}"
                  f"{row['bytes'] / 1e6:>8.1f}{row['size_ratio']:>9.3f}{row['rss_mb']:>8.0f}{row['row_groups']:>8.0f}")
        out.unlink(missing_ok=True)
        report = subprocess.run([str(firn), "splice", "--json", *inputs, "-o", str(out)], capture_output=True, text=True,
                                check=True).stdout
        tiers = json.loads(report)["tiers"]
        results[f"splice/{count}/tiers"] = tiers
        print("  bytes per tier: " + ", ".join(f"{name} {tier['bytes']:,}" for name, tier in tiers.items()))


def planning_bench(build, results):
    for name in ("manifest_reader_bench", "observe_bench"):
        print(f"\n{name}", flush=True)
        out = subprocess.run([str(build / name), "--benchmark_format=json"], capture_output=True, text=True, check=True).stdout
        for case in json.loads(out)["benchmarks"]:
            rate = case.get("items_per_second", 0)
            results[f"planning/{case['name']}"] = {"seconds": case["real_time"], "unit": case["time_unit"], "items_per_second": rate}
            print(f"  {case['name']:50}{case['cpu_time']:>12.1f} {case['time_unit']}{rate / 1e6:>9.2f} M items/s")


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("names", nargs="*", metavar="NAME", help="what to run")
    parser.add_argument("--build", type=Path, required=True)
    parser.add_argument("--runs", type=int, default=5)
    parser.add_argument("--json", type=Path)
    args = parser.parse_args()
    names = args.names or ["splice", "planning"]
    results = {}
    if "splice" in names:
        splice_bench(args.build / "firn", args.runs, results)
    if "planning" in names:
        planning_bench(args.build, results)
    if "spark" in names:
        from spark_months import spark_bench
        spark_bench(args.build / "firn", DATA, args.runs, results)
    if "deletes" in names:
        from deletes import deletes_bench
        deletes_bench(args.build / "firn", DATA, args.runs, results)
    if "equality" in names:
        from equality import equality_bench
        equality_bench(args.build / "firn", DATA, args.runs, results)
    if args.json:
        args.json.write_text(json.dumps(results, indent=2) + "\n")
    return 0


if __name__ == "__main__":
    sys.exit(main())
