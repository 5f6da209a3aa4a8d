# SPDX-License-Identifier: Apache-2.0
"""One random case from its seed: files of several writers, merged by `firn splice`, decoded by all readers."""

import json
import re
import subprocess

import numpy as np
import pyarrow as pa

from tests.program import BINARY

from . import levels, steps, tables
from .parquet_check import check
from .parquet_mr import parquet_mr, random_shape, usable

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


def refuses(read, paths):
    for path in paths:
        try:
            read(path)
        except Exception:  # each reader has exceptions of its own
            return True
    return False


def check_output(programs, output, expected, inputs):
    """The validator, the values of every reader, and what parquet-mr finds by value. A reader that refuses an input (an
    encoding that it does not have) may refuse the output."""
    for finding in check(output):
        raise Wrong(f"the validator: {finding}")
    for who, read in programs.readers.items():
        steps.begin(output.parent, f"{who} reads {output.name}")
        try:
            found = read(output)
        except Exception as error:
            if refuses(read, inputs):
                programs.unread[who] += 1
                continue
            raise Wrong(f"{who}: {type(error).__name__}: {str(error)[:600]}") from None
        same(expected, found, who)
    if not usable():
        return
    steps.begin(output.parent, f"parquet-mr asks {output.name} for values")
    try:
        parquet_mr().check_filters(output)
    except RuntimeError as error:
        raise Wrong(str(error)) from None


def random_columns(rng):
    kinds = [str(k) for k in rng.choice(tables.FLAT, int(rng.integers(1, 6)))]
    if rng.random() < 0.4:
        kinds.append(str(rng.choice(tables.NESTED)))
    return kinds


def random_codecs(rng):
    codecs = ["zstd", "snappy", "gzip", "uncompressed"]
    return codecs if rng.random() < 0.3 else [str(rng.choice(codecs))]


def random_flags(rng, efforts):
    flags = ["--effort", str(rng.choice(efforts)), "--threads", str(rng.choice([1, 2]))]
    if rng.random() < 0.3:
        flags += ["--codec", str(rng.choice(["zstd", "snappy", "uncompressed"]))]
    if rng.random() < 0.3:
        flags += ["--row-group-size", str(rng.choice(["16KB", "64KB"]))]
    if rng.random() < 0.3:
        flags += ["--property", f"write.parquet.page-row-limit={int(rng.choice([64, 1000]))}"]
    return flags


def random_inputs(rng, folder, programs):
    """(paths, what a reader reads of each, names of the writers)."""
    kinds, codecs = random_columns(rng), random_codecs(rng)
    shape = random_shape(rng) if rng.random() < 0.15 and usable() else None
    # Layouts that others do not write: files of one layout are merged with each other.
    layouts = [name for name in ("parquet-mr", "spark") if name in programs.writers]
    names = [str(rng.choice(layouts))] if shape else [str(n) for n in rng.choice(list(programs.writers), int(rng.integers(1, 4)))]
    old_levels, required, alike, large = (rng.random() < share for share in (0.1, 0.3, 0.4, 0.1))
    if rng.random() < 0.1 and not shape:  # what is copied behind new headers
        required = alike = large = True
        names = [str(rng.choice([name for name in programs.writers if name not in ("duckdb", "polars")]))]
        codecs = ["uncompressed"] if rng.random() < 0.5 else codecs
    alike_seed, alike_codec = int(rng.integers(1 << 30)), str(rng.choice(codecs))
    paths, parts = [], []
    for k in range(int(rng.integers(2, 4 if large else 7))):
        rows = int(rng.choice([20000, 40000] if large else [1, 50, 900, 5000]))
        part = tables.table(kinds, rows, rng, required and k > 0, bool(shape and shape["old_lists"]))
        path, name = folder / f"{k}.parquet", names[k % len(names)]
        steps.begin(folder, f"{name} writes {path.name}")
        more = (shape,) if shape else ()
        if alike:
            programs.writers[name](part, path, alike_codec, np.random.default_rng(alike_seed), *more)
        else:
            programs.writers[name](part, path, str(rng.choice(codecs)), rng, *more)
        # What the writer wrote, not what it was given: some write one zero for both.
        parts.append(tables.read_arrow(path).cast(tables.plain_schema(kinds)))
        if old_levels and rng.random() < 0.7:
            levels.with_bit_packed_levels(path)
            if usable():
                same(parts[-1], parquet_mr().read(path), "parquet-mr, of an input with old levels")
        paths.append(path)
    return paths, parts, names


def splice_case(seed, folder, programs, efforts):
    """(tiers of the report, names of the writers), or (None, a refusal's text)."""
    rng = np.random.default_rng(seed)
    inputs, parts, names = random_inputs(rng, folder, programs)
    output = folder / "out.parquet"
    done = splice(inputs, output, *random_flags(rng, efforts))
    if done.returncode == REFUSED:
        return None, re.sub(r"/\S*/", "", done.stderr.strip().splitlines()[-1])[:120]
    if done.returncode:
        raise Wrong(f"exit {done.returncode}: {done.stderr[-600:]}")
    check_output(programs, output, pa.concat_tables(parts), inputs)
    tiers = {tier: count["chunks"] for tier, count in json.loads(done.stdout)["tiers"].items()}
    return tiers, "+".join(sorted(set(names)))
