# SPDX-License-Identifier: Apache-2.0
"""A lake in which firn can be started and stopped in the middle."""

import subprocess

import pyarrow as pa
from pyiceberg.schema import Schema
from pyiceberg.table import StaticTable
from pyiceberg.types import LongType, NestedField, StringType

from tests.interop.conftest import BINARY, Lake
from tests.interop.rows import by_duckdb, by_pyiceberg, multiset

from . import plain_reader
from .plain_reader import EQUALITY_DELETES
from .plain_writer import upgrade_to_v3
from .schedule import CAT, KEY, TEXT, UID, Schedule

COLUMNS = Schema(NestedField(UID, "uid", LongType()), NestedField(KEY, "key", LongType()),
                 NestedField(CAT, "cat", StringType()), NestedField(TEXT, "text", StringType()))


class ScheduledLake(Lake):
    def start(self, *arguments):
        return subprocess.Popen([BINARY, *arguments, "--quiet"], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
                                env=self.environment)

    def schedule(self, seed, version, steps, commands, judge=None):
        """Runs one schedule on a table of its own; other readers look at it before and after the last runs of firn.

        `judge`, if given, is called with the metadata file and what each ref must hold after every commit.
        """
        name = f"db.t{seed}_v{version}"
        self.catalog.create_table(name, COLUMNS, properties={"format-version": "2"})
        schedule = Schedule(self, name, version, seed, judge)
        if version == 3:
            upgrade_to_v3(schedule.table, schedule.rng)
        schedule.run(steps, commands)
        self.compare_with_others(schedule)
        for command in commands:
            schedule.firn([command])
        self.compare_with_others(schedule)
        plain_reader.forget()
        return schedule

    def compare_with_others(self, schedule):
        """The rows of every ref, all columns, by PyIceberg where it can read them, else by DuckDB where that is right.

        PyIceberg refuses equality deletes. DuckDB 1.5 errs on those of null, applies those of one partition to all, and has
        been seen to show rows that a deletion vector of a shared Puffin file hides.
        """
        location, metadata = schedule.table.current()
        if metadata.get("current-snapshot-id") in (None, -1):
            return
        for name, rows in {"main": schedule.rows, **schedule.refs}.items():
            snapshot_id = metadata["refs"][name]["snapshot-id"]
            snapshot = next(s for s in metadata["snapshots"] if s["snapshot-id"] == snapshot_id)
            chosen = metadata["current-schema-id"] if name == "main" else snapshot["schema-id"]
            fields = next(s["fields"] for s in metadata["schemas"] if s["schema-id"] == chosen)
            expected = multiset(pa.Table.from_pylist(
                [{f["name"]: row.get(f["id"], f.get("initial-default")) for f in fields} for row in rows.values()]))
            live = plain_reader.entries(metadata, snapshot)
            equality = any(e.content == EQUALITY_DELETES for e in live)
            beyond_duckdb = any(e.file["file_format"] == "PUFFIN" for e in live) or (
                equality and (schedule.has_nulls or len(metadata["partition-specs"]) > 1))
            if not equality:
                found = by_pyiceberg(StaticTable.from_metadata(location), None if name == "main" else snapshot_id)
                assert found == expected, schedule.told(f"{name}: PyIceberg sees other rows")
                schedule.counts["read by PyIceberg"] += 1
            if not beyond_duckdb and name == "main":
                assert by_duckdb(location) == expected, schedule.told("DuckDB sees other rows")
                schedule.counts["read by DuckDB"] += 1
            schedule.counts["read by the plain reader alone"] += equality and (beyond_duckdb or name != "main")
