#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Runs every fuzz target for a while.

    tools/fuzz.py --build build/fuzz --seconds N [--only NAME,...]

Seeds are in tests/corpus/NAME; what libFuzzer finds new stays below the build folder. Exit status 1 if any crashed;
the crashing input's path is printed by libFuzzer.
"""

import argparse
import os
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--build", type=Path, required=True)
    parser.add_argument("--seconds", type=int, default=60)
    parser.add_argument("--only", default="")
    args = parser.parse_args()
    wanted = [name for name in args.only.split(",") if name]
    targets = sorted(p for p in args.build.glob("*_fuzz") if os.access(p, os.X_OK))
    if not targets:
        print("fuzz: no targets were built", file=sys.stderr)
        return 1
    failed = []
    for target in targets:
        if wanted and target.name not in wanted:
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
