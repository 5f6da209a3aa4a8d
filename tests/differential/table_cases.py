# SPDX-License-Identifier: Apache-2.0
"""One random case from its seed: files of several writers in an Iceberg table, some with the types that its columns had
before, or without a column, or with deleted rows; merged by `firn optimize`, decoded by all readers.
"""

import json
import os
import subprocess

import numpy as np
import pyarrow as pa
from pyiceberg import types
from pyiceberg.catalog.sql import SqlCatalog
from pyiceberg.io.pyarrow import schema_to_pyarrow
from pyiceberg.manifest import DataFile, DataFileContent, FileFormat
from pyiceberg.schema import Schema
from pyiceberg.table.name_mapping import create_mapping_from_schema
from pyiceberg.typedef import Record

from tests.interop.deletes import Deleter

from . import levels, steps, tables
from .cases import BINARY, REFUSED, Wrong, check_output, random_codecs, random_columns
from .parquet_mr import random_shape

NAME = "db.t"
STRIDE = 1 << 20  # c0 of a file's rows begins with a multiple of it
ICEBERG = {"int32": types.IntegerType(), "int64": types.LongType(), "float": types.FloatType(), "double": types.DoubleType(),
           "bool": types.BooleanType(), "string": types.StringType(), "binary": types.BinaryType(), "date32": types.DateType(),
           "decimal": types.DecimalType(12, 2), "small decimal": types.DecimalType(9, 2), "timestamp": types.TimestamptzType()}
# What a column may have been when a file was written.
EARLIER = {"int64": "int32", "double": "float", "decimal": "small decimal"}


class Lake:
    """As the Deleter wants it."""

    def __init__(self, folder):
        self.uri, self.warehouse = f"sqlite:///{folder}/catalog.db", f"file://{folder}/warehouse"
        self.catalog = SqlCatalog("lake", uri=self.uri, warehouse=self.warehouse)
        self.catalog.create_namespace("db")
        self.folder = folder

    def load(self, name):
        return self.catalog.load_table(name)

    def firn(self, *arguments):
        environment = dict(os.environ, PYICEBERG_CATALOG__LAKE__URI=self.uri, PYICEBERG_CATALOG__LAKE__TYPE="sql",
                           PYICEBERG_CATALOG__LAKE__WAREHOUSE=self.warehouse, HOME=str(self.folder))
        return subprocess.run([BINARY, *map(str, arguments)], capture_output=True, text=True, errors="replace",
                              env=environment, timeout=200)


def field_type(kind, number):
    if kind.startswith("list<"):
        return types.ListType(1000 + number, ICEBERG[kind[5:-1]], False)
    if kind == "struct":
        return types.StructType(types.NestedField(1000 + number, "a", types.LongType()),
                                types.NestedField(2000 + number, "b", types.StringType()))
    return ICEBERG[kind]


def create(lake, kinds, rng):
    schema = Schema(*(types.NestedField(i + 1, f"c{i}", field_type(kind, i)) for i, kind in enumerate(kinds)))
    codec = str(rng.choice(["zstd", "snappy"]))
    properties = {"format-version": "2", "write.parquet.compression-codec": codec, "firn.healthy-fraction": "1",
                  "firn.delete-file-threshold": "1"}
    if rng.random() < 0.3:
        properties["write.parquet.page-row-limit"] = str(rng.choice([64, 1000]))
    if rng.random() < 0.3:
        properties[f"write.parquet.bloom-filter-enabled.column.c{rng.integers(len(kinds))}"] = "true"
    table = lake.catalog.create_table(NAME, schema, properties=properties)
    with table.transaction() as transaction:
        mapping = create_mapping_from_schema(table.schema())  # whose ids are others than those that were asked for
        transaction.set_properties({"schema.name-mapping.default": mapping.model_dump_json()})
    return lake.load(NAME)


def random_rows(kinds, first, rng, full_lists):
    """(table, kinds as the file has them): c0 counts on from `first`."""
    rows, earlier, dropped = int(rng.choice([1, 50, 900, 5000])), rng.random() < 0.4, rng.random() < 0.2
    had = [EARLIER.get(kind, kind) if earlier and i > 0 else kind for i, kind in enumerate(kinds)]
    data = tables.table(had, rows, rng, rng.random() < 0.3, full_lists)
    data = data.set_column(0, "c0", pa.array(range(first, first + rows), pa.int64()))
    return data.drop_columns([f"c{len(kinds) - 1}"]) if dropped and len(kinds) > 2 else data


def with_ids(data, wanted):
    """The same columns with the table's field ids, also of what is in lists and structs."""
    fields = []
    for name in data.column_names:
        field, own = wanted.field(name), data.schema.field(name)
        fields.append(pa.field(name, typed(field.type, own.type), own.nullable, field.metadata))
    return data.cast(pa.schema(fields))


def typed(wanted, own):
    """`own` with the ids of what is inside of `wanted`."""
    if pa.types.is_struct(own):
        return pa.struct([pa.field(f.name, own.field(f.name).type, f.nullable, f.metadata) for f in wanted])
    if pa.types.is_list(own):
        return pa.list_(pa.field("element", own.value_type, True, wanted.value_field.metadata))
    return own


def add_file(table, path, rows):
    entry = DataFile.from_args(content=DataFileContent.DATA, file_path=f"file://{path}", file_format=FileFormat.PARQUET,
                               partition=Record(), record_count=rows, file_size_in_bytes=os.path.getsize(path),
                               column_sizes={}, value_counts={}, null_value_counts={}, nan_value_counts={}, lower_bounds={},
                               upper_bounds={}, split_offsets=None, equality_ids=None, sort_order_id=None, spec_id=0)
    with table.transaction() as transaction, transaction.update_snapshot().fast_append() as append:
        append.append_data_file(entry)


