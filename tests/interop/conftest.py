# SPDX-License-Identifier: Apache-2.0
"""A catalog that PyIceberg and firn share, and a way to run firn on it."""

import json
import os
import subprocess

import pytest
from pyiceberg.catalog.sql import SqlCatalog

from tests.program import BINARY

from .rows import by_duckdb, by_pyiceberg

class Lake:
    """A SQLite catalog with a local warehouse; `firn` works on the same catalog through PyIceberg's variables."""

    def __init__(self, folder):
        self.folder = folder
        self.uri = f"sqlite:///{folder}/catalog.db"
        self.catalog = SqlCatalog("lake", uri=self.uri, warehouse=f"file://{folder}/warehouse")
        self.catalog.create_namespace("db")
        self.environment = dict(os.environ, PYICEBERG_CATALOG__LAKE__URI=self.uri, PYICEBERG_CATALOG__LAKE__TYPE="sql",
                                PYICEBERG_CATALOG__LAKE__WAREHOUSE=f"file://{folder}/warehouse", HOME=str(folder))

    def firn_any(self, *arguments):
        return subprocess.run([BINARY, *map(str, arguments)], capture_output=True, text=True, errors="replace",
                              env=self.environment, timeout=300)

    def firn(self, *arguments, expect=0):
        done = self.firn_any(*arguments)
        assert done.returncode == expect, f"exit {done.returncode}\n{done.stdout}\n{done.stderr}"
        return done

    def firn_json(self, command, table, *arguments, expect=0):
        return json.loads(self.firn(command, f"lake.{table}", "--json", *arguments, expect=expect).stdout)

    def load(self, name):
        return self.catalog.load_table(name)

    def files(self, name):
        """Live data files, as PyIceberg plans a full scan."""
        return [task.file for task in self.load(name).scan().plan_files()]

    def rows(self, name, snapshot_id=None):
        """Rows on which PyIceberg and DuckDB agree."""
        table = self.load(name)
        first = by_pyiceberg(table, snapshot_id)
        second = by_duckdb(table.metadata_location, snapshot_id)
        assert first == second, f"readers disagree: {sum(first.values())} and {sum(second.values())} rows"
        return first


@pytest.fixture
def lake(tmp_path):
    return Lake(tmp_path)
