# SPDX-License-Identifier: Apache-2.0
"""What firn proposes as the next command, pasted into a shell, does what was shown."""

import json
import re
import shlex

import pyarrow as pa
import pytest
from pyiceberg.partitioning import PartitionField, PartitionSpec
from pyiceberg.schema import Schema
from pyiceberg.transforms import IdentityTransform
from pyiceberg.types import LongType, NestedField, StringType

SCHEMA = Schema(NestedField(1, "id", LongType(), required=False), NestedField(2, "day", StringType(), required=False))
BY_DAY = PartitionSpec(PartitionField(2, 1000, IdentityTransform(), "day"))


@pytest.fixture
def days(lake):
    """Seven small files in each of three partitions; one has a quotation mark in its name."""
    table = lake.catalog.create_table("db.t", SCHEMA, partition_spec=BY_DAY)
    for commit in range(7):
        table.append(pa.table({"id": [commit, 10 + commit, 20 + commit], "day": ["a", "b", "it's"]}))
    return lake


def next_command(text):
    found = re.search(r"^Next: `firn (.*?)` ", text, re.M)
    assert found, text
    return shlex.split(found.group(1))


@pytest.mark.parametrize("options", [["--partition", "day=it's"], ["--where", "day = 'it''s'", "--min-input-files", "3"],
                                     ["--target-file-size", "8KB", "--max-bytes", "12KB"]])
def test_planPasted_mergesWhatWasPlanned(days, options):
    planned = days.firn_json("plan", "db.t", *options)
    merge = next_command(days.firn("plan", "lake.db.t", *options).stdout)
    rows = days.rows("db.t")
    outcome = json.loads(days.firn(*merge, "--json").stdout)["outcome"]
    assert 0 < outcome["files_removed"] == planned["files_replaced"] < 21
    assert days.rows("db.t") == rows


def test_healthPasted_isThePlanThatItCounted(days):
    options = ["--partition", "day=b", "--min-input-files", "2"]
    health = days.firn("health", "lake.db.t", *options)
    assert "A merge now would make 1 of 7 files: 6 fewer." in health.stdout
    plan = json.loads(days.firn(*next_command(health.stdout), "--json").stdout)
    assert plan["files_replaced"] == 7
    days.firn("optimize", "lake.db.t", *options)
    again = days.firn("health", "lake.db.t", *options).stdout
    assert "Next:" not in again and "Nothing to merge now." in again


def test_directoryOfACatalogsTable_isReadOnly(days):
    directory = days.load("db.t").location().removeprefix("file://")
    files = len(days.files("db.t"))
    newest = days.load("db.t").metadata_location.removeprefix("file://")
    for metadata in (days.folder / "warehouse").rglob("*.metadata.json"):
        if str(metadata) != newest:
            metadata.unlink()
    for command in (["health"], ["plan"], ["optimize", "--dry-run"]):
        done = days.firn(*command, directory)
        assert "Read only: " in done.stdout and "name it through that catalog" in done.stdout
        assert "`firn optimize" not in done.stdout
    assert len(days.files("db.t")) == files


def test_tableWithoutACatalog_saysWhichThereAre(lake):
    (lake.folder / ".pyiceberg.yaml").write_text(f"catalog: {{other: {{type: sql, uri: '{lake.uri}'}}}}")
    for command in (["health", "db.t"], ["tables"]):
        done = lake.firn(*command, expect=3)
        assert "there are: lake, other: choose by --catalog lake" in done.stderr
        assert "lake.db.table" in done.stderr
