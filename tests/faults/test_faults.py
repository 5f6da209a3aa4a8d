# SPDX-License-Identifier: Apache-2.0
"""A small part of `python -m tests.faults`: the same runs with seeds that stay the same."""

import os

import pytest

from .places import HadoopLocal, RestS3, SqlLocal
from .run import Bench, one_run

SHAPES = ("partitioned-v2", "positions-v2", "vectors-v3", "upserts-v3", "old-v1")


@pytest.fixture(scope="module")
def local(tmp_path_factory):
    bench = Bench(tmp_path_factory.mktemp("faults"), [SqlLocal, HadoopLocal], SHAPES)
    yield bench
    bench.close()


@pytest.fixture(scope="module")
def store(tmp_path_factory):
    bench = Bench(tmp_path_factory.mktemp("faults"), [RestS3], SHAPES)
    yield bench
    bench.close()


@pytest.mark.parametrize("seed", range(1, 17))
def test_fault_inTheMiddleOfWork_nothingIsDamaged(local, seed):
    one_run(seed, local)


@pytest.mark.skipif("FIRN_TEST_S3_ENDPOINT" not in os.environ, reason="no S3 server (FIRN_TEST_S3_ENDPOINT)")
@pytest.mark.parametrize("seed", range(1, 7))
def test_fault_betweenCatalogAndStore_nothingIsDamaged(store, seed):
    one_run(seed, store)
