# SPDX-License-Identifier: Apache-2.0
"""Where a table is: a SQLite catalog or a directory on a small disk of its own, or a REST catalog in front of S3.

reset(shape) makes the table anew, start(...) gives firn's words and environment, files() lists all that is stored.
"""

import contextlib
import json
import os
import shutil
import sqlite3
import subprocess
from pathlib import Path

from pyiceberg.catalog.sql import SqlCatalog
from pyiceberg.exceptions import NoSuchTableError
from pyiceberg.table import StaticTable

from tests.schedules import plain_reader
from tests.services.cut_wire import CutWire
from tests.services.fault_proxy import FaultProxy
from tests.services.warehouses import Warehouses

from .shapes import SHAPES, build

DISK_BYTES = 900 << 20


def plain_environment(folder):
    kept = {k: v for k, v in os.environ.items() if not k.startswith(("AWS_", "PYICEBERG_", "FIRN_TEST_"))}
    return {**kept, "HOME": str(folder), "AWS_EC2_METADATA_DISABLED": "true"}


class Disk:
    """A small file system, where this user may mount one; else a folder that cannot be filled."""

    def __init__(self, folder):
        self.folder = Path(folder)
        self.folder.mkdir(parents=True)
        done = subprocess.run(["mount", "-t", "tmpfs", "-o", f"size={DISK_BYTES}", "firn-faults", str(self.folder)],
                              capture_output=True)
        self.is_mounted = done.returncode == 0
        self.ballast = self.folder / "ballast"

    def free_bytes(self):
        about = os.statvfs(self.folder)
        return about.f_bfree * about.f_frsize

    def fill(self, left):
        """Leaves so many bytes free."""
        with open(self.ballast, "ab", buffering=0) as file:
            file.truncate(0)
            try:
                os.posix_fallocate(file.fileno(), 0, max(self.free_bytes() - left, 1))
            except OSError:
                pass  # nearly all of it

    def free(self):
        self.ballast.unlink(missing_ok=True)

    def close(self):
        if self.is_mounted:
            subprocess.run(["umount", "-l", str(self.folder)], check=True)


class Local:
    """What tables of a directory have in common."""

    def __init__(self, folder):
        self.folder = Path(folder)
        self.disk = Disk(self.folder / "disk")
        self.table = self.disk.folder / "warehouse/db/t"
        self.pristine = {}  # shape -> location of the metadata file
        self.environment = self.direct_environment = plain_environment(self.folder)

    def close(self):
        self.disk.close()

    def build(self, shape):
        if shape not in self.pristine:
            shutil.rmtree(self.table, ignore_errors=True)
            self.table.mkdir(parents=True)
            location = build(shape, f"file://{self.table}")
            self.prepare(location)
            shutil.copytree(self.table, self.folder / "pristine" / shape)
            self.pristine[shape] = location
        return self.pristine[shape]

    def prepare(self, location):
        pass

    def reset(self, shape):
        location = self.build(shape)
        self.disk.free()
        shutil.rmtree(self.table, ignore_errors=True)
        shutil.copytree(self.folder / "pristine" / shape, self.table)
        plain_reader.forget()
        return location

    def files(self):
        return {path.name for path in self.table.rglob("*") if path.is_file()}

    def static(self, location):
        return StaticTable.from_metadata(location)

    def mirror(self):
        """The stored files are here already."""


class SqlLocal(Local):
    name = "sqlite"
    faults = ("kill", "stop", "disk")

    def __init__(self, folder):
        super().__init__(folder)
        self.database = self.disk.folder / "catalog.db"
        self.uri = f"sqlite:///{self.database}"
        self.environment.update(PYICEBERG_CATALOG__LAKE__URI=self.uri, PYICEBERG_CATALOG__LAKE__TYPE="sql")

    def reset(self, shape):
        location = super().reset(shape)
        for path in self.disk.folder.glob("catalog.db*"):
            path.unlink()
        catalog = SqlCatalog("lake", uri=self.uri, warehouse=f"file://{self.disk.folder}/warehouse")
        catalog.create_namespace("db")
        catalog.register_table("db.t", location)
        catalog.engine.dispose()
        return ["lake.db.t"]

    def current(self):
        with contextlib.closing(sqlite3.connect(self.database)) as connection:
            return connection.execute("SELECT metadata_location FROM iceberg_tables").fetchone()[0]


class HadoopLocal(Local):
    name = "hadoop"
    faults = ("kill", "stop", "disk")

    def prepare(self, location):
        """Everything under the name of version 1: a directory table has no files of other catalogs."""
        metadata = plain_reader.load(location)
        metadata["metadata-log"] = []
        for path in (self.table / "metadata").glob("*.metadata.json"):
            path.unlink()
        (self.table / "metadata/v1.metadata.json").write_text(json.dumps(metadata))
        (self.table / "metadata/version-hint.text").write_text("1")

    def reset(self, shape):
        super().reset(shape)
        return [str(self.table)]

    def current(self):
        numbers = [int(p.name[1:].split(".")[0]) for p in (self.table / "metadata").glob("v*.metadata.json")]
        return f"file://{self.table}/metadata/v{max(numbers)}.metadata.json"


