# SPDX-License-Identifier: Apache-2.0
"""Data and metadata in a real S3 server, catalog in SQLite."""

import os
import random

import pyarrow as pa
import pytest
from pyiceberg.catalog.sql import SqlCatalog

from .conftest import Lake
from .rows import by_pyiceberg

ENDPOINT = os.environ.get("FIRN_TEST_S3_ENDPOINT")
pytestmark = pytest.mark.skipif(not ENDPOINT, reason="no S3 server (FIRN_TEST_S3_ENDPOINT)")


def test_optimize_onS3_keepsRows(tmp_path):
    lake = Lake(tmp_path)
    properties = {"s3.endpoint": ENDPOINT, "s3.access-key-id": os.environ["FIRN_TEST_S3_ACCESS_KEY"],
                  "s3.secret-access-key": os.environ["FIRN_TEST_S3_SECRET_KEY"], "s3.region": "us-east-1"}
    warehouse = f"s3://{os.environ['FIRN_TEST_S3_BUCKET']}/{random.randrange(10**9)}"
    catalog = SqlCatalog("lake", uri=lake.uri, warehouse=warehouse, **properties)
    for key, value in properties.items():
        name = key.upper().replace(".", "__").replace("-", "_")
        lake.environment[f"PYICEBERG_CATALOG__LAKE__{name}"] = value
    lake.environment["PYICEBERG_CATALOG__LAKE__WAREHOUSE"] = warehouse
    table = catalog.create_table("db.s", schema=pa.schema([("id", pa.int64()), ("a b", pa.string())]))
    for append in range(7):
        table.append(pa.table({"id": range(append * 10, append * 10 + 10), "a b": [f"x{append}"] * 10}))
    before = by_pyiceberg(table)
    lake.firn("optimize", "lake.db.s", "--quiet")
    table = catalog.load_table("db.s")
    assert by_pyiceberg(table) == before
    assert len(table.inspect.files()) == 1
