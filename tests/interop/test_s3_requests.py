# SPDX-License-Identifier: Apache-2.0
"""What an object store is asked for: one GET a manifest, several at a time but not more than allowed; one DELETE a file."""

import os
import random

import pyarrow as pa
import pytest
from pyiceberg.catalog.sql import SqlCatalog
from pyiceberg.partitioning import PartitionField, PartitionSpec
from pyiceberg.schema import Schema
from pyiceberg.transforms import IdentityTransform
from pyiceberg.types import LongType, NestedField

from .conftest import Lake
from .s3_counter import S3Counter

ENDPOINT = os.environ.get("FIRN_TEST_S3_ENDPOINT")
pytestmark = pytest.mark.skipif(not ENDPOINT, reason="no S3 server (FIRN_TEST_S3_ENDPOINT)")
COMMITS = 24


@pytest.fixture
def counted(tmp_path):
    """A table with one manifest a commit, in 4 partitions; firn reaches the store through the counter."""
    lake = Lake(tmp_path)
    properties = {"s3.endpoint": ENDPOINT, "s3.access-key-id": os.environ["FIRN_TEST_S3_ACCESS_KEY"],
                  "s3.secret-access-key": os.environ["FIRN_TEST_S3_SECRET_KEY"], "s3.region": "us-east-1"}
    warehouse = f"s3://{os.environ['FIRN_TEST_S3_BUCKET']}/{random.randrange(10**9)}"
    catalog = SqlCatalog("lake", uri=lake.uri, warehouse=warehouse, **properties)
    schema = Schema(NestedField(1, "part", LongType()), NestedField(2, "id", LongType()))
    spec = PartitionSpec(PartitionField(1, 1000, IdentityTransform(), "part"))
    table = catalog.create_table("db.s", schema, partition_spec=spec)
    for commit in range(COMMITS):
        table.append(pa.table({"part": [commit % 4] * 3, "id": range(3)}))
    with S3Counter(ENDPOINT, delay_seconds=0.02) as counter:
        for key, value in {**properties, "s3.endpoint": counter.url}.items():
            lake.environment["PYICEBERG_CATALOG__LAKE__" + key.upper().replace(".", "__").replace("-", "_")] = value
        lake.environment["PYICEBERG_CATALOG__LAKE__WAREHOUSE"] = warehouse
        manifests = table.current_snapshot().manifests(table.io)
        yield lake, counter, {m.manifest_path.split("://")[1]: m.partitions[0] for m in manifests}


def asked(counter, manifests):
    """Requests for manifests: (method, path) -> number."""
    return {key: n for key, n in counter.requests.items() if key[1].lstrip("/") in manifests}


def test_plan_asksForEachManifestOnce(counted):
    lake, counter, manifests = counted
    assert len(manifests) == COMMITS
    plan = lake.firn_json("plan", "db.s", "--threads", "4")
    assert plan["groups"]
    assert asked(counter, manifests) == {("GET", f"/{path}"): 1 for path in manifests}
    assert 1 < counter.most_at_once <= 33


def test_plan_where_asksForManifestsOfThePartitionAlone(counted):
    lake, counter, manifests = counted
    lake.firn_json("plan", "db.s", "--where", "part = 2")
    wanted = {path for path, field in manifests.items() if int.from_bytes(field.lower_bound, "little") == 2}
    assert len(wanted) == COMMITS // 4
    assert asked(counter, manifests) == {("GET", f"/{path}"): 1 for path in wanted}


def test_optimize_deletesWithOneRequest_andMakesNoObjectForTheFolder(counted):
    lake, counter, _ = counted
    lake.firn("optimize", "lake.db.s", "--quiet")
    deleted = {path for method, path in counter.requests if method == "DELETE"}
    assert deleted, "the mark of the run is deleted at its end"
    assert all(counter.requests["DELETE", path] == 1 for path in deleted)
    assert not [path for method, path in counter.requests if method == "PUT" and path.endswith("/")]
