# SPDX-License-Identifier: Apache-2.0
"""python -m tests.differential --seeds 1-200 [--go PROGRAM] [--spark] [--efforts fast,balanced,dense] [--cases splice,table]
python -m tests.differential --files FOLDER

With seeds: random tables, each file written by a random one of Arrow C++, DuckDB, Polars, arrow-rs and parquet-mr (and
arrow-go and Spark), merged by `firn splice`, or as files of an Iceberg table with deletes and changed columns by `firn optimize`;
five readers decode the output and every value is compared, in order; a strict validator walks it. The files of a seed
that fails are kept. With --files: every Parquet file below FOLDER is merged with itself and with its neighbour. Refusals
are counted by reason.
"""

import argparse
import collections
import shutil
import sys
import tempfile
from pathlib import Path

import pyarrow as pa

from tests.program import why_not
from tools.argument_types import among, seeds

from . import tables
from .cases import Wrong, same, splice
from .parquet_check import check
from .worker import Worker

CASES = ("splice", "table")
EFFORTS = ("fast", "balanced", "dense")


class Outcome:
    def __init__(self):
        self.tiers, self.cases, self.refusals = collections.Counter(), collections.Counter(), collections.Counter()
        self.unread = collections.Counter()  # by reader: outputs that it refused as it refused an input
        self.wrong = []  # texts with the seed and the folder that holds its files


def run_seeds(numbers, go=None, efforts=EFFORTS, cases=CASES, spark=False):
    """Of each seed a case of each kind."""
    outcome, worker = Outcome(), Worker()
    try:
        for seed in numbers:
            for case in cases:
                run_one(worker, {"case": case, "seed": seed, "go": go, "spark": spark, "efforts": list(efforts)}, outcome)
    finally:
        worker.stop()
    return outcome


def run_one(worker, request, outcome):
    name = f"{request['case']}-{request['seed']}"
    folder = tempfile.mkdtemp(prefix=f"firn-differential-{name}-")
    answer = worker.run(dict(request, folder=folder))
    if "wrong" in answer:
        outcome.wrong.append(f"{name}: {answer['wrong']} ({folder})")
        print(outcome.wrong[-1], file=sys.stderr, flush=True)
        return
    shutil.rmtree(folder)
    if answer["tiers"] is None:
        outcome.refusals[answer["text"]] += 1
        return
    outcome.cases[f"{request['case']} {answer['text']}"] += 1
    outcome.tiers.update(answer["tiers"])
    outcome.unread.update(answer["unread"])


def run_files(folder):
    """Each file with itself and with its neighbour; what a reader reads before must be there twice afterwards."""
    outcome, wrong = collections.Counter(), []
    paths = sorted(p for p in Path(folder).rglob("*.parquet") if p.is_file())
    for number, path in enumerate(paths):
        for pair in ([path, path], [path, paths[(number + 1) % len(paths)]]):
            with tempfile.TemporaryDirectory() as name:
                output = Path(name) / "out.parquet"
                done = splice(pair, output)
                if done.returncode:
                    outcome[f"exit {done.returncode}"] += 1
                    if done.returncode < 0 or done.returncode > 100 or output.exists() or not done.stderr.strip():
                        wrong.append(f"{pair}: exit {done.returncode}, {done.stderr[-300:]}")
                    continue
                outcome["merged"] += 1
                wrong += [f"{pair}: {finding}" for finding in check(output)]
                try:
                    expected = pa.concat_tables([tables.read_arrow(p) for p in pair], promote_options="permissive")
                except (pa.ArrowException, OSError) as error:
                    outcome["merged, but Arrow does not read the input"] += 1
                    print(f"{path.name}: {str(error)[:100]}")
                    continue
                for who in ("arrow", "arrow-rs"):
                    try:
                        same(expected, tables.READERS[who](output), who)
                    except (Wrong, pa.ArrowException, OSError) as error:
                        wrong.append(f"{[p.name for p in pair]}: {error}")
                    except Exception as error:  # DataFusion has an exception type of its own
                        outcome[f"{who} does not read it"] += 1
                        print(f"{path.name}: {who}: {str(error)[:120]}")
    return len(paths), outcome, wrong


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--seeds", type=seeds, default="1-100")
    parser.add_argument("--go")
    parser.add_argument("--spark", action="store_true")
    parser.add_argument("--efforts", type=among(EFFORTS), default=",".join(EFFORTS))
    parser.add_argument("--cases", type=among(CASES), default=",".join(CASES))
    parser.add_argument("--files", type=Path)
    args = parser.parse_args()
    if args.files and not args.files.is_dir():
        parser.error(f"--files {args.files}: no such folder")
    if args.go and not shutil.which(args.go):
        parser.error(f"--go {args.go}: no such program")
    if why := why_not():
        print(f"differential: {why}", file=sys.stderr)
        return 2
    if args.files:
        count, outcome, wrong = run_files(args.files)
        print(f"{count} files: " + ", ".join(f"{name} {n}" for name, n in outcome.most_common()))
        print("\n".join(wrong))
        return 1 if wrong else 0
    outcome = run_seeds(args.seeds, args.go, args.efforts, args.cases, args.spark)
    print("chunks per tier: " + ", ".join(f"{name} {n}" for name, n in sorted(outcome.tiers.items())))
    print("cases: " + ", ".join(f"{name} {n}" for name, n in outcome.cases.most_common()))
    print("not read, as an input: " + ", ".join(f"{name} {n}" for name, n in outcome.unread.most_common()))
    for reason, count in outcome.refusals.most_common():
        print(f"refused {count}: {reason}")
    print(f"wrong: {len(outcome.wrong)}")
    print("\n".join(outcome.wrong))
    return 1 if outcome.wrong else 0


if __name__ == "__main__":
    sys.exit(main())
