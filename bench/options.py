# SPDX-License-Identifier: Apache-2.0
"""The arguments of the benchmarks, apart from what they import, so that they are looked at before that is installed."""

import argparse
from pathlib import Path

from tools.argument_types import whole

ROOT = Path(__file__).resolve().parent.parent
NAMES = ("splice", "peers", "copyable", "data", "scans", "planning", "spark", "deletes", "equality", "s3")
DESCRIPTION = """Benchmarks of firn beside other tools, in turn in one run, medians and ratios.

splice    TPC-H lineitem SF1 as 100 and as 2,000 zstd files into one: DuckDB COPY, pyarrow write_dataset, firn splice
peers     the same files as tables too: parquet-concat, PyIceberg, iceberg-compaction, firn (builds and installs; minutes)
copyable  files whose pages can stay: without dictionaries or written by DuckDB, lineitem and real flights (installs npm)
data      150 columns, nested columns, files of 8 MB, and files by Spark, arrow-rs and arrow-go; scans of the results
scans     what DuckDB and firn made of the 2,000 files, read by DuckDB and pyarrow
planning  manifest entries a second; tables of 600,000 files in 48,000 manifests and of one million: seconds and memory
spark     2,500 files in 84 months written by Spark: rewrite_data_files against firn optimize (installs Spark; minutes)
deletes   6 M rows under 1,000 position and 200 equality delete files: the same two and iceberg-compaction (minutes)
equality  700 equality delete files over 17.6 M rows with keys without order: rows a second and core, bytes read
s3        2,500 small objects in SeaweedFS: requests for each, time beside a plain copy; large ones copied inside of it

Without names: splice and planning. CPU is user + system of the whole process tree. Compare only inside one run.
"""


def bench_arguments(words=None, prog=None):
    parser = argparse.ArgumentParser(prog=prog, description=DESCRIPTION, allow_abbrev=False,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("names", nargs="*", metavar="NAME", help="what to run")
    parser.add_argument("--build", type=Path, default=ROOT / "build/release", help="folder of the programs (default: build/release)")
    parser.add_argument("--runs", type=whole(1), default=5, help="runs of each, of which the median counts (default 5)")
    parser.add_argument("--json", type=Path, metavar="FILE", help="write the figures into it too")
    args = parser.parse_args(words)
    if unknown := set(args.names) - set(NAMES):
        parser.error(f"no benchmark {', '.join(sorted(unknown))}; there are: {', '.join(NAMES)}")
    if args.json and not args.json.absolute().parent.is_dir():
        parser.error(f"--json {args.json}: its folder is not there")
    args.names = args.names or ["splice", "planning"]
    return args
