# SPDX-License-Identifier: Apache-2.0
"""Several warehouses of one REST catalog, and credentials that the catalog vends and that end during the work."""

import json
import os
import random
import signal
import subprocess
import threading
import time

import pyarrow as pa
import pytest
from pyarrow.fs import FileSelector, S3FileSystem
from pyiceberg.catalog.sql import SqlCatalog

from tests.services.s3_proxy import S3Proxy
from tests.services.servers import ACCESS_KEY, BUCKET, SECRET_KEY, Servers
from tests.services.slow_wire import SlowWire
from tests.services.warehouses import Warehouses

from .conftest import BINARY
from .rows import by_pyiceberg

SCHEMA = pa.schema([("id", pa.int64()), ("text", pa.string())])


def fill(table, appends, first=0):
    for append in range(appends):
        begin = first + append * 10
        table.append(pa.table({"id": range(begin, begin + 10), "text": [f"x{append}"] * 10}))


def run(folder, catalogs, *arguments):
    """firn with a configuration file of these catalogs."""
    lines = ["catalog:"]
    for name, properties in catalogs.items():
        lines += [f"  {name}:", *(f"    {key}: {json.dumps(value)}" for key, value in properties.items())]
    (folder / "firn.yaml").write_text("\n".join(lines) + "\n")
    inherited = {k: v for k, v in os.environ.items() if not k.startswith(("AWS_", "PYICEBERG_"))}
    return subprocess.run([BINARY, *arguments, "--config", str(folder / "firn.yaml")], capture_output=True, text=True,
                          env={**inherited, "AWS_EC2_METADATA_DISABLED": "true"}, timeout=300)


def test_twoCatalogsOfOneServer_eachSeesItsWarehouse(tmp_path):
    catalogs = {}
    for name in ("red", "blue"):
        catalogs[name] = SqlCatalog(name, uri=f"sqlite:///{tmp_path}/{name}.db", warehouse=f"file://{tmp_path}/{name}")
        catalogs[name].create_namespace("db")
        fill(catalogs[name].create_table("db.t", schema=SCHEMA), 6, first=1000 if name == "blue" else 0)
    catalogs["blue"].create_table("db.only_blue", schema=SCHEMA)
    rows = {name: by_pyiceberg(catalog.load_table("db.t")) for name, catalog in catalogs.items()}
    with Warehouses(catalogs) as server:
        settings = {name: {"uri": server.url, "warehouse": name} for name in (*catalogs, "green")}
        done = run(tmp_path, settings, "optimize", "blue.db.t", "--quiet")
        assert done.returncode == 0, done.stderr
        counts = {name: len(catalog.load_table("db.t").inspect.files()) for name, catalog in catalogs.items()}
        assert counts == {"red": 6, "blue": 1}, "the table of the same name in the other warehouse is untouched"
        done = run(tmp_path, settings, "optimize", "red.db.t", "--quiet")
        assert done.returncode == 0, done.stderr
        listed = run(tmp_path, settings, "tables", "--catalog", "red")
        assert "db.t" in listed.stdout and "only_blue" not in listed.stdout, listed.stdout + listed.stderr
        unknown = run(tmp_path, settings, "optimize", "green.db.t", "--quiet")
        assert unknown.returncode == 3 and "no warehouse green" in unknown.stderr, unknown.stderr
    for name, catalog in catalogs.items():
        table = catalog.load_table("db.t")
        assert by_pyiceberg(table) == rows[name]
        assert len(table.inspect.files()) == 1


class Vendor:
    """Identities of a running SeaweedFS that lose their secret when their time is over."""

    def __init__(self, servers, endpoint, seconds):
        self.endpoint = endpoint
        self.config = servers.folder / "s3.json"
        self.process = servers.processes[-1]
        self.seconds = seconds
        self.issued = []  # (key, secret, end)
        self.ended = 0
        self.lock = threading.Lock()
        self.stopping = threading.Event()
        self.thread = threading.Thread(target=self.watch, daemon=True)

    def __enter__(self):
        self.thread.start()
        return self

    def __exit__(self, *_):
        self.stopping.set()
        self.thread.join()

    def write(self):
        now = time.time()
        names = [(ACCESS_KEY, SECRET_KEY)] + [(key, secret if end > now else f"ended-{key}") for key, secret, end in self.issued]
        self.ended = sum(end <= now for _, _, end in self.issued)
        self.config.with_suffix(".new").write_text(json.dumps({"identities": [
            {"name": key, "credentials": [{"accessKey": key, "secretKey": secret}],
             "actions": ["Admin", "Read", "Write", "List", "Tagging"]} for key, secret in names]}))
        os.replace(self.config.with_suffix(".new"), self.config)
        self.process.send_signal(signal.SIGHUP)

    def watch(self):
        while not self.stopping.wait(0.2):
            with self.lock:
                if sum(end <= time.time() for _, _, end in self.issued) != self.ended:
                    self.write()

    def wait_for(self, key, secret):
        """Until the store has heard of it."""
        store = S3FileSystem(access_key=key, secret_key=secret, endpoint_override=self.endpoint, region="us-east-1")
        deadline = time.time() + 20
        while True:
            try:
                store.get_file_info(FileSelector(BUCKET))
                return
            except OSError:
                if time.time() > deadline:
                    raise
                time.sleep(0.1)

    def vend(self, seconds=None):
        with self.lock:
            # The store keeps it a little longer than it is said to hold, for what is on its way on a busy machine.
            key, end = f"vended{len(self.issued)}", time.time() + (seconds or self.seconds)
            self.issued.append((key, f"secret{random.randrange(10**12)}", end + 5))
            self.write()
            secret = self.issued[-1][1]
        self.wait_for(key, secret)
        return {"s3.access-key-id": key, "s3.secret-access-key": secret,
                "s3.session-token-expires-at-ms": str(int(end * 1000))}


