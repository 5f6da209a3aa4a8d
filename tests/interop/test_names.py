# SPDX-License-Identifier: Apache-2.0
"""Names whose parts have dots: each table has a spelling of its own, which every command takes."""

import json

import pyarrow as pa
import pytest

ROWS = pa.table({"id": pa.array([1, 2, 3], pa.int64())})
FILES = {"lake.a.b.c": 2, 'lake.a."b.c"': 6}


@pytest.fixture
def twins(lake):
    """Table c of namespace a.b, and table b.c of namespace a."""
    for name_space in (("a",), ("a", "b")):
        lake.catalog.create_namespace(name_space)
    for name, files in ((("a", "b", "c"), 2), (("a", "b.c"), 6)):
        table = lake.catalog.create_table(name, ROWS.schema)
        for _ in range(files):
            table.append(ROWS)
    return lake


def test_every_listed_name_is_that_table(twins):
    names = twins.firn_any("tables", "--catalog", "lake").stdout.splitlines()
    assert sorted(names) == ['a."b.c"', "a.b.c"]
    listed = json.loads(twins.firn_any("tables", "--catalog", "lake", "--json").stdout)
    assert sorted(line["table"] for line in listed) == sorted(names)
    for name, files in FILES.items():
        done = twins.firn_any("inspect", "files", name, "--json")
        assert done.returncode == 0, done.stderr
        assert len(json.loads(done.stdout)) == files, done.stdout


def test_optimize_does_the_one_that_is_named(twins):
    assert twins.firn_any("optimize", 'lake.a."b.c"').returncode == 0
    count = {name: len(twins.catalog.load_table(name).inspect.files()) for name in (("a", "b", "c"), ("a", "b.c"))}
    assert count == {("a", "b", "c"): 2, ("a", "b.c"): 1}
    assert twins.firn_any("health", 'lake.a."b.c').returncode == 2
