#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Runs every fuzz target for a while.

Seeds are in tests/corpus/NAME; what libFuzzer finds new stays below the build folder. Exit status 1 if any crashed;
the crashing input's path is printed by libFuzzer.
"""

import argparse
import os
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT))

from tools.argument_types import among, whole  # noqa: E402


def fuzz_arguments(words=None, prog=None):
    names = sorted(path.stem for path in (ROOT / "src").rglob("*_fuzz.cc"))
    parser = argparse.ArgumentParser(prog=prog, description=__doc__, allow_abbrev=False,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("seconds", type=whole(1), nargs="?", default=60, metavar="SECONDS", help="of each target (default 60)")
    parser.add_argument("--build", type=Path, default=ROOT / "build/fuzz", help="folder of the programs (default: build/fuzz)")
    parser.add_argument("--only", type=among(names), default=names, metavar="NAME,...", help="only these targets")
    return parser.parse_args(words)


def main():
    args = fuzz_arguments()
    targets = sorted(p for p in args.build.glob("*_fuzz") if os.access(p, os.X_OK))
    if not targets:
        print("fuzz: no targets were built", file=sys.stderr)
        return 1
    failed = []
    for target in targets:
        if target.name not in args.only:
            continue
        corpus = args.build / "corpus" / target.name
        corpus.mkdir(parents=True, exist_ok=True)
        seeds = ROOT / "tests/corpus" / target.name
        folders = [str(corpus)] + ([str(seeds)] if seeds.is_dir() else [])
        command = [str(target), f"-max_total_time={args.seconds}", "-timeout=20", "-rss_limit_mb=2048",
                   "-print_final_stats=1", f"-artifact_prefix={corpus}-", *folders]
        done = subprocess.run(command, capture_output=True, text=True)
        runs = [line for line in done.stderr.splitlines() if "number_of_executed_units" in line]
        print(f"{target.name}: {'ok' if done.returncode == 0 else 'CRASH'} {runs[0].split()[-1] if runs else '?'} runs",
              flush=True)
        if done.returncode:
            failed.append(target.name)
            print(done.stderr[-4000:])
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
