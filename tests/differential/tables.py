# SPDX-License-Identifier: Apache-2.0
"""Random tables, and the programs of other people that write and read them."""

import collections
import datetime
import decimal
import json
import os
import subprocess
from pathlib import Path

import duckdb
import pyarrow as pa
import pyarrow.parquet as pq

from .parquet_mr import parquet_mr, usable
from .spark import Spark

FLAT = ["int32", "int64", "float", "double", "bool", "string", "binary", "date32", "decimal", "small decimal", "timestamp"]
NESTED = ["list<int32>", "struct", "list<string>"]
TYPES = {"int32": pa.int32(), "int64": pa.int64(), "float": pa.float32(), "double": pa.float64(), "bool": pa.bool_(),
         "string": pa.string(), "binary": pa.binary(), "date32": pa.date32(), "decimal": pa.decimal128(12, 2),
         "small decimal": pa.decimal128(9, 2), "timestamp": pa.timestamp("us", "UTC"),
         "list<int32>": pa.list_(pa.int32()), "list<string>": pa.list_(pa.string()),
         "struct": pa.struct([("a", pa.int64()), ("b", pa.string())])}

GO_FOLDER = Path(__file__).parent / "go"  # the program for `write_arrow_go`
EPOCH = datetime.datetime(1900, 1, 1, tzinfo=datetime.timezone.utc)


def scalars(kind, count, distinct, first, rng):
    numbers = rng.integers(first, first + max(distinct, 1), count)
    if rng.random() < 0.3:
        numbers.sort()
    if kind in ("int32", "int64"):
        return [int(n) for n in numbers]
    if kind in ("float", "double"):
        values = [float(n) / 4 for n in numbers]
        for i in range(0, count, 37):
            values[i] = [float("nan"), -0.0, 0.0, float("inf")][i % 4]
        return values
    if kind == "bool":
        return [bool(n & 1) for n in numbers]
    if kind == "string":
        return [f"value-{n}" * (1 + int(n) % 5) for n in numbers]
    if kind == "binary":
        return [int(n).to_bytes(8, "big")[int(n) % 8:] for n in numbers]
    if kind == "date32":
        return [datetime.date(1970, 1, 1) + datetime.timedelta(int(n) % 40000 - 9000) for n in numbers]
    if kind == "timestamp":
        return [EPOCH + datetime.timedelta(microseconds=(int(n) - 1000) * 10**9 % (1 << 52) + int(n) % 3) for n in numbers]
    return [decimal.Decimal(int(n) % 10**9 if kind == "small decimal" else int(n)).scaleb(-2) for n in numbers]


def column(kind, rows, distinct, first, null_share, rng, full_lists=False):
    def nulled(values):
        return [None if rng.random() < null_share else v for v in values]

    if kind == "struct":
        a, b = scalars("int64", rows, distinct, first, rng), scalars("string", rows, distinct, first, rng)
        return nulled([{"a": x, "b": None if rng.random() < null_share else y} for x, y in zip(a, b)])
    if kind.startswith("list<"):
        lengths = rng.integers(0, 5, rows)
        inner = scalars(kind[5:-1], int(lengths.sum()), distinct, first, rng)
        inner = inner if full_lists else nulled(inner)
        out, position = [], 0
        for n in lengths:
            out.append(inner[position:position + n])
            position += n
        return nulled(out)
    return nulled(scalars(kind, rows, distinct, first, rng))


def table(kinds, rows, rng, required=False, full_lists=False):
    """Columns c0, c1, ... with Iceberg's field ids. `required`: flat columns are; `full_lists`: no null in a list."""
    arrays, fields = [], []
    for i, kind in enumerate(kinds):
        distinct = int(rng.choice([1, 20, 1000, 1 << 30]))
        share = 0.0 if required and kind in FLAT else float(rng.choice([0.0, 0.05, 0.5]))
        first = int(rng.choice([0, 0, 1000, 1 << 20]))
        arrays.append(pa.array(column(kind, rows, distinct, first, share, rng, full_lists), TYPES[kind]))
        nullable = not (required and kind in FLAT)
        fields.append(pa.field(f"c{i}", TYPES[kind], nullable, {"PARQUET:field_id": str(i + 1)}))
    return pa.table(arrays, schema=pa.schema(fields))


def plain_schema(kinds):
    return pa.schema([pa.field(f"c{i}", TYPES[kind]) for i, kind in enumerate(kinds)])


def by_arrow(data, path, codec, rng):
    options = {"compression": "none" if codec == "uncompressed" else codec, "use_dictionary": bool(rng.random() < 0.6), "data_page_version": str(rng.choice(["1.0", "2.0"])),
               "write_page_index": bool(rng.random() < 0.7), "data_page_size": int(rng.choice([1 << 10, 1 << 16, 1 << 20])),
               "row_group_size": int(rng.choice([700, 1 << 20])), "store_schema": False, "store_decimal_as_integer": True,
               "write_page_checksum": bool(rng.random() < 0.5), "dictionary_pagesize_limit": int(rng.choice([1 << 10, 1 << 20]))}
    if not options["use_dictionary"] and rng.random() < 0.6:
        options["column_encoding"] = encodings(data.schema, rng)
    pq.write_table(data, path, **options)


