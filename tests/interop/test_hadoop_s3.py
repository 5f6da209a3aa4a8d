# SPDX-License-Identifier: Apache-2.0
"""Tables that are directories in a bucket, on a real S3 server and on one that ignores conditions."""

import os
import random
import subprocess

import pyarrow as pa
import pyarrow.fs
import pytest
from pyiceberg.catalog.sql import SqlCatalog
from pyiceberg.table import StaticTable

from tests.services.s3_proxy import S3Proxy

from .conftest import BINARY
from .rows import by_pyiceberg

ENDPOINT = os.environ.get("FIRN_TEST_S3_ENDPOINT")
KEYS = os.environ.get("FIRN_TEST_S3_ACCESS_KEY"), os.environ.get("FIRN_TEST_S3_SECRET_KEY")
pytestmark = pytest.mark.skipif(not ENDPOINT, reason="no S3 server (FIRN_TEST_S3_ENDPOINT)")


class Bucket:
    """A table of seven small files that PyIceberg wrote, made a directory table with one version."""

    def __init__(self, folder):
        self.folder = folder
        self.properties = {"s3.endpoint": ENDPOINT, "s3.access-key-id": KEYS[0], "s3.secret-access-key": KEYS[1],
                           "s3.region": "us-east-1"}
        self.files = pyarrow.fs.S3FileSystem(access_key=KEYS[0], secret_key=KEYS[1], endpoint_override=ENDPOINT,
                                             region="us-east-1")
        warehouse = f"{os.environ['FIRN_TEST_S3_BUCKET']}/{random.randrange(10**9)}"
        self.location = f"s3://{warehouse}/db/t"
        self.metadata = f"{warehouse}/db/t/metadata"
        catalog = SqlCatalog("lake", uri=f"sqlite:///{folder}/catalog.db", warehouse=f"s3://{warehouse}", **self.properties)
        catalog.create_namespace("db")
        table = catalog.create_table("db.t", schema=pa.schema([("id", pa.int64())]), location=self.location)
        for append in range(7):
            table.append(pa.table({"id": range(append * 10, append * 10 + 10)}))
        self.rows = by_pyiceberg(table)
        newest = table.metadata_location.removeprefix("s3://")
        with self.files.open_input_stream(newest) as source:
            text = source.read()
        for name in self.names():
            if name.endswith(".metadata.json"):
                self.files.delete_file(f"{self.metadata}/{name}")
        with self.files.open_output_stream(f"{self.metadata}/v1.metadata.json") as target:
            target.write(text)

    def names(self):
        return sorted(info.base_name for info in self.files.get_file_info(pyarrow.fs.FileSelector(self.metadata)))

    def firn(self, *arguments, endpoint=ENDPOINT):
        environment = dict(os.environ, HOME=str(self.folder), AWS_ENDPOINT_URL_S3=endpoint, AWS_REGION="us-east-1",
                           AWS_ACCESS_KEY_ID=KEYS[0], AWS_SECRET_ACCESS_KEY=KEYS[1])
        return subprocess.run([BINARY, *arguments], capture_output=True, text=True, env=environment, timeout=120)

    def version(self, number):
        return StaticTable.from_metadata(f"{self.location}/metadata/v{number}.metadata.json", self.properties)


@pytest.fixture
def bucket(tmp_path):
    return Bucket(tmp_path)


def test_optimize_directoryInBucket_makesTheNextVersion(bucket):
    done = bucket.firn("optimize", bucket.location, "--quiet")
    assert done.returncode == 0, done.stderr
    table = bucket.version(2)
    assert by_pyiceberg(table) == bucket.rows
    assert len(table.inspect.files()) == 1
    names = bucket.names()
    assert "version-hint.text" in names
    assert not [name for name in names if "probe" in name]
    with bucket.files.open_input_stream(f"{bucket.metadata}/version-hint.text") as hint:
        assert hint.read() == b"2"


def test_optimize_storeIgnoresConditions_isRefusedAndNothingChanges(bucket):
    before = bucket.names()
    with S3Proxy(ENDPOINT, *KEYS, strips_conditions=True) as proxy:
        done = bucket.firn("optimize", bucket.location, "--quiet", endpoint=proxy.url)
    assert done.returncode != 0
    assert "does not honour conditional writes" in done.stderr
    assert bucket.names() == before
    assert by_pyiceberg(bucket.version(1)) == bucket.rows


def test_optimize_throughProxyThatPasses_works(bucket):
    with S3Proxy(ENDPOINT, *KEYS) as proxy:
        done = bucket.firn("optimize", bucket.location, "--quiet", endpoint=proxy.url)
    assert done.returncode == 0, done.stderr
    assert by_pyiceberg(bucket.version(2)) == bucket.rows
    inputs = {path: [] for _, path in proxy.requests if "/data/" in path and path.endswith(".parquet")}
    for method, path in proxy.requests:
        inputs.get(path, []).append(method)
    read = [methods for methods in inputs.values() if "PUT" not in methods]
    assert read == [["GET"]] * 7, "one request for each small input"
