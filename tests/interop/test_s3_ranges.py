# SPDX-License-Identifier: Apache-2.0
"""Row groups that an S3 server copies itself: the merged files as other readers see them, and stores that fail."""

import json
import os
import random
from urllib.parse import parse_qs, urlsplit

import boto3
import duckdb
import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from pyarrow.fs import S3FileSystem
from pyiceberg.catalog.sql import SqlCatalog

from tests.services.local_http import HttpProxy

from .conftest import Lake

ENDPOINT = os.environ.get("FIRN_TEST_S3_ENDPOINT")
pytestmark = pytest.mark.skipif(not ENDPOINT, reason="no S3 server (FIRN_TEST_S3_ENDPOINT)")
ROWS = 700_000  # more than half of a row group, which stays as it is, and more than 16 MiB


class RangeProxy(HttpProxy):
    """Counts bytes by method. `fault` is asked for each UploadPartCopy: None, or (status, body) instead of the copy."""

    withheld = {"connection", "expect"}

    def __init__(self, upstream):
        super().__init__(upstream)
        self.bytes = {"GET": 0, "PUT": 0, "HEAD": 0, "POST": 0, "DELETE": 0}
        self.copies = 0
        self.fault = lambda: None

    def handle(self, handler):
        body = self.body_of(handler)
        is_copy = handler.headers.get("x-amz-copy-source") is not None
        answer = None
        if is_copy:
            assert "partNumber" in parse_qs(urlsplit(handler.path).query)
            with self.lock:
                self.copies += 1
            answer = self.fault()
        if answer is None:
            status, headers, payload = self.forward(handler.command, handler.path, handler.headers, body)
        else:
            status, headers, payload = answer[0], [("Content-Type", "application/xml")], answer[1]
        with self.lock:
            self.bytes[handler.command] += len(body) + len(payload)
        self.reply(handler, status, headers, payload)


def table_of(seed, rows=ROWS):
    values = np.random.default_rng(seed)
    return pa.table({"id": pa.array(np.arange(rows) + seed * rows), "a": pa.array(values.random(rows)),
                     "b": pa.array(values.integers(0, 2**62, rows)), "s": pa.array([f"row {i % 97}" for i in range(rows)])})


class Store:
    def __init__(self, folder):
        self.lake = Lake(folder)
        self.keys = {"s3.endpoint": ENDPOINT, "s3.access-key-id": os.environ["FIRN_TEST_S3_ACCESS_KEY"],
                     "s3.secret-access-key": os.environ["FIRN_TEST_S3_SECRET_KEY"], "s3.region": "us-east-1"}
        self.bucket = os.environ["FIRN_TEST_S3_BUCKET"]
        self.root = f"ranges-{random.randrange(10**9)}"
        self.files = S3FileSystem(access_key=self.keys["s3.access-key-id"], secret_key=self.keys["s3.secret-access-key"],
                                  endpoint_override=ENDPOINT, region="us-east-1")
        self.client = boto3.client("s3", endpoint_url=ENDPOINT, aws_access_key_id=self.keys["s3.access-key-id"],
                                   aws_secret_access_key=self.keys["s3.secret-access-key"], region_name="us-east-1")

    def write(self, name, table, **options):
        options = {"compression": "none", "use_dictionary": ["s"], "write_page_checksum": True,
                   "max_rows_per_page": 1 << 20, "write_page_index": True} | options
        pq.write_table(table, f"{self.bucket}/{self.root}/{name}", filesystem=self.files, **options)
        return f"s3://{self.bucket}/{self.root}/{name}"

    def read(self, name):
        return pq.read_table(f"{self.bucket}/{self.root}/{name}", filesystem=self.files)

    def names(self):
        listed = self.client.list_objects_v2(Bucket=self.bucket, Prefix=self.root)
        return sorted(entry["Key"].split("/", 1)[1] for entry in listed.get("Contents", []))

    def uploads(self):
        listed = self.client.list_multipart_uploads(Bucket=self.bucket)
        return [entry for entry in listed.get("Uploads") or [] if entry["Key"].startswith(self.root)]

    def splice(self, proxy, inputs, output, *arguments):
        properties = [part for key, value in {**self.keys, "s3.endpoint": proxy.url}.items()
                      for part in ("--property", f"{key}={value}")]
        return self.lake.firn_any("splice", *inputs, "-o", f"s3://{self.bucket}/{self.root}/{output}", "--json", *properties,
                                  *arguments)