def encodings(schema, rng):
    chosen = {}
    for field in schema:
        if pa.types.is_nested(field.type):
            continue
        names = ["PLAIN"]
        if pa.types.is_integer(field.type) or pa.types.is_date(field.type):
            names += ["DELTA_BINARY_PACKED"]
        if pa.types.is_string(field.type) or pa.types.is_binary(field.type):
            names += ["DELTA_LENGTH_BYTE_ARRAY", "DELTA_BYTE_ARRAY"]
        if pa.types.is_floating(field.type):
            names += ["BYTE_STREAM_SPLIT"]
        chosen[field.name] = str(rng.choice(names))
    return chosen


def by_duckdb(data, path, codec, rng):
    connection = duckdb.connect()
    connection.register("data", data)
    version = rng.choice(["V1", "V2"])
    connection.execute(f"COPY data TO '{path}' (FORMAT parquet, COMPRESSION {codec}, PARQUET_VERSION {version}, "
                       f"ROW_GROUP_SIZE {int(rng.choice([2048, 122880]))}, FIELD_IDS {{{', '.join(duckdb_ids(data.schema))}}})")


def duckdb_ids(schema):
    return [f"{field.name}: {i + 1}" for i, field in enumerate(schema)]


def by_polars(data, path, codec, rng):
    import polars
    polars.from_arrow(data).write_parquet(path, compression=codec, statistics=bool(rng.random() < 0.8),
                                          row_group_size=int(rng.choice([700, 1 << 20])),
                                          data_page_size=int(rng.choice([1 << 10, 1 << 20])))


def write_arrow_rs(data, path, **options):
    """The Parquet writer of arrow-rs, through DataFusion, whose defaults are those of the other `options`."""
    import datafusion
    datafusion.SessionContext().from_arrow(data).write_parquet_with_options(str(path), datafusion.ParquetWriterOptions(**options))


def by_arrow_rs(data, path, codec, rng):
    names = {"zstd": "zstd(3)", "snappy": "snappy", "gzip": "gzip(6)", "uncompressed": "uncompressed"}
    write_arrow_rs(
        data, path, compression=names[codec], dictionary_enabled=bool(rng.random() < 0.6), writer_version=str(rng.choice(["1.0", "2.0"])),
        data_page_row_count_limit=int(rng.choice([100, 20000])), max_row_group_size=int(rng.choice([700, 1 << 20])),
        statistics_enabled=str(rng.choice(["none", "chunk", "page"])), bloom_filter_on_write=bool(rng.random() < 0.3))


def write_arrow_go(program, data, path, **options):
    source = f"{path}.arrow"
    with pa.OSFile(source, "wb") as sink, pa.ipc.new_file(sink, data.schema) as writer:
        writer.write_table(data)
    subprocess.run([program, source, str(path), json.dumps(options)], check=True, capture_output=True)
    os.unlink(source)


def by_go(program, data, path, codec, rng):
    write_arrow_go(program, data, path, codec=codec, dictionary=bool(rng.random() < 0.6), v2=bool(rng.random() < 0.5),
                   page=int(rng.choice([1 << 10, 1 << 20])), rows=int(rng.choice([700, 1 << 20])))


def by_parquet_mr(data, path, codec, rng, shape=None):
    parquet_mr().write(data, path, codec, rng, shape)


class Programs:
    """What writes inputs and reads outputs; `go`: a program's path; `spark`: whether Spark takes part."""

    def __init__(self, go=None, spark=False):
        self.writers, self.readers = dict(writers(go)), dict(READERS)
        self.unread = collections.Counter()  # by reader: outputs that it refused as it refused an input
        if spark:
            session = Spark()
            self.writers["spark"], self.readers["spark"] = session.write, session.read


def writers(go=None):
    found = {"arrow": by_arrow, "duckdb": by_duckdb, "polars": by_polars, "arrow-rs": by_arrow_rs}
    if usable():
        found["parquet-mr"] = by_parquet_mr
    if go:
        found["arrow-go"] = lambda *arguments: by_go(go, *arguments)
    return found


def read_arrow(path):
    return pq.read_table(path)


def read_duckdb(path):
    # The connection has to outlive the reader: batches of a closed one are freed memory.
    with duckdb.connect() as connection:
        return connection.execute(f"SELECT * FROM read_parquet('{path}')").to_arrow_table()


def read_polars(path):
    import polars
    return polars.read_parquet(path, use_pyarrow=False).to_arrow()


def read_arrow_rs(path):
    import datafusion
    # With statistics it gives a column whose bounds are equal that value everywhere, also where there are NaNs.
    config = datafusion.SessionConfig().with_target_partitions(1).set("datafusion.execution.collect_statistics", "false")
    context = datafusion.SessionContext(config)
    frame = context.read_parquet(str(path))
    batches = frame.collect()
    return pa.Table.from_batches(batches) if batches else frame.schema().empty_table()


def read_parquet_mr(path):
    return parquet_mr().read(path)


READERS = {"arrow": read_arrow, "duckdb": read_duckdb, "polars": read_polars, "arrow-rs": read_arrow_rs}
if usable():
    READERS["parquet-mr"] = read_parquet_mr
