# SPDX-License-Identifier: Apache-2.0
"""python -m tests.differential --seeds 1-200 [--go PROGRAM] [--efforts fast,balanced,dense]
python -m tests.differential --files FOLDER

With seeds: random tables, each file written by a random one of Arrow C++, DuckDB, Polars, arrow-rs (and arrow-go), merged by
`firn splice`; four readers decode the output and every value is compared, in order; a strict validator walks it. With
--files: every Parquet file below FOLDER is merged with itself and with its neighbour. Refusals are counted by reason.
"""

import argparse
import collections
import json
import os
import re
import subprocess
import sys
import tempfile
from pathlib import Path

import numpy as np
import pyarrow as pa

from . import tables
from .parquet_check import check

BINARY = os.environ.get("FIRN_BINARY", "build/release/firn")
REFUSED = 5  # the exit code for what firn does not do, with its reason


class Wrong(Exception):
    pass


def splice(inputs, output, *flags):
    return subprocess.run([BINARY, "splice", "--json", *flags, *map(str, inputs), "-o", str(output)], capture_output=True,
                          text=True, errors="replace", timeout=120)


def same(expected, found, who):
    """Value for value, in order; types may be another spelling of the same."""
    if found.num_rows != expected.num_rows:
        raise Wrong(f"{who}: {found.num_rows} rows, not {expected.num_rows}")
    for name in expected.column_names:
        want = expected[name].combine_chunks()
        got = found[name].cast(want.type).combine_chunks()
        if got.equals(want):
            continue
        # NaNs are not equal to themselves, and Arrow tells zeros of two signs apart only by their text.
        a, b = want.to_pylist(), got.to_pylist()
        for row, (x, y) in enumerate(zip(a, b)):
            if repr(x) != repr(y):
                raise Wrong(f"{who}: {name}, row {row}: {y!r}, not {x!r}")


def one_seed(seed, folder, programs, efforts):
    """Tiers of the report, or a refusal's text."""
    rng = np.random.default_rng(seed)
    kinds = [str(k) for k in rng.choice(tables.FLAT, int(rng.integers(1, 6)))]
    nested = rng.random() < 0.4
    if nested:
        kinds.append(str(rng.choice(tables.NESTED)))
    codecs = ["zstd", "snappy", "gzip"] if rng.random() < 0.3 else [str(rng.choice(["zstd", "snappy", "gzip"]))]
    names = [str(n) for n in rng.choice(list(programs), int(rng.integers(1, 4)))]
    inputs, parts = [], []
    for k in range(int(rng.integers(2, 7))):
        rows = int(rng.choice([1, 50, 900, 5000]))
        part, path = tables.table(kinds, rows, rng), folder / f"{k}.parquet"
        programs[names[k % len(names)]](part, path, str(rng.choice(codecs)), rng)
        inputs.append(path)
        # What the writer wrote, not what it was given: some write one zero for both.
        parts.append(tables.read_arrow(path).cast(part.schema))
    flags = ["--effort", str(rng.choice(efforts)), "--threads", str(rng.choice([1, 2]))]
    if rng.random() < 0.3:
        flags += ["--codec", str(rng.choice(["zstd", "snappy", "uncompressed"]))]
    if rng.random() < 0.3:
        flags += ["--row-group-size", str(rng.choice(["16KB", "64KB"]))]
    if rng.random() < 0.3:
        flags += ["--property", f"write.parquet.page-row-limit={int(rng.choice([64, 1000]))}"]
    output = folder / "out.parquet"
    done = splice(inputs, output, *flags)
    if done.returncode == REFUSED:
        return None, re.sub(r"/\S*/", "", done.stderr.strip().splitlines()[-1])[:120]
    if done.returncode:
        raise Wrong(f"exit {done.returncode}: {done.stderr[-600:]}")
    for finding in check(output):
        raise Wrong(f"the validator: {finding}")
    expected = pa.concat_tables(parts)
    for who, read in tables.READERS.items():
        same(expected, read(output), who)
    return json.loads(done.stdout)["tiers"], "+".join(sorted(set(names)))


def run_seeds(seeds, go=None, efforts=("fast", "balanced", "dense")):
    """Chunks per tier, cases per set of writers, refusals per reason; raises Wrong with the seed."""
    tiers, cases, refusals = collections.Counter(), collections.Counter(), collections.Counter()
    programs = tables.writers(go)
    for seed in seeds:
        with tempfile.TemporaryDirectory() as name:
            try:
                found, text = one_seed(seed, Path(name), programs, efforts)
            except Wrong as wrong:
                raise Wrong(f"seed {seed}: {wrong}") from None
        if found is None:
            refusals[text] += 1
            continue
        cases[text] += 1
        for tier, count in found.items():
            tiers[tier] += count["chunks"]
    return tiers, cases, refusals


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
    parser.add_argument("--seeds", default="1-100")
    parser.add_argument("--go")
    parser.add_argument("--efforts", default="fast,balanced,dense")
    parser.add_argument("--files", type=Path)
    args = parser.parse_args()
    if args.files:
        count, outcome, wrong = run_files(args.files)
        print(f"{count} files: " + ", ".join(f"{name} {n}" for name, n in outcome.most_common()))
        print("\n".join(wrong))
        return 1 if wrong else 0
    first, last = (int(n) for n in args.seeds.split("-"))
    tiers, cases, refusals = run_seeds(range(first, last + 1), args.go, args.efforts.split(","))
    print("chunks per tier: " + ", ".join(f"{name} {n}" for name, n in sorted(tiers.items())))
    print("cases: " + ", ".join(f"{name} {n}" for name, n in cases.most_common()))
    for reason, count in refusals.most_common():
        print(f"refused {count}: {reason}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