@pytest.fixture(scope="module")
def store(tmp_path_factory):
    servers = Servers(tmp_path_factory.mktemp("store"))
    try:
        variables = servers.start_s3()
    except RuntimeError as error:
        pytest.skip(f"no S3 server: {error}")
    yield servers, variables["FIRN_TEST_S3_ENDPOINT"]
    servers.stop()


def lake_on(endpoint, folder, appends):
    catalog = SqlCatalog("red", **{"uri": f"sqlite:///{folder}/red.db", "s3.endpoint": endpoint, "s3.region": "us-east-1",
                                   "warehouse": f"s3://{BUCKET}/{random.randrange(10**9)}",
                                   "s3.access-key-id": ACCESS_KEY, "s3.secret-access-key": SECRET_KEY})
    catalog.create_namespace("db")
    fill(catalog.create_table("db.t", schema=SCHEMA), appends)
    return catalog


@pytest.mark.parametrize("with_endpoint", [True, False])
def test_credentialsEndDuringTheWork_newOnesAreTaken(store, tmp_path, with_endpoint):
    servers, endpoint = store
    catalog = lake_on(endpoint, tmp_path, appends=24)
    rows = by_pyiceberg(catalog.load_table("db.t"))
    with Vendor(servers, endpoint, seconds=6) as vendor, SlowWire(endpoint, 0.25) as wire, \
            Warehouses({"red": catalog}, vendor.vend, with_endpoint) as server:
        settings = {"red": {"uri": server.url, "warehouse": "red", "s3.endpoint": wire.url, "s3.region": "us-east-1"}}
        begin = time.time()
        done = run(tmp_path, settings, "optimize", "red.db.t", "--quiet", "--threads", "1")
        seconds = time.time() - begin
        ended = [key for key, _, end in vendor.issued if end < time.time()]
    assert done.returncode == 0, done.stderr
    assert seconds > 11 and ended, f"the first credentials have to end during the work, which took {seconds:.1f} s"
    asked = [path for _, path in server.calls if path.endswith("/credentials")]
    assert bool(asked) == with_endpoint
    table = catalog.load_table("db.t")
    assert by_pyiceberg(table) == rows
    assert len(table.inspect.files()) == 1


@pytest.mark.parametrize("refusal", ["wrong secret", "ended before its time"])
def test_credentialsThatTheStoreRefuses_newOnesAreTaken(store, tmp_path, refusal):
    servers, endpoint = store
    catalog = lake_on(endpoint, tmp_path, appends=6)
    rows = by_pyiceberg(catalog.load_table("db.t"))
    with Vendor(servers, endpoint, seconds=600) as vendor, S3Proxy(endpoint, ACCESS_KEY, SECRET_KEY) as proxy:
        def vend():
            given = vendor.vend()
            if len(vendor.issued) > 1:
                return given
            proxy.ended = {given["s3.access-key-id"]} if refusal == "ended before its time" else set()
            return given if proxy.ended else {**given, "s3.secret-access-key": "revoked"}

        with Warehouses({"red": catalog}, vend) as server:
            settings = {"red": {"uri": server.url, "warehouse": "red", "s3.endpoint": proxy.url, "s3.region": "us-east-1"}}
            done = run(tmp_path, settings, "optimize", "red.db.t", "--quiet")
    assert done.returncode == 0, done.stderr
    assert 2 <= len(vendor.issued) <= 6  # loading the table again vends as well
    table = catalog.load_table("db.t")
    assert by_pyiceberg(table) == rows
    assert len(table.inspect.files()) == 1


def test_credentialsThatDoNotHold_areRefusedAndNothingChanges(store, tmp_path):
    """So the store looks at them at all."""
    servers, endpoint = store
    catalog = lake_on(endpoint, tmp_path, appends=2)
    before = catalog.load_table("db.t").metadata_location
    with Vendor(servers, endpoint, seconds=60) as vendor:
        wrong = {**vendor.vend(), "s3.secret-access-key": "hunter2"}
        with Warehouses({"red": catalog}, lambda: wrong) as server:
            settings = {"red": {"uri": server.url, "warehouse": "red", "s3.endpoint": endpoint, "s3.region": "us-east-1"}}
            done = run(tmp_path, settings, "optimize", "red.db.t", "--quiet")
    assert done.returncode == 2 and "hunter2" not in done.stderr, f"{done.returncode} {done.stderr}"
    assert catalog.load_table("db.t").metadata_location == before
