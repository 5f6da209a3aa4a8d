# SPDX-License-Identifier: Apache-2.0
"""python -m tests.schedules --seeds 1-1000 [--steps N] [--jobs N] [--keep] [--judge FILE] [--folder DIR]

Random schedules, in both format versions; prints every seed that failed, and what was done how often. --judge names a
Python file with `judge(metadata_location, rows, lineage)`, called after every commit: rows are by ref, each a dict by
field id, lineage is by the value of field 1: (row id, sequence number). It raises when it sees something else.
The tables lie in memory (/dev/shm) where there is such a folder: a disk takes three times as long.
"""

import argparse
import functools
import importlib.util
import os
import shutil
import sys
import tempfile
import traceback
from collections import Counter
from concurrent.futures import ProcessPoolExecutor
from pathlib import Path

from tests.program import why_not
from tools.argument_types import among, seeds, whole

from .lake import ScheduledLake


@functools.lru_cache(maxsize=1)
def judge_of(path):
    if path is None:
        return None
    spec = importlib.util.spec_from_file_location("judge", path)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module.judge


def one(seed, version, steps, commands, keep, judge, parent):
    folder = Path(tempfile.mkdtemp(prefix=f"firn-schedule-{seed}-", dir=parent))
    try:
        schedule = ScheduledLake(folder).schedule(seed, version, steps, commands, judge_of(judge))
        shutil.rmtree(folder)
        return seed, version, schedule.counts + Counter(commits=schedule.commits), None
    except Exception:  # every failure is a finding
        if not keep:
            shutil.rmtree(folder, ignore_errors=True)
        return seed, version, Counter(), f"{folder if keep else ''} {traceback.format_exc()[-2500:]}"


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--seeds", type=seeds, default="1-100")
    parser.add_argument("--steps", type=whole(1), default=14)
    parser.add_argument("--jobs", type=whole(1), default=2)
    parser.add_argument("--versions", type=among(("2", "3")), default="2,3")
    parser.add_argument("--commands", type=among(("optimize", "rewrite-deletes")), default="optimize,rewrite-deletes")
    parser.add_argument("--keep", action="store_true", help="keep the tables of failed seeds")
    parser.add_argument("--judge")
    parser.add_argument("--folder", default="/dev/shm" if os.access("/dev/shm", os.W_OK) else None)
    args = parser.parse_args()
    if why := why_not():
        print(f"schedules: {why}", file=sys.stderr)
        return 2
    counts, failed = Counter(), 0
    with ProcessPoolExecutor(args.jobs) as pool:
        jobs = [pool.submit(one, seed, int(version), args.steps, args.commands, args.keep, args.judge, args.folder)
                for seed in args.seeds for version in args.versions]
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
