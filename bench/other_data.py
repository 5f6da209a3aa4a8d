# SPDX-License-Identifier: Apache-2.0
"""Data of another kind than small files of lineitem by Arrow: many columns, nested ones, larger files, and other writers.

The writers are those of the differential tests. Spark needs Java, arrow-go is built where there is Go; arrow-rs comes with
DataFusion. What each tool made must hold the rows of the input, by a hash that asks for no order. Then it is scanned.
"""

import contextlib
import functools
import shutil

import data_sets
from deletes import fingerprint  # and the folder above in sys.path
from peers import parquet_concat
from splice import lineitem, run_set, scan_outputs, split, with_ids
from titles import TITLES
from tests.differential import tables
from tests.differential.spark import Spark
from tests.services.set_up import set_up


def wide(_data):
    return with_ids(data_sets.wide())


def nested(_data):
    return with_ids(data_sets.nested())


def by_spark(data):
    """Files with what Iceberg's writer in Spark sets: zstd, dictionaries, pages of the first version."""
    if not shutil.which("java"):
        return None
    options = {"compression": "zstd", "parquet.enable.dictionary": "true"}
    with contextlib.ExitStack() as running:
        @functools.cache
        def session():  # takes seconds: only where a file is to be made
            spark = Spark()
            running.callback(spark.stop)
            return spark

        return split(data, "lineitem_spark", 100, lineitem, lambda part, path: session().write_table(part, path, **options))


def by_arrow_rs(data):
    return split(data, "lineitem_arrow_rs", 100, lineitem, functools.partial(tables.write_arrow_rs, compression="zstd(3)"))


def by_arrow_go(data):
    program = data / "parquetgo"
    if not program.exists() and shutil.which("go"):
        set_up("go", "build", "-o", program, ".", cwd=tables.GO_FOLDER)
    if not program.exists():
        return None
    options = {"codec": "zstd", "dictionary": True, "v2": False, "page": 1 << 20, "rows": 1 << 20}
    return split(data, "lineitem_arrow_go", 100, lineitem, functools.partial(tables.write_arrow_go, str(program), **options))


SETS = {
    "wide": lambda data: split(data, "wide", 80, wide),
    "nested": lambda data: split(data, "nested", 50, nested),
    "lineitem-20": lambda data: split(data, "lineitem", 20, lineitem),
    "lineitem-spark": by_spark,
    "lineitem-arrow-rs": by_arrow_rs,
    "lineitem-arrow-go": by_arrow_go,
}


def data_bench(firn, data, runs, results):
    concat = parquet_concat(data)
    for name, files in SETS.items():
        title = TITLES[f"data/{name}"]
        folder = files(data)
        if folder is None:
            print(f"\n{title}: that writer is not here")
            continue
        expected = fingerprint(f"read_parquet('{folder}/*.parquet')")

        def check(tool, out):
            found = fingerprint(f"'{out}'")
            if found != expected:
                raise RuntimeError(f"{name}, {tool}: other rows: {found}, not {expected}")

        run_set(f"data/{name}", folder, firn, data, runs, results, pyarrow=True, concat=concat, check=check)
        scan_outputs(f"data/{name}/scans", title, folder, ["full"], firn, data, runs, results)
