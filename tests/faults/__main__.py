# SPDX-License-Identifier: Apache-2.0
"""python -m tests.faults [--runs 200] [--seed S] [--jobs N] [--places sqlite,hadoop,rest+s3]
                       [--shapes many-v2,...]

Each run has a seed of its own, S, S+1, ...: `--seed THAT --runs 1` does one again. A fault at a random moment (killed,
stopped, disk full, network cut, answer of the commit lost) while firn works; then two other readers must see the same rows, every
snapshot must be whole, the next run must succeed, and what the harmed one left must be gone or named. No process may take more
than the 300 MB that it was given. Starts a S3 server itself.
"""

import argparse
import multiprocessing
import os
import random
import shutil
import signal
import sys
import tempfile
import time
import traceback
from collections import Counter
from concurrent.futures import ProcessPoolExecutor
from pathlib import Path

from tests.program import why_not
from tests.services.servers import Servers
from tools.argument_types import among, whole

from .places import places
from .run import Bench, one_run
from .shapes import SHAPES


PLACES = ("sqlite", "hadoop", "rest+s3")


def end_at_signals():
    """So that what was mounted and started is taken away."""
    def end(*_):
        for child in multiprocessing.active_children():
            child.terminate()
        sys.exit(1)

    for number in (signal.SIGTERM, signal.SIGHUP):
        signal.signal(number, end)


def worker(seeds, names, shapes, folder):
    end_at_signals()
    bench = Bench(Path(folder), [kind for kind in places() if kind.name in names], shapes)
    done = []
    try:
        for seed in seeds:
            began = time.monotonic()
            try:
                done.append(one_run(seed, bench))
                print(f"{done[-1]} ({time.monotonic() - began:.1f} s)", flush=True)
            except Exception as error:  # every failure is a finding
                text = str(error) if isinstance(error, AssertionError) and str(error) else traceback.format_exc()
                print(f"seed {seed} FAILED: {text[-3000:]}", flush=True)
                done.append((seed, text))
    finally:
        bench.close()
    return done


def show(reports):
    table, peaks = Counter(), []
    for report in reports:
        fault = report.fault.split()[0]
        table[fault, report.outcome] += 1
        peaks += report.peaks
    outcomes = sorted({outcome for _, outcome in table})
    faults = sorted({fault for fault, _ in table})
    width = max(len(fault) for fault in faults)
    print(" " * width, *outcomes, sep="  ")
    for fault in faults:
        print(fault.ljust(width), *(str(table[fault, o] or "-").rjust(len(o)) for o in outcomes), sep="  ")
    peaks.sort()
    print(f"leftovers: {sum(r.found for r in reports)} files in {sum(r.found > 0 for r in reports)} runs, "
          f"{sum(r.removed for r in reports)} removed by the next run, {sum(r.reported for r in reports)} named by it")
    print(f"peak memory of {len(peaks)} processes: {peaks[0] / 2**20:.0f} MiB least, {peaks[len(peaks) // 2] / 2**20:.0f} "
          f"median, {peaks[-1] / 2**20:.0f} most, of 300 allowed")


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--runs", type=whole(1), default=200)
    parser.add_argument("--seed", type=whole(0), default=random.SystemRandom().randrange(10**9))
    parser.add_argument("--jobs", type=whole(1), default=2)
    parser.add_argument("--places", type=among(PLACES), default=",".join(PLACES))
    parser.add_argument("--shapes", type=among(tuple(SHAPES)), default=",".join(SHAPES))
    args = parser.parse_args()
    names = args.places
    if why := why_not():
        print(f"faults: {why}", file=sys.stderr)
        return 2
    end_at_signals()
    folder = Path(tempfile.mkdtemp(prefix="firn-faults-"))
    servers = Servers(folder / "servers")
    (folder / "servers").mkdir()
    try:
        if "rest+s3" in names and "FIRN_TEST_S3_ENDPOINT" not in os.environ:
            os.environ.update(servers.start_s3())
        print(f"seeds {args.seed} to {args.seed + args.runs - 1}", flush=True)
        seeds = range(args.seed, args.seed + args.runs)
        jobs = min(args.jobs, args.runs)
        with ProcessPoolExecutor(jobs) as pool:
            parts = [pool.submit(worker, list(seeds)[i::jobs], names, args.shapes, folder / f"job{i}") for i in range(jobs)]
            done = [report for part in parts for report in part.result()]
    finally:
        servers.stop()
        shutil.rmtree(folder, ignore_errors=True)
    failed = [report for report in done if isinstance(report, tuple)]
    good = [report for report in done if not isinstance(report, tuple)]
    if good:
        show(good)
    print(f"{len(good)} runs right, {len(failed)} wrong" + (f": {sorted(seed for seed, _ in failed)}" if failed else ""))
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
