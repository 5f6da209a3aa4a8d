# SPDX-License-Identifier: Apache-2.0
"""The SQL catalog on a real PostgreSQL, shared with PyIceberg, with and without faults around COMMIT."""

import os
import shutil
import subprocess
import tempfile

import pyarrow as pa
import pytest

from tests.services.postgres import PASSWORD, Postgres
from tests.services.postgres_proxy import PostgresProxy

from .conftest import BINARY
from .rows import by_pyiceberg
from .shared_table import check_rows, make_table, race, replaces

psycopg2 = pytest.importorskip("psycopg2", reason="psycopg2-binary is not installed")


@pytest.fixture(scope="module")
def server():
    # Not below pytest's folder: another user's server cannot enter it.
    folder = tempfile.mkdtemp(prefix="firn-postgres-")
    os.chmod(folder, 0o755)
    made = None
    try:
        made = Postgres(folder + "/server")
        made.start()
    except RuntimeError as error:
        if made:
            made.stop()
        pytest.skip(f"no PostgreSQL server: {error}")
    yield made
    made.stop()
    shutil.rmtree(folder, ignore_errors=True)


def catalog_of(uri, folder):
    from pyiceberg.catalog.sql import SqlCatalog
    return SqlCatalog("lake", uri=uri.replace("postgresql:", "postgresql+psycopg2:"), warehouse=f"file://{folder}/warehouse")


def make_catalog_and_table(server, folder, appends=6):
    catalog = catalog_of(server.uri, folder)
    return catalog, make_table(catalog, appends)


def environment_of(uri, **more):
    return dict(os.environ, PYICEBERG_CATALOG__LAKE__URI=uri, **more)


def optimize(uri, name, **more):
    return subprocess.run([BINARY, "optimize", f"lake.{name}", "--quiet"], capture_output=True, text=True,
                          env=environment_of(uri, **more), timeout=300)


def uris(server):
    jdbc = f"jdbc:postgresql://127.0.0.1:{server.port}/lake"
    return {"plain": (server.uri, {}), "psycopg2": (server.uri_at(server.port, "postgresql+psycopg2"), {}),
            "jdbc": (jdbc, {"PYICEBERG_CATALOG__LAKE__JDBC__USER": "firn", "PYICEBERG_CATALOG__LAKE__JDBC__PASSWORD": PASSWORD,
                            "PYICEBERG_CATALOG__LAKE__TYPE": "jdbc"})}


@pytest.mark.parametrize("kind", ["plain", "psycopg2", "jdbc"])
def test_optimize_tableOfPyIceberg_keepsRows(server, tmp_path, kind):
    catalog, name = make_catalog_and_table(server, tmp_path)
    rows = by_pyiceberg(catalog.load_table(name))
    before = catalog.load_table(name).metadata_location
    uri, more = uris(server)[kind]
    done = optimize(uri, name, **more)
    assert done.returncode == 0, done.stderr
    table = check_rows(catalog, name, rows)
    assert len(table.inspect.files()) == 1
    previous = server.sql("lake", "SELECT previous_metadata_location FROM iceberg_tables WHERE table_namespace = "
                          f"'{name.split('.')[0]}'").strip()
    assert previous == before
    # And PyIceberg goes on from there.
    table.append(pa.table({"id": [1000], "text": ["y"]}))
    assert sum(by_pyiceberg(catalog.load_table(name)).values()) == sum(rows.values()) + 1


def test_wrongPassword_isSaidWithoutIt(server, tmp_path):
    _, name = make_catalog_and_table(server, tmp_path, appends=1)
    done = optimize(server.uri.replace("p%2Fw", "hunter2"), name)
    assert done.returncode == 2, done.stderr
    assert "authentication failed" in done.stderr and "hunter2" not in done.stderr


# Fault of the first COMMIT, exit code, replace snapshots of the table after it.
@pytest.mark.parametrize("fault", ["pass", "cut_before", "cut_after", "late:1"])
def test_connectionLostAtCommit_isSettledByTheDatabase(server, tmp_path, fault):
    catalog, name = make_catalog_and_table(server, tmp_path)
    rows = by_pyiceberg(catalog.load_table(name))
    with PostgresProxy(server.port, [fault]) as proxy:
        done = optimize(server.uri_at(proxy.port), name)
        assert proxy.taken and proxy.taken[0] == fault
    # The commit counts once, whether the first one arrived or a second one was made.
    assert done.returncode == 0, done.stderr
    table = check_rows(catalog, name, rows)
    assert len(replaces(table)) == 1
    assert len(table.inspect.files()) == 1


def test_appendersAgainstOptimizers_nothingLostOrDoubled(server, tmp_path):
    race(catalog_of, (server.uri, str(tmp_path)), environment_of(server.uri), writers=5, appends=6)


def test_serverStartedAgain_theNextRunWorks(server, tmp_path):
    catalog, name = make_catalog_and_table(server, tmp_path)
    rows = by_pyiceberg(catalog.load_table(name))
    server.stop()
    down = optimize(server.uri, name)
    assert down.returncode == 8, f"{down.returncode} {down.stderr}"
    server.launch()
    done = optimize(server.uri, name)
    assert done.returncode == 0, done.stderr
    catalog = catalog_of(server.uri, tmp_path)
    assert len(check_rows(catalog, name, rows).inspect.files()) == 1
