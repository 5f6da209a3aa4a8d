# SPDX-License-Identifier: Apache-2.0
"""Tables in Google Cloud Storage and in Azure's storage, as emulators have them, catalog in SQLite.

PyIceberg writes through gcsfs and adlfs, which share no code with firn's clients; firn merges; PyIceberg reads again, and
DuckDB what gcsfs and adlfs copy to this machine.
"""

import os
import random
import time

import pyarrow as pa
import pytest
from pyiceberg.catalog.sql import SqlCatalog
from pyiceberg.table import StaticTable

from tests.services import azure, gcs
from tests.services.local_http import HttpProxy
from tests.services.slow_wire import SlowWire
from tests.services.warehouses import Warehouses

from .conftest import Lake
from .rows import by_pyiceberg, multiset, shared_duckdb
from .test_warehouses import run

ENV = os.environ.get
# gcsfs asks Google's own servers whether a token holds, and what kind of bucket it is.
os.environ.update(FETCH_RAW_TOKEN_EXPIRY="false", GCSFS_EXPERIMENTAL_ZB_HNS_SUPPORT="false")
SCHEMA = pa.schema([("id", pa.int64()), ("a b", pa.string()), ("part", pa.string())])
PARTS = ["a b", "50%", "x%2Fy", "é漢"]


class Gcs:
    properties = {"gcs.service.host": ENV("FIRN_TEST_GCS_ENDPOINT"), "gcs.oauth2.token": ENV("FIRN_TEST_GCS_TOKEN"),
                  "gcs.project-id": "test"}
    wrong = {"gcs.oauth2.token": "of-somebody-else"}
    warehouse = f"gs://{ENV('FIRN_TEST_GCS_BUCKET')}"

    @staticmethod
    def files():
        import gcsfs
        return gcsfs.GCSFileSystem(project="test", token=ENV("FIRN_TEST_GCS_TOKEN"), endpoint_url=ENV("FIRN_TEST_GCS_ENDPOINT"))


class Azure:
    properties = {"adls.connection-string": ENV("FIRN_TEST_AZURE_CONNECTION_STRING")}
    host = f"{ENV('FIRN_TEST_AZURE_ACCOUNT')}.dfs.core.windows.net"
    warehouse = f"abfss://{ENV('FIRN_TEST_AZURE_CONTAINER')}@{host}"

    @staticmethod
    def files():
        import adlfs
        return adlfs.AzureBlobFileSystem(connection_string=ENV("FIRN_TEST_AZURE_CONNECTION_STRING"))


CLOUDS = [pytest.param(Gcs, marks=pytest.mark.skipif(not ENV("FIRN_TEST_GCS_ENDPOINT"), reason="no emulator of GCS")),
          pytest.param(Azure, marks=pytest.mark.skipif(not ENV("FIRN_TEST_AZURE_AUTHORITY"), reason="no emulator of ADLS"))]


class CloudLake(Lake):
    """The catalog is a file, the warehouse is in a bucket of its own name."""

    def __init__(self, folder, cloud):
        super().__init__(folder)
        self.warehouse = f"{cloud.warehouse}/ware house {random.randrange(10**9)}"
        self.catalog = SqlCatalog("lake", uri=self.uri, warehouse=self.warehouse, **cloud.properties,
                                  **{"py-io-impl": "pyiceberg.io.fsspec.FsspecFileIO"})
        self.files_there = cloud.files()
        self.environment["PYICEBERG_CATALOG__LAKE__WAREHOUSE"] = self.warehouse
        self.configure(cloud.properties)

    def configure(self, properties):
        for key, value in properties.items():
            name = key.upper().replace(".", "__").replace("-", "_")
            self.environment[f"PYICEBERG_CATALOG__LAKE__{name}"] = value

    def fill(self, name, appends=6):
        """Small files in each of four partitions, whose names have to be encoded."""
        table = self.catalog.create_table(name, schema=SCHEMA)
        with table.update_spec() as spec:
            spec.add_identity("part")
        for append in range(appends):
            ids = range(append * 12, append * 12 + 12)
            table.append(pa.table({"id": ids, "a b": [f"x{append}"] * 12, "part": PARTS * 3}, schema=SCHEMA))
        return table

    def by_duckdb(self, table):
        """Data files as gcsfs and adlfs copy them; DuckDB decodes them without the catalog."""
        folder = self.folder / f"copy-{random.randrange(10**9)}"
        folder.mkdir()
        for i, path in enumerate(task.file.file_path for task in table.scan().plan_files()):
            self.files_there.get_file(path, str(folder / f"{i}.parquet"))
        with shared_duckdb(os.getpid()).cursor() as connection:
            return multiset(connection.sql(f"SELECT * FROM read_parquet('{folder}/*.parquet', hive_partitioning=false)").to_arrow_table())

    def names(self):
        self.files_there.invalidate_cache()
        return sorted(self.files_there.find(self.warehouse))