@pytest.fixture
def store(tmp_path):
    return Store(tmp_path)


@pytest.fixture
def proxy():
    with RangeProxy(ENDPOINT) as started:
        yield started


def same_rows(expected, found):
    """In order for pyarrow; as a multiset for DuckDB, which reads the file anew."""
    assert pa.concat_tables(expected).equals(found)


def differing_rows(tmp_path, store, tables, name):
    output = tmp_path / "out.parquet"
    with store.files.open_input_stream(f"{store.bucket}/{store.root}/{name}") as stream:
        output.write_bytes(stream.read())
    expected = pa.concat_tables(tables)  # noqa: F841, DuckDB sees it
    one, other = f"SELECT * FROM '{output}'", "SELECT * FROM expected"
    return duckdb.sql(f"SELECT count(*) FROM (({one} EXCEPT ALL {other}) UNION ALL ({other} EXCEPT ALL {one}))").fetchone()[0]


@pytest.mark.parametrize("threads", [1, 3])
def test_splice_largeRowGroups_areCopiedByTheStore(tmp_path, store, proxy, threads):
    tables = [table_of(seed) for seed in range(3)]
    inputs = [store.write(f"in {i}.parquet", table) for i, table in enumerate(tables)]
    done = store.splice(proxy, inputs, "out.parquet", "--threads", threads)
    assert done.returncode == 0, done.stderr
    answer = json.loads(done.stdout)
    assert answer["tiers"].keys() == {"R"} and not answer["notes"]
    assert answer["storage_copied_bytes"] > 0.8 * answer["output_bytes"] - (5 << 20)
    assert proxy.copies >= 3
    # The output is read once, to verify it; of the inputs hardly more than what fills the part before the first copy.
    assert proxy.bytes["GET"] < answer["output_bytes"] + (6 << 20)
    assert proxy.bytes["PUT"] < answer["output_bytes"] - answer["storage_copied_bytes"] + (1 << 20)
    same_rows(tables, store.read("out.parquet"))
    assert differing_rows(tmp_path, store, tables, "out.parquet") == 0
    assert not store.uploads()


def test_splice_storeThatDoesNotCopy_isReadAndWritten(store, proxy):
    tables = [table_of(seed) for seed in range(2)]
    inputs = [store.write(f"in{i}.parquet", table) for i, table in enumerate(tables)]
    proxy.fault = lambda: (501, b"<Error><Code>NotImplemented</Code><Message>no such thing</Message></Error>")
    done = store.splice(proxy, inputs, "out.parquet")
    assert done.returncode == 0, done.stderr
    answer = json.loads(done.stdout)
    assert answer["storage_copied_bytes"] == 0 and proxy.copies == 1
    assert any("501 NotImplemented" in note for note in answer["notes"])
    same_rows(tables, store.read("out.parquet"))


def test_splice_changedInput_isRefused(store, proxy):
    inputs = [store.write(f"in{i}.parquet", table_of(i)) for i in range(2)]

    def replace():
        proxy.fault = lambda: None
        store.write("in0.parquet", table_of(7))

    proxy.fault = replace
    done = store.splice(proxy, inputs, "out.parquet")
    assert done.returncode != 0
    assert "in0.parquet: has changed while it was read" in done.stderr
    assert store.names() == ["in0.parquet", "in1.parquet"] and not store.uploads()


