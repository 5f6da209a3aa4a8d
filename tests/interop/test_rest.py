# SPDX-License-Identifier: Apache-2.0
"""Iceberg's own REST catalog, with and without faults on the way."""

import os
import random
import subprocess

import pytest
from pyiceberg.catalog.rest import RestCatalog

from tests.services.fault_proxy import FaultProxy

from .conftest import BINARY
from .rows import by_pyiceberg
from .shared_table import check_commit, check_outcome, check_rows, make_table, replaces

URI = os.environ.get("FIRN_TEST_REST_URI")
pytestmark = pytest.mark.skipif(not URI, reason="no REST catalog (FIRN_TEST_REST_URI)")

# Fault, and whether firn may end without knowing (exit 7) or refused (exit 6, 8) instead of done (exit 0).
FAULTS = ["pass", "drop_before", "drop_after", "after:500", "after:502", "after:503", "after:504", "after:409",
          "before:503", "before:429", "before:409", "late:0.5", "twice", "garble"]
ENDS = {0, 6, 7, 8, 11}


def make_catalog_and_table(appends=6):
    catalog = RestCatalog("rest", uri=URI)
    return catalog, make_table(catalog, appends)


def optimize(uri, name):
    environment = dict(os.environ, PYICEBERG_CATALOG__R__URI=uri, PYICEBERG_CATALOG__R__TYPE="rest")
    return subprocess.run([BINARY, "optimize", f"r.{name}", "--quiet"], capture_output=True, text=True, env=environment,
                          timeout=300)


def test_optimize_throughRest_keepsRows():
    catalog, name = make_catalog_and_table()
    rows = by_pyiceberg(catalog.load_table(name))
    done = optimize(URI, name)
    assert done.returncode == 0, done.stderr
    table = check_rows(catalog, name, rows)
    assert len(table.inspect.files()) == 1
    assert len(replaces(table)) == 1


@pytest.mark.parametrize("fault", FAULTS)
def test_fault_onceThenGood(fault):
    catalog, name = make_catalog_and_table()
    rows = by_pyiceberg(catalog.load_table(name))
    with FaultProxy(URI, [fault]) as proxy:
        done = optimize(proxy.url, name)
    check_outcome(catalog, name, rows, done, ENDS, lambda: optimize(URI, name))
    if fault in ("pass", "drop_after", "after:500", "after:503", "after:409", "twice", "garble", "before:409"):
        assert done.returncode == 0, f"exit {done.returncode}: {done.stderr}"


def test_randomFaults_seeded():
    seed = int(os.environ.get("FIRN_TEST_SEED", "20261129"))
    print(f"seed {seed}")
    rng = random.Random(seed)
    rounds = int(os.environ.get("FIRN_TEST_FAULT_ROUNDS", "12"))
    for _ in range(rounds):
        catalog, name = make_catalog_and_table(appends=5)
        rows = by_pyiceberg(catalog.load_table(name))
        faults = [rng.choice(FAULTS) for _ in range(rng.randrange(1, 4))]
        print(f"{name}: {faults}")
        with FaultProxy(URI, faults) as proxy:
            done = optimize(proxy.url, name)
        check_commit(catalog, name, rows, done, ENDS)
