# SPDX-License-Identifier: Apache-2.0
"""A lake in which firn can be started and stopped in the middle."""

import subprocess

from pyiceberg.schema import Schema
from pyiceberg.types import LongType, NestedField, StringType

from tests.interop.conftest import BINARY, Lake
from tests.interop.rows import by_duckdb

from . import plain_reader
from .plain_writer import upgrade_to_v3
from .schedule import CAT, KEY, TEXT, UID, Schedule

COLUMNS = Schema(NestedField(UID, "uid", LongType()), NestedField(KEY, "key", LongType()),
                 NestedField(CAT, "cat", StringType()), NestedField(TEXT, "text", StringType()))


class ScheduledLake(Lake):
    def start(self, *arguments):
        return subprocess.Popen([BINARY, *arguments, "--quiet"], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
                                env=self.environment)

    def schedule(self, seed, version, steps, commands):
        """Runs one schedule on a table of its own."""
        name = f"db.t{seed}_v{version}"
        self.catalog.create_table(name, COLUMNS, properties={"format-version": "2"})
        schedule = Schedule(self, name, version, seed)
        if version == 3:
            upgrade_to_v3(schedule.table, schedule.rng)
        schedule.run(steps, commands)
        self.compare_with_duckdb(schedule)
        return schedule

    def compare_with_duckdb(self, schedule):
        """Another reader of main's rows, by all columns.

        DuckDB 1.5 fails or errs on equality deletes of null, and applies those of one partition to all of them.
        """
        equality = schedule.counts["upsert"] + schedule.counts["delete_keys"]
        if equality and (schedule.has_nulls or schedule.counts["change_spec"]):
            return
        location, metadata = schedule.table.current()
        if not schedule.rows or not self.load(schedule.name).current_snapshot():
            return
        schema = next(s for s in metadata["schemas"] if s["schema-id"] == metadata["current-schema-id"])
        expected = [{f["name"]: row.get(f["id"]) for f in schema["fields"]} for row in schedule.rows.values()]
        found = by_duckdb(location)
        assert found == plain_rows(expected), schedule.told("DuckDB sees other rows")
        plain_reader.avro.cache_clear()


def plain_rows(rows):
    import pyarrow as pa

    from tests.interop.rows import multiset
    return multiset(pa.Table.from_pylist(rows))
