#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Benchmarks of firn beside other tools, in turn in one run, medians and ratios: `./x bench [NAME...]`, see options.py."""

import json
import os
import subprocess
import sys
from pathlib import Path

from measure import peak_mb, timed
from splice import copyable_bench, scans_bench, splice_bench

ROOT = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT))
from bench.options import bench_arguments  # noqa: E402

DATA = ROOT / "build/bench"


def planning_bench(build, results):
    for name in ("manifest_reader_bench", "observe_bench"):
        print(f"\n{name}", flush=True)
        out = subprocess.run([str(build / name), "--benchmark_format=json"], capture_output=True, text=True, check=True).stdout
        for case in json.loads(out)["benchmarks"]:
            rate = case.get("entries/s") or case.get("files/s") or 0
            results[f"planning/{case['name']}"] = {"seconds": case["real_time"], "unit": case["time_unit"], "items_per_second": rate}
            print(f"  {case['name']:60}{case['cpu_time']:>14.1f} {case['time_unit']}{rate / 1e6:>9.2f} M items/s")
    large_tables(build, results)


def large_tables(build, results):
    """Whole processes on tables whose metadata alone is there."""
    print(f"\nfirn on local tables{'':18}{'seconds':>10}{'CPU':>8}{'peak MB':>10}{'M entries/s, core':>20}")
    for name, manifests, files in (("48k", 48_000, 600_000), ("1m", 1_000, 1_000_000)):
        folder = DATA / f"planning-{name}"
        if not (folder / "metadata/v1.metadata.json").exists():
            folder.parent.mkdir(parents=True, exist_ok=True)
            subprocess.run([str(build / "planning_table"), str(folder), str(manifests), str(files), "2000"], check=True)
        for case in (["plan"], ["health"], ["plan", "--partition", "day=2017-03-05"]):
            command = [str(build / "firn"), case[0], str(folder), *case[1:], "--quiet"]
            timed(command)  # the files are in the page cache from here on
            spent = min((timed(command) for _ in range(3)), key=lambda run: run["wall"])
            peak = peak_mb(command)
            rate = files / spent["cpu"] / 1e6 if len(case) == 1 else 0
            results[f"planning/{name}/{' '.join(case)}"] = {"seconds": spent["wall"], "cpu": spent["cpu"], "peak_mb": peak}
            print(f"  {name + ' ' + ' '.join(case):36}{spent['wall']:>10.2f}{spent['cpu']:>8.2f}{peak:>10.0f}"
                  + (f"{rate:>20.2f}" if rate else ""))


def main():
    args = bench_arguments()
    names = args.names
    if not os.access(args.build / "firn", os.X_OK):
        print(f"bench: there is no program {args.build / 'firn'}: ./x build makes it", file=sys.stderr)
        return 2
    results = {}
    if "splice" in names:
        splice_bench(args.build / "firn", DATA, args.runs, results)
    if "peers" in names:
        from peers import peers_bench
        peers_bench(args.build / "firn", DATA, args.runs, results)
    if "copyable" in names:
        copyable_bench(args.build / "firn", DATA, args.runs, results)
    if "data" in names:
        from other_data import data_bench
        data_bench(args.build / "firn", DATA, args.runs, results)
    if "scans" in names:
        scans_bench(args.build / "firn", DATA, args.runs, results)
    if "planning" in names:
        planning_bench(args.build, results)
    if "spark" in names:
        from spark_months import spark_bench
        spark_bench(args.build / "firn", DATA, args.runs, results)
    if "s3" in names:
        from s3 import s3_bench
        s3_bench(args.build / "firn", DATA, args.runs, results)
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
