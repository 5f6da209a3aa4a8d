# SPDX-License-Identifier: Apache-2.0
"""Rows of an Iceberg table as other people's readers see them, reduced to a multiset that can be compared.

Two readers: PyIceberg and DuckDB's iceberg extension. Neither count(*) nor metadata is trusted: every value is read.
"""

import datetime
import decimal
import functools
import glob
import hashlib
import math
import os
import struct
import uuid
from collections import Counter

import duckdb


def canonical(value):
    """One form for a value whatever reader it came from."""
    if value is None or isinstance(value, (bool, int, str)):
        return value
    if isinstance(value, float):
        return "nan" if math.isnan(value) else ("f", struct.pack(">d", value))
    if isinstance(value, decimal.Decimal):
        return ("d", str(value.normalize()) if value else "0")
    if isinstance(value, datetime.datetime):
        if value.tzinfo:
            value = value.astimezone(datetime.timezone.utc)
        return ("t", value.replace(tzinfo=None).isoformat())
    if isinstance(value, (datetime.date, datetime.time)):
        return ("t", value.isoformat())
    if isinstance(value, (bytes, bytearray, memoryview)):
        return ("b", bytes(value))
    if isinstance(value, uuid.UUID):
        return str(value)  # DuckDB hands uuids out as text
    if isinstance(value, dict):
        return tuple(sorted((str(k), canonical(v)) for k, v in value.items()))
    if isinstance(value, (list, tuple)):
        return tuple(canonical(v) for v in value)
    raise TypeError(f"{type(value)} in a row")


def multiset(arrow_table):
    """Counter of row digests; columns by name, so that their order does not matter."""
    names = sorted(arrow_table.column_names)
    rows = Counter()
    for batch in arrow_table.select(names).to_batches(max_chunksize=10_000):
        for row in zip(*(batch.column(i).to_pylist() for i in range(batch.num_columns))):
            rows[hashlib.sha256(repr(tuple(canonical(v) for v in row)).encode()).digest()] += 1
    return rows


def by_pyiceberg(table, snapshot_id=None):
    return multiset(table.scan(snapshot_id=snapshot_id).to_arrow())


def duckdb_connection():
    """DuckDB with the iceberg extension that a wheel ships: nothing is downloaded."""
    connection = duckdb.connect(config={"allow_unsigned_extensions": "true"})
    connection.execute("SET TimeZone='UTC'; SET threads=2; SET autoinstall_known_extensions=false")
    site = os.path.dirname(os.path.dirname(duckdb.__file__))
    for name in ("avro", "iceberg"):
        found = glob.glob(f"{site}/duckdb_extension_{name}/extensions/*/{name}.duckdb_extension")
        connection.execute(f"INSTALL '{found[0]}'; LOAD {name}")
    return connection


@functools.lru_cache(maxsize=1)
def shared_duckdb(process):
    """Loading the extensions takes longer than reading a small table. A fork must not use its parent's."""
    return duckdb_connection()


def by_duckdb(metadata_location, snapshot_id=None):
    path = metadata_location.removeprefix("file://")
    version = f", snapshot_from_id={snapshot_id}" if snapshot_id else ""
    with shared_duckdb(os.getpid()).cursor() as connection:
        return multiset(connection.sql(f"SELECT * FROM iceberg_scan('{path}'{version})").to_arrow_table())