def test_splice_errorInTheBodyOfAnAnswer_isAnError(store, proxy):
    inputs = [store.write(f"in{i}.parquet", table_of(i)) for i in range(2)]
    proxy.fault = lambda: (200, b"<?xml version='1.0'?><Error><Code>InternalError</Code><Message>sorry</Message></Error>")
    done = store.splice(proxy, inputs, "out.parquet")
    assert done.returncode != 0 and "InternalError" in done.stderr
    assert store.names() == ["in0.parquet", "in1.parquet"] and not store.uploads()


def damage(store, name):
    path = f"{store.bucket}/{store.root}/{name}"
    with store.files.open_input_stream(path) as stream:
        content = bytearray(stream.read())
    content[len(content) // 3] ^= 1
    with store.files.open_output_stream(path) as stream:
        stream.write(bytes(content))


def test_splice_damagedInput_isNamedThoughTheStoreCopiedIt(store, proxy):
    inputs = [store.write(f"in{i}.parquet", table_of(i)) for i in range(2)]
    damage(store, "in1.parquet")
    done = store.splice(proxy, inputs, "out.parquet")
    assert done.returncode != 0 and "in1.parquet: offset" in done.stderr and "CRC" in done.stderr
    assert proxy.copies > 0
    assert store.names() == ["in0.parquet", "in1.parquet"] and not store.uploads()


def catalog_through(store, proxy):
    """PyIceberg's, past the proxy; firn is told to go through it."""
    lake, warehouse = store.lake, f"s3://{store.bucket}/{store.root}"
    for key, value in {**store.keys, "s3.endpoint": proxy.url, "warehouse": warehouse}.items():
        lake.environment["PYICEBERG_CATALOG__LAKE__" + key.upper().replace(".", "__").replace("-", "_")] = value
    return SqlCatalog("lake", uri=lake.uri, warehouse=warehouse, **store.keys)


def test_optimize_damagedFile_staysAndTheOthersAreMerged(store, proxy):
    catalog = catalog_through(store, proxy)
    tables = [table_of(seed) for seed in range(6)]
    paths = [store.write(f"in{i}.parquet", table) for i, table in enumerate(tables)]
    table = catalog.create_table("db.damaged", schema=tables[0].schema,
                                 properties={"write.parquet.compression-codec": "uncompressed"})
    table.add_files(paths)
    damage(store, "in3.parquet")
    done = store.lake.firn_any("optimize", "lake.db.damaged", "--json")
    assert done.returncode == 11, done.stderr
    outcome = json.loads(done.stdout)["outcome"]
    assert outcome["files_removed"] == 5 and "in3.parquet: offset" in json.dumps(outcome["failures"])
    live = [task.file.file_path for task in catalog.load_table("db.damaged").scan().plan_files()]
    assert paths[3] in live and len(live) == 2
    assert not set(live) & set(outcome.get("leftover_files", []))
    (merged,) = [path for path in live if path != paths[3]]
    found = pq.read_table(merged.removeprefix("s3://"), filesystem=store.files)
    assert found.sort_by("id").equals(pa.concat_tables(t for i, t in enumerate(tables) if i != 3).cast(found.schema))


def test_optimize_tableOfLargeRowGroups_keepsRowsAndTellsWhatWasCopied(store, proxy):
    catalog = catalog_through(store, proxy)
    tables = [table_of(seed) for seed in range(5)]
    table = catalog.create_table("db.large", schema=tables[0].schema,
                                 properties={"write.parquet.compression-codec": "uncompressed"})
    for part in tables:
        table.append(part)
    outcome = store.lake.firn_json("optimize", "db.large")["outcome"]
    assert outcome["storage_copied_bytes"] > outcome["bytes_added"] / 2 and proxy.copies > 0
    found = catalog.load_table("db.large").scan().to_arrow()
    assert found.num_rows == 5 * ROWS
    assert found.sort_by("id").equals(pa.concat_tables(tables).sort_by("id").cast(found.schema))
