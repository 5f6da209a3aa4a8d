# SPDX-License-Identifier: Apache-2.0
"""Stores that answer requests for ranges with fewer bytes than asked for, as HTTP allows them: no value may get lost."""

import io
import os
import random
import re

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from fsspec.implementations.arrow import ArrowFSWrapper
from pyarrow.fs import S3FileSystem

from tests.services.local_http import HttpProxy

from .conftest import Lake
from .test_clouds import Gcs

ENV = os.environ.get
ROWS, FILES = 700_000, 2  # more than a file that is read at once, less than one that S3 copies
UNAVAILABLE = 8


class S3:
    endpoint, root = "s3.endpoint", f"s3://{ENV('FIRN_TEST_S3_BUCKET')}"
    properties = {"s3.endpoint": ENV("FIRN_TEST_S3_ENDPOINT"), "s3.access-key-id": ENV("FIRN_TEST_S3_ACCESS_KEY"),
                  "s3.secret-access-key": ENV("FIRN_TEST_S3_SECRET_KEY"), "s3.region": "us-east-1"}

    @classmethod
    def files(cls):
        return ArrowFSWrapper(S3FileSystem(
            access_key=cls.properties["s3.access-key-id"], secret_key=cls.properties["s3.secret-access-key"],
            endpoint_override=cls.properties["s3.endpoint"], region="us-east-1"))


class Google(Gcs):
    endpoint, root = "gcs.service.host", Gcs.warehouse


STORES = [pytest.param(S3, marks=pytest.mark.skipif(not ENV("FIRN_TEST_S3_ENDPOINT"), reason="no S3 server")),
          pytest.param(Google, marks=pytest.mark.skipif(not ENV("FIRN_TEST_GCS_ENDPOINT"), reason="no emulator of GCS"))]


class ShortProxy(HttpProxy):
    """Leaves out the end of answers to requests for ranges without the end of a file, and says so in their headers."""

    withheld = {"connection", "expect"}

    def __init__(self, upstream, cuts, missing):
        super().__init__(upstream)
        self.cuts, self.missing, self.done = cuts, missing, 0

    def handle(self, handler):
        status, headers, payload = self.forward(handler.command, handler.path, handler.headers, self.body_of(handler))
        asked = re.fullmatch(r"bytes=(\d+)-\d*", handler.headers.get("Range") or "")
        with self.lock:
            is_cut = (handler.command == "GET" and asked and status == 206 and len(payload) > self.missing
                      and payload[-4:] != b"PAR1" and self.done < self.cuts)
            self.done += bool(is_cut)
        if is_cut:
            payload = payload[:-self.missing]
            begin = int(asked[1])
            headers = [(name, re.sub(r"\d+-\d+", f"{begin}-{begin + len(payload) - 1}", value)
                        if name.lower() == "content-range" else value) for name, value in headers]
        self.reply(handler, status, headers, payload)


def splice(tmp_path, store, cuts, missing):
    """(what firn ended with, expected table, found table or None)"""
    files, folder = store.files(), f"{store.root}/short-{random.randrange(10**9)}"
    bare = folder.split("://")[1]
    expected, values = [], np.random.default_rng(3)
    for number in range(FILES):
        table = pa.table({"a": values.integers(0, 2**62, ROWS), "b": values.integers(0, 2**62, ROWS)})
        content = io.BytesIO()
        pq.write_table(table, content, compression="none", use_dictionary=False)
        with files.open(f"{bare}/{number}.parquet", "wb") as file:
            file.write(content.getvalue())
        expected.append(table)
    with ShortProxy(store.properties[store.endpoint], cuts, missing) as proxy:
        words = [word for key, value in {**store.properties, store.endpoint: proxy.url}.items()
                 for word in ("--property", f"{key}={value}")]
        done = Lake(tmp_path).firn_any("splice", *(f"{folder}/{number}.parquet" for number in range(FILES)),
                                       "-o", f"{folder}/out.parquet", *words)
        assert proxy.done > 0
    files.invalidate_cache()
    if not files.exists(f"{bare}/out.parquet"):
        return done, pa.concat_tables(expected), None
    with files.open(f"{bare}/out.parquet", "rb") as file:
        return done, pa.concat_tables(expected), pq.read_table(io.BytesIO(file.read()))


@pytest.mark.parametrize("missing", [1, 7, 5000])
@pytest.mark.parametrize("store", STORES)
def test_splice_shortAnswers_areAskedForAgain(tmp_path, store, missing):
    done, expected, found = splice(tmp_path, store, 2, missing)
    assert done.returncode == 0, done.stderr
    assert found.equals(expected)


@pytest.mark.parametrize("store", STORES)
def test_splice_answersThatStayShort_areUnavailable(tmp_path, store):
    done, _, found = splice(tmp_path, store, 10**9, 5000)
    assert done.returncode == UNAVAILABLE, done.stderr
    assert found is None
