# SPDX-License-Identifier: Apache-2.0
"""python -m tests.schedules --seeds 1-1000 [--steps N] [--jobs N] [--keep DIR] [--lint COMMAND]

Random schedules, in both format versions; prints every seed that failed, and what was done how often. --lint names a
program that gets a metadata file as its last argument and ends with 0 if the table is sound.
"""

import argparse
import shutil
import subprocess
import sys
import tempfile
import traceback
from collections import Counter
from concurrent.futures import ProcessPoolExecutor
from pathlib import Path

from .lake import ScheduledLake


def one(seed, version, steps, commands, keep, lint):
    folder = Path(tempfile.mkdtemp(prefix=f"firn-schedule-{seed}-"))
    try:
        schedule = ScheduledLake(folder).schedule(seed, version, steps, commands)
        for command in lint:
            location = schedule.table.current()[0].removeprefix("file://")
            done = subprocess.run([*command.split(), location], capture_output=True, text=True)
            assert done.returncode == 0, schedule.told(f"{command}: {done.stdout[-1500:]}{done.stderr[-500:]}")
        shutil.rmtree(folder)
        return seed, version, schedule.counts + Counter(commits=schedule.commits), None
    except Exception:  # every failure is a finding
        if not keep:
            shutil.rmtree(folder, ignore_errors=True)
        return seed, version, Counter(), f"{folder if keep else ''} {traceback.format_exc()[-2500:]}"


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--seeds", default="1-100")
    parser.add_argument("--steps", type=int, default=14)
    parser.add_argument("--jobs", type=int, default=2)
    parser.add_argument("--versions", default="2,3")
    parser.add_argument("--commands", default="optimize,rewrite-deletes")
    parser.add_argument("--keep", action="store_true", help="keep the tables of failed seeds")
    parser.add_argument("--lint", action="append", default=[])
    args = parser.parse_args()
    first, last = map(int, args.seeds.split("-"))
    counts, failed = Counter(), 0
    with ProcessPoolExecutor(args.jobs) as pool:
        jobs = [pool.submit(one, seed, int(version), args.steps, args.commands.split(","), args.keep, args.lint)
                for seed in range(first, last + 1) for version in args.versions.split(",")]
        for job in jobs:
            seed, version, done, error = job.result()
            counts += done
            if error:
                failed += 1
                print(f"seed {seed} v{version} FAILED {error}", flush=True)
    print(", ".join(f"{name} {count:,}" for name, count in sorted(counts.items())))
    print(f"{len(jobs) - failed} schedules right, {failed} wrong")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