@pytest.fixture(params=CLOUDS)
def cloud(request):
    return request.param


def test_optimize_keepsRowsForOthers(tmp_path, cloud):
    lake = CloudLake(tmp_path, cloud)
    table = lake.fill("db.t")
    before = by_pyiceberg(table)
    assert len(list(table.scan().plan_files())) == 6 * len(PARTS)
    outcome = lake.firn_json("optimize", "db.t")
    table = lake.load("db.t")
    assert by_pyiceberg(table) == before == lake.by_duckdb(table), outcome
    assert table.metadata_location.startswith(lake.warehouse)
    known = {task.file.file_path for task in table.scan().plan_files()}
    assert len(known) == len(PARTS)
    assert all(path.startswith(lake.warehouse) for path in known)
    empty = [name for name in lake.names() if lake.files_there.size(name) == 0]
    assert not empty, "no file of directories, none that was begun and left"


def test_optimize_twice_theSecondWritesNothing(tmp_path, cloud):
    lake = CloudLake(tmp_path, cloud)
    lake.fill("db.t")
    lake.firn("optimize", "lake.db.t", "--quiet")
    names = lake.names()
    lake.firn("optimize", "lake.db.t", "--quiet")
    assert lake.names() == names, "there is nothing left to do, and nothing is written"


def test_wrongCredentials_areRefusedWithoutShowingThem(tmp_path, cloud):
    lake = CloudLake(tmp_path, cloud)
    lake.fill("db.t")
    names = lake.names()
    wrong = getattr(cloud, "wrong", None) or {
        "adls.connection-string": cloud.properties["adls.connection-string"].replace(ENV("FIRN_TEST_AZURE_KEY"), "d3Jvbmc=")}
    lake.configure(wrong)
    begun = time.time()
    done = lake.firn_any("optimize", "lake.db.t", "--quiet")
    assert done.returncode != 0
    assert time.time() - begun < 30
    for secret in ("of-somebody-else", "d3Jvbmc="):
        assert secret not in done.stderr + done.stdout
    assert lake.names() == names


class Directory(CloudLake):
    """A table that is a directory with one version, without a catalog."""

    def __init__(self, folder, cloud):
        super().__init__(folder, cloud)
        self.cloud = cloud
        table = self.fill("db.t")
        self.rows = by_pyiceberg(table)
        self.location = table.location()
        self.metadata = f"{self.location}/metadata"
        self.files_there.copy(table.metadata_location, f"{self.metadata}/v1.metadata.json")
        for name in self.files_there.find(self.metadata):
            if name.endswith(".metadata.json") and not name.endswith("v1.metadata.json"):
                self.files_there.rm(name)
        self.environment = {k: v for k, v in self.environment.items() if not k.startswith("PYICEBERG_")}

    def optimize(self, server=None):
        """Through variables that the clouds' own clients know."""
        flags = []
        if self.cloud is Gcs:
            self.environment["STORAGE_EMULATOR_HOST"] = server or ENV("FIRN_TEST_GCS_ENDPOINT")
            flags = ["--property", f"gcs.oauth2.token={ENV('FIRN_TEST_GCS_TOKEN')}"]
        elif server:
            self.environment["AZURE_STORAGE_CONNECTION_STRING"] = (
                f"AccountName={azure.ACCOUNT};BlobEndpoint={server}/{azure.ACCOUNT};SharedAccessSignature={azure.account_sas()}")
        else:
            self.environment["AZURE_STORAGE_CONNECTION_STRING"] = ENV("FIRN_TEST_AZURE_CONNECTION_STRING")
        return self.firn_any("optimize", self.location, "--quiet", *flags)

    def version(self, number):
        self.files_there.invalidate_cache()
        return StaticTable.from_metadata(f"{self.metadata}/v{number}.metadata.json", {
            **self.cloud.properties, "py-io-impl": "pyiceberg.io.fsspec.FsspecFileIO"})


class WithoutConditions(HttpProxy):
    """In front of a store that does not look at conditions."""

    def handle(self, handler):
        headers = {k: v for k, v in handler.headers.items() if k.lower() != "if-none-match"}
        path = handler.path.replace("&ifGenerationMatch=0", "")
        self.reply(handler, *self.forward(handler.command, path, headers, self.body_of(handler)))


