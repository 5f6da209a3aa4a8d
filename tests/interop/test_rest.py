# SPDX-License-Identifier: Apache-2.0
"""Iceberg's own REST catalog, with and without faults on the way."""

import os
import random
import subprocess
import uuid
from pathlib import Path
from urllib.parse import unquote

import pyarrow as pa
import pytest
from pyiceberg.catalog.rest import RestCatalog

from tests.services.fault_proxy import FaultProxy

from .conftest import BINARY
from .rows import by_duckdb, by_pyiceberg

URI = os.environ.get("FIRN_TEST_REST_URI")
pytestmark = pytest.mark.skipif(not URI, reason="no REST catalog (FIRN_TEST_REST_URI)")

# Fault, and whether firn may end without knowing (exit 7) or refused (exit 6, 8) instead of done (exit 0).
FAULTS = ["pass", "drop_before", "drop_after", "after:500", "after:502", "after:503", "after:504", "after:409",
          "before:503", "before:429", "before:409", "late:0.5", "twice", "garble"]
ENDS = {0, 6, 7, 8, 11}


def make_table(appends=6, rows_each=20):
    catalog = RestCatalog("rest", uri=URI)
    namespace = f"n{uuid.uuid4().hex[:8]}"
    catalog.create_namespace(namespace)
    table = catalog.create_table(f"{namespace}.t", schema=pa.schema([("id", pa.int64()), ("text", pa.string())]))
    for append in range(appends):
        ids = range(append * rows_each, (append + 1) * rows_each)
        table.append(pa.table({"id": list(ids), "text": [f"t{i % 7}" for i in ids]}))
    return catalog, f"{namespace}.t"


def optimize(uri, name):
    environment = dict(os.environ, PYICEBERG_CATALOG__R__URI=uri, PYICEBERG_CATALOG__R__TYPE="rest")
    return subprocess.run([BINARY, "optimize", f"r.{name}", "--quiet"], capture_output=True, text=True, env=environment,
                          timeout=300)


def check_whole(catalog, name, rows):
    """Same rows by two readers, every snapshot readable, no file of any snapshot missing."""
    table = catalog.load_table(name)
    assert by_pyiceberg(table) == rows
    assert by_duckdb(table.metadata_location) == rows
    for snapshot in table.snapshots():
        by_pyiceberg(table, snapshot.snapshot_id)
        assert Path(unquote(snapshot.manifest_list.removeprefix("file:"))).exists()
    return table


def replaces(table):
    return [s for s in table.snapshots() if s.summary.operation.value == "replace"]


def test_optimize_throughRest_keepsRows():
    catalog, name = make_table()
    rows = by_pyiceberg(catalog.load_table(name))
    done = optimize(URI, name)
    assert done.returncode == 0, done.stderr
    table = check_whole(catalog, name, rows)
    assert len(table.inspect.files()) == 1
    assert len(replaces(table)) == 1


@pytest.mark.parametrize("fault", FAULTS)
def test_fault_onceThenGood(fault):
    catalog, name = make_table()
    rows = by_pyiceberg(catalog.load_table(name))
    with FaultProxy(URI, [fault]) as proxy:
        done = optimize(proxy.url, name)
    assert done.returncode in ENDS, done.stderr
    table = check_whole(catalog, name, rows)
    assert len(replaces(table)) <= 1, "applied twice"
    if done.returncode == 0:
        assert len(replaces(table)) == 1, "reported as done, but is not there"
        assert len(table.inspect.files()) == 1
    if fault in ("pass", "drop_after", "after:500", "after:503", "after:409", "twice", "garble", "before:409"):
        assert done.returncode == 0, f"exit {done.returncode}: {done.stderr}"
    again = optimize(URI, name)
    assert again.returncode == 0, again.stderr
    assert len(check_whole(catalog, name, rows).inspect.files()) == 1


def test_randomFaults_seeded():
    seed = int(os.environ.get("FIRN_TEST_SEED", "20261129"))
    print(f"seed {seed}")
    rng = random.Random(seed)
    rounds = int(os.environ.get("FIRN_TEST_FAULT_ROUNDS", "12"))
    for _ in range(rounds):
        catalog, name = make_table(appends=5)
        rows = by_pyiceberg(catalog.load_table(name))
        faults = [rng.choice(FAULTS) for _ in range(rng.randrange(1, 4))]
        with FaultProxy(URI, faults) as proxy:
            done = optimize(proxy.url, name)
        assert done.returncode in ENDS, f"faults {faults}: {done.stderr}"
        table = check_whole(catalog, name, rows)
        assert len(replaces(table)) <= 1, f"faults {faults}"
        if done.returncode == 0:
            assert len(replaces(table)) == 1, f"faults {faults}"
