# SPDX-License-Identifier: Apache-2.0
"""A table that PyIceberg and firn share through a catalog: made, compared, and raced for.

A catalog is named by a function of a test module and its arguments, because each writer is a process of its own.
"""

import multiprocessing
import random
import subprocess
import time

import pyarrow as pa
from pyiceberg.exceptions import CommitFailedException
from sqlalchemy.exc import OperationalError

from .conftest import BINARY
from .rows import by_duckdb, by_pyiceberg


def make_table(catalog, appends=6):
    """Name of a new table in a new namespace, with one file an append."""
    namespace = f"n{random.randrange(10**9)}"
    catalog.create_namespace(namespace)
    table = catalog.create_table(f"{namespace}.t", schema=pa.schema([("id", pa.int64()), ("text", pa.string())]))
    for append in range(appends):
        table.append(pa.table({"id": range(append * 10, append * 10 + 10), "text": [f"x{append}"] * 10}))
    return f"{namespace}.t"


def check_rows(catalog, name, rows):
    table = catalog.load_table(name)
    assert by_pyiceberg(table) == rows
    assert by_duckdb(table.metadata_location) == rows
    for snapshot in table.snapshots():
        by_pyiceberg(table, snapshot.snapshot_id)
    return table


def replaces(table):
    return [s for s in table.snapshots() if s.summary.operation.value == "replace"]


def check_commit(catalog, name, rows, done, ends):
    """After a run of firn whose commit was spoiled: it was applied once at most, and the run said so."""
    assert done.returncode in ends, f"{done.returncode} {done.stderr}"
    table = check_rows(catalog, name, rows)
    assert len(replaces(table)) <= 1, "applied twice"
    if done.returncode == 0:
        assert len(replaces(table)) == 1, "reported as done, but is not there"


def check_outcome(catalog, name, rows, done, ends, optimize):
    """The same, and the next run works."""
    check_commit(catalog, name, rows, done, ends)
    again = optimize()
    assert again.returncode == 0, again.stderr
    assert len(check_rows(catalog, name, rows).inspect.files()) == 1


def append_rows(open_catalog, arguments, name, writer, appends, rows_each):
    catalog = open_catalog(*arguments)
    for number in range(appends):
        base = (writer * appends + number) * rows_each
        rows = pa.table({"id": range(base, base + rows_each), "text": [f"w{writer}"] * rows_each})
        while True:
            try:
                catalog.load_table(name).append(rows)
                break
            except CommitFailedException:
                time.sleep(random.random() * 0.1)
            except OperationalError as error:
                if "locked" not in str(error):  # SQLite: nothing was committed
                    raise
                time.sleep(random.random() * 0.2)


def race(open_catalog, arguments, environment, writers, appends, rows_each=10, optimizers=2):
    """Appenders against several `firn optimize lake.TABLE`, on a new table: nothing is lost or doubled. Its name."""
    catalog = open_catalog(*arguments)
    name = make_table(catalog, appends=0)
    context = multiprocessing.get_context("spawn")
    processes = [context.Process(target=append_rows, args=(open_catalog, arguments, name, w, appends, rows_each))
                 for w in range(writers)]
    for process in processes:
        process.start()
    ends = []
    while any(process.is_alive() for process in processes):
        runs = [subprocess.Popen([BINARY, "optimize", f"lake.{name}", "--quiet"], env=environment,
                                 stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True) for _ in range(optimizers)]
        for run in runs:
            error = run.communicate(timeout=300)[1]
            ends.append(run.returncode)
            assert run.returncode in (0, 6, 8, 11), error
    for process in processes:
        process.join()
        assert process.exitcode == 0
    table = catalog.load_table(name)
    assert sorted(table.scan().to_arrow()["id"].to_pylist()) == list(range(writers * appends * rows_each))
    assert by_duckdb(table.metadata_location) == by_pyiceberg(table)
    assert 0 in ends, "at least one run optimized"
    return name