def as_table(part, wanted):
    """A file's rows as rows of the table: promoted, missing columns null."""
    columns = []
    for field in wanted:
        missing = field.name not in part.column_names
        columns.append(pa.nulls(part.num_rows, field.type) if missing else part[field.name].cast(field.type))
    return pa.table(columns, schema=wanted)


def fill(lake, kinds, programs, rng):
    """(rows of the table by file, the writers' names)."""
    table, plain = lake.load(NAME), tables.plain_schema(kinds)
    wanted, parts, codecs = schema_to_pyarrow(table.schema()), {}, random_codecs(rng)
    # Polars and Spark write no field ids: the table's name mapping has them. DuckDB writes none inside of lists and structs.
    allowed = [name for name in programs.writers if name != "duckdb" or not set(kinds) & set(tables.NESTED)]
    names = [str(n) for n in rng.choice(allowed, int(rng.integers(1, 4)))]
    folder, first = lake.folder / "warehouse/db/t/data", 0
    folder.mkdir(parents=True, exist_ok=True)
    for k in range(int(rng.integers(3, 8))):
        name, path = names[k % len(names)], folder / f"{k}.parquet"
        steps.begin(lake.folder, f"{name} writes {path.name}")
        shape = random_shape(rng) if name in ("parquet-mr", "spark") else None
        data = with_ids(random_rows(kinds, first, rng, bool(shape)), wanted)
        programs.writers[name](data, path, str(rng.choice(codecs)), rng, *([shape] if shape else []))
        parts[path] = as_table(tables.read_arrow(path), plain)
        if rng.random() < 0.1:
            levels.with_bit_packed_levels(path)
        add_file(lake.load(NAME), path, data.num_rows)
        first += STRIDE
    return parts, sorted(set(names))


def delete_some(lake, parts, rng):
    """Deletes rows of some files by position, as delete files or vectors; returns what is left, in one table."""
    files = {task.file.file_path.removeprefix("file://"): task.file for task in lake.load(NAME).scan().plan_files()}
    chosen, left = [], []
    for path, rows in parts.items():
        gone = set()
        if rng.random() < 0.7:
            count, start = rows.num_rows, int(rng.integers(rows.num_rows))
            share = float(rng.choice([0.01, 0.3, 0.9, 1.0]))
            gone = {int(n) for n in np.flatnonzero(rng.random(count) < share)}
            if rng.random() < 0.5:
                gone |= set(range(start, min(count, start + int(rng.choice([1, 700])))))
            gone = set(sorted(gone)[:4000])  # as many as the Deleter's vectors take
        if gone:
            chosen.append((files[str(path)], sorted(gone)))
        left.append(rows.filter(pa.array([n not in gone for n in range(rows.num_rows)], pa.bool_())))
    if chosen:
        deleter = Deleter(lake, NAME)
        deleter.by_vector(chosen) if rng.random() < 0.5 else deleter.by_position(chosen)
    return pa.concat_tables(left)


def table_case(seed, folder, programs, efforts):
    """(tiers of the outcome, names of the writers), or (None, a refusal's text)."""
    rng = np.random.default_rng([seed, 1])
    kinds, lake = ["int64", *random_columns(rng)], Lake(folder)
    create(lake, kinds, rng)
    parts, names = fill(lake, kinds, programs, rng)
    expected = delete_some(lake, parts, rng) if rng.random() < 0.8 else pa.concat_tables(parts.values())
    effort = str(rng.choice(efforts))
    done = lake.firn("optimize", f"lake.{NAME}", "--json", "--min-input-files", 2, "--effort", effort)
    if done.returncode == REFUSED:
        return None, done.stderr.strip().splitlines()[-1][:120]
    if done.returncode:
        raise Wrong(f"exit {done.returncode}: {done.stderr[-600:]}")
    outcome = json.loads(done.stdout).get("outcome", {"failures": [], "tiers": {}})  # absent: no merge pays
    if outcome["failures"]:
        raise Wrong(f"failures: {outcome['failures']}")
    compare(lake, folder, programs, expected, {str(path): rows for path, rows in parts.items()})
    tiers = {tier: count["chunks"] for tier, count in outcome["tiers"].items()}
    return tiers, "+".join(names) if tiers else "left as it is"


def compare(lake, folder, programs, expected, inputs):
    """Every new file of the table by every reader, its rows against those that were written."""
    tasks = list(lake.load(NAME).scan().plan_files())
    paths = [task.file.file_path.removeprefix("file://") for task in tasks]
    if any(task.delete_files for task in tasks):
        raise Wrong(f"deletes are left: {paths}")
    keys = expected["c0"].to_pylist()
    row_of, seen = {key: row for row, key in enumerate(keys)}, []
    for path in paths:
        if path in inputs:
            seen += [row_of.get(key) for key in inputs[path]["c0"].to_pylist()]
            continue
        found = tables.read_arrow(path)["c0"].to_pylist()
        unknown = [key for key in found if key not in row_of]
        if unknown:
            raise Wrong(f"{path}: rows that are deleted or were never there: {unknown[:5]}")
        rows = [row_of[key] for key in found]
        seen += rows
        if len(set(rows)) < len(rows) or any(a // STRIDE == b // STRIDE and a > b for a, b in zip(found, found[1:])):
            raise Wrong(f"{path}: rows are not in their order")
        steps.begin(folder, f"readers read {path}")
        check_output(programs, folder / path, expected.take(pa.array(rows, pa.int64())), inputs)
    if len(seen) != len(keys) or set(seen) != set(range(len(keys))):
        raise Wrong(f"{len(keys)} rows were to stay, {len(seen)} are there")