class RestS3:
    """A REST catalog over a store; firn reaches both through wires that can be cut, and commits through a proxy."""

    name = "rest+s3"
    faults = ("kill", "stop", "cut-catalog", "cut-store", "commit", "late-kill")

    def __init__(self, folder):
        from pyarrow.fs import S3FileSystem
        self.folder = Path(folder)
        self.folder.mkdir(parents=True)
        self.mirror_folder = self.folder / "mirror"
        keys = os.environ["FIRN_TEST_S3_ACCESS_KEY"], os.environ["FIRN_TEST_S3_SECRET_KEY"]
        endpoint, bucket = os.environ["FIRN_TEST_S3_ENDPOINT"], os.environ["FIRN_TEST_S3_BUCKET"]
        self.key = f"{bucket}/faults-{os.getpid()}-{self.folder.name}"
        self.store = S3FileSystem(access_key=keys[0], secret_key=keys[1], endpoint_override=endpoint, region="us-east-1")
        self.properties = {"s3.endpoint": endpoint, "s3.access-key-id": keys[0], "s3.secret-access-key": keys[1],
                           "s3.region": "us-east-1"}
        self.database = self.folder / "served.db"
        self.catalog = SqlCatalog("served", uri=f"sqlite:///{self.database}", warehouse=f"s3://{self.key}", **self.properties)
        self.catalog.create_namespace("db")
        self.stack = contextlib.ExitStack()
        self.server = self.stack.enter_context(Warehouses({"w": self.catalog}))
        self.commits = self.stack.enter_context(FaultProxy(self.server.url, []))
        self.catalog_wire = self.stack.enter_context(CutWire(self.commits.url))
        self.store_wire = self.stack.enter_context(CutWire(endpoint))
        self.pristine, self.stored = {}, {}
        self.shape = None

    def close(self):
        self.stack.close()
        plain_reader.ROOTS.clear()

    @property
    def environment(self):
        return self.environment_for(self.catalog_wire.url, self.store_wire.url)

    @property
    def direct_environment(self):
        return self.environment_for(self.server.url, self.properties["s3.endpoint"])

    def environment_for(self, catalog, store):
        values = {"uri": catalog, "type": "rest", "warehouse": "w", **self.properties, "s3.endpoint": store}
        named = {f"PYICEBERG_CATALOG__R__{k.upper().replace('.', '__').replace('-', '_')}": v for k, v in values.items()}
        return {**plain_environment(self.folder), **named}

    def location(self, shape):
        return f"s3://{self.key}/{shape}"

    def build(self, shape):
        folder = self.mirror_folder / shape
        plain_reader.ROOTS[self.location(shape)] = str(folder)
        folder.mkdir(parents=True)
        self.pristine[shape] = build(shape, self.location(shape))
        self.stored[shape] = {str(p.relative_to(folder)) for p in folder.rglob("*") if p.is_file()}
        for name in self.stored[shape]:
            with self.store.open_output_stream(f"{self.key}/{shape}/{name}") as out:
                out.write((folder / name).read_bytes())
        return self.pristine[shape]

    def listed(self):
        from pyarrow.fs import FileSelector, FileType
        found = self.store.get_file_info(FileSelector(f"{self.key}/{self.shape}", recursive=True, allow_not_found=True))
        prefix = f"{self.key}/{self.shape}/"
        return {info.path.removeprefix(prefix) for info in found if info.type == FileType.File}

    def reset(self, shape):
        for thread in self.commits.late:
            thread.join()
        self.commits.late.clear()
        self.commits.faults.clear()
        self.commits.commits.clear()
        location = self.pristine.get(shape) or self.build(shape)
        self.shape = shape
        for name in self.listed() - self.stored[shape]:
            self.store.delete_file(f"{self.key}/{shape}/{name}")
        for path in (self.mirror_folder / shape).rglob("*"):
            if path.is_file() and str(path.relative_to(self.mirror_folder / shape)) not in self.stored[shape]:
                path.unlink()
        with self.server.lock:
            with contextlib.suppress(NoSuchTableError):
                self.catalog.drop_table("db.t")
            self.catalog.register_table("db.t", location)
        plain_reader.forget()
        return ["r.db.t"]

    def current(self):
        with contextlib.closing(sqlite3.connect(self.database)) as connection:
            return connection.execute("SELECT metadata_location FROM iceberg_tables").fetchone()[0]

    def files(self):
        return {name.rsplit("/", 1)[-1] for name in self.listed()}

    def mirror(self):
        """Fetches what firn has stored, for readers of local files."""
        folder = self.mirror_folder / self.shape
        for name in self.listed():
            if not (folder / name).exists():
                (folder / name).parent.mkdir(parents=True, exist_ok=True)
                with self.store.open_input_stream(f"{self.key}/{self.shape}/{name}") as source:
                    (folder / name).write_bytes(source.read())

    def static(self, location):
        return StaticTable.from_metadata(location, self.properties)


def shapes_of(kind):
    """In a store only what two readers can read there, what PyIceberg, which serves the catalog, can write, and what fits."""
    return [shape for shape, (version, *_, deletes, _, _) in SHAPES.items()
            if (shape != "ranges-v2" if kind is not RestS3 else
                version == 2 and deletes != "equality" and shape != "heavy-v2")]


def places():
    """Those for which there are servers."""
    return [SqlLocal, HadoopLocal] + ([RestS3] if "FIRN_TEST_S3_ENDPOINT" in os.environ else [])
