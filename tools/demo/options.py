# SPDX-License-Identifier: Apache-2.0
"""The arguments of the demo, apart from what it imports, so that they are looked at before that is installed."""

import argparse
from pathlib import Path

from tools.argument_types import above_zero, whole

ROOT = Path(__file__).resolve().parents[2]
DESCRIPTION = """The main job on a real table: TPC-H lineitem as some 2,000 small files, optimized by firn, checked by two other readers.

PyIceberg makes the table (24 appends into 84 months), DuckDB and PyIceberg read it before and after. Steps: generate,
ingest, health, plan, optimize, health, compare, time a query. Then a writer goes on appending while `firn serve` keeps
the table in shape; its dashboard's address is printed, and with --stay it goes on until Ctrl-C. What it leaves, and how
to go on by hand, is said at the end.
"""


def demo_arguments(words=None, prog=None):
    parser = argparse.ArgumentParser(prog=prog, description=DESCRIPTION, allow_abbrev=False,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--firn", type=Path, default=ROOT / "build/release/firn", help="the program (default: build/release/firn)")
    parser.add_argument("--scale", type=above_zero, default=1, help="TPC-H scale factor: 1 (the default) is 6 million rows")
    parser.add_argument("--appends", type=whole(1), default=24, help="in how many commits the table is made (default 24)")
    parser.add_argument("--commits", type=whole(0), default=30, help="appends while the service runs (default 30)")
    parser.add_argument("--stay", action="store_true", help="let the service run at the end, until Ctrl-C")
    parser.add_argument("--keep", type=Path, metavar="FOLDER", default=ROOT / "build/demo",
                        help="where table, catalog and configuration stay (default: build/demo); those of an earlier demo "
                             "are replaced")
    args = parser.parse_args(words)
    args.keep = args.keep.resolve()
    if args.keep.exists() and not args.keep.is_dir():
        parser.error(f"--keep {args.keep}: this is no folder")
    others = [name for name in ("warehouse", "catalog.db") if (args.keep / name).exists()]
    if others and not (args.keep / "firn.yaml").exists():
        parser.error(f"--keep {args.keep}: its {' and '.join(others)} would be replaced, and no demo made them")
    return args