def test_directoryTable_makesTheNextVersion(tmp_path, cloud):
    table = Directory(tmp_path, cloud)
    done = table.optimize()
    assert done.returncode == 0, done.stderr
    version = table.version(2)
    assert by_pyiceberg(version) == table.rows
    assert len(list(version.scan().plan_files())) == len(PARTS)
    assert not [name for name in table.names() if "probe" in name]
    assert table.files_there.cat_file(f"{table.metadata}/version-hint.text") == b"2"


def test_directoryTable_storeIgnoresConditions_isRefusedAndNothingChanges(tmp_path, cloud):
    table = Directory(tmp_path, cloud)
    names = table.names()
    with WithoutConditions(ENV("FIRN_TEST_GCS_ENDPOINT") if cloud is Gcs else f"http://{ENV('FIRN_TEST_AZURE_AUTHORITY')}") as proxy:
        done = table.optimize(proxy.url)
    assert done.returncode != 0
    assert "does not honour conditional writes" in done.stderr, done.stderr
    assert table.names() == names
    assert by_pyiceberg(table.version(1)) == table.rows


class EndingTokens(gcs.Gcs):
    """GCS that takes a token until its time is over. `vend` makes them for a catalog."""

    def __init__(self, folder, seconds):
        super().__init__(folder)
        self.seconds = seconds
        self.ends = []

    def handle(self, handler):
        # A little longer than it is said to hold, for what is on its way on a busy machine.
        self.tokens = {gcs.TOKEN} | {f"vended-{i}" for i, end in enumerate(self.ends) if end + 4 > time.time()}
        super().handle(handler)

    def vend(self):
        self.ends.append(time.time() + self.seconds)
        return {"gcs.oauth2.token": f"vended-{len(self.ends) - 1}",
                "gcs.oauth2.token-expires-at": str(int(self.ends[-1] * 1000))}


class EndingSignatures(azure.Azure):
    """Azurite looks at the end of a signature itself."""

    def __init__(self, folder, seconds):
        super().__init__(folder)
        self.seconds = seconds
        self.ends = []
        self.host = f"{azure.ACCOUNT}.dfs.core.windows.net"

    def vend(self):
        self.ends.append(time.time() + self.seconds)
        return {f"adls.sas-token.{self.host}": azure.account_sas(seconds=self.seconds + 4),
                f"adls.sas-token-expires-at-ms.{self.host}": str(int(self.ends[-1] * 1000))}


def ending_store(cloud, folder):
    """(store, properties that open it for good, those of firn without credentials behind a slow wire, warehouse)"""
    if cloud is Gcs:
        store = EndingTokens(folder, seconds=5)
        return (store, {"gcs.service.host": store.url, "gcs.oauth2.token": gcs.TOKEN, "gcs.project-id": "test"},
                lambda wire: {"gcs.service.host": wire.url}, f"gs://{gcs.BUCKET}")
    store = EndingSignatures(folder, seconds=5)
    services = {f"adls.{service}-storage-scheme": "http" for service in ("blob", "dfs")}
    return (store, {"adls.connection-string": store.connection_string},
            lambda wire: {"adls.account-name": azure.ACCOUNT, **services, **{
                f"adls.{service}-storage-authority": wire.url.removeprefix("http://") for service in ("blob", "dfs")}},
            f"abfss://{azure.CONTAINER}@{store.host}")


def test_credentialsOfTheCatalog_endDuringTheWork_newOnesAreTaken(tmp_path, cloud):
    store, properties, behind, warehouse = ending_store(cloud, tmp_path / "store")
    with store:
        catalog = SqlCatalog("red", uri=f"sqlite:///{tmp_path}/red.db", warehouse=f"{warehouse}/red", **properties,
                             **{"py-io-impl": "pyiceberg.io.fsspec.FsspecFileIO"})
        catalog.create_namespace("db")
        table = catalog.create_table("db.t", schema=SCHEMA)
        for append in range(8):
            table.append(pa.table({"id": range(10), "a b": [f"x{append}"] * 10, "part": ["p"] * 10}, schema=SCHEMA))
        rows = by_pyiceberg(table)
        with SlowWire(store.url, 0.15) as wire, Warehouses({"red": catalog}, store.vend) as server:
            begin = time.time()
            done = run(tmp_path, {"red": {"uri": server.url, "warehouse": "red", **behind(wire)}}, "optimize", "red.db.t",
                       "--quiet", "--threads", "1")
            seconds = time.time() - begin
        assert done.returncode == 0, done.stderr
        assert seconds > 10 and len(store.ends) > 1, f"credentials have to end during the work, which took {seconds:.1f} s"
        table = catalog.load_table("db.t")
        assert by_pyiceberg(table) == rows
        assert len(list(table.scan().plan_files())) == 1
