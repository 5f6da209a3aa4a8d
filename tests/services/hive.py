# SPDX-License-Identifier: Apache-2.0
"""A real Hive Metastore on loopback: version 3 with Derby, version 4 with PostgreSQL, because on Derby its locks
stand still when several clients ask.

    with Hive(folder, version=3) as hive: ... hive.uri ...          RuntimeError: there is none on this machine

lock_seconds: when a lock ends of which the server hears nothing any more.
"""

import shutil
import subprocess
import tempfile
from pathlib import Path

from .java_program import java_program
from .loopback import free_port, wait_for_port
from .postgres import PASSWORD, Postgres


def hive_jars(version):
    here = Path(__file__).parent
    try:
        return java_program(f"hive-metastore-{version}", here / f"hive/pom-{version}.xml",
                            here / "java/LoopbackMetastore.java")
    except (OSError, RuntimeError) as error:
        raise RuntimeError(f"its programs cannot be fetched or compiled: {error}") from error


class Hive:
    def __init__(self, folder, version=3, lock_seconds=15):
        self.jars = hive_jars(version)
        self.folder = Path(folder)
        self.version = version
        self.lock_seconds = lock_seconds
        self.port = free_port()
        self.uri = f"thrift://127.0.0.1:{self.port}"
        self.warehouse = self.folder / "warehouse"
        self.process = self.postgres = self.home = None

    def database(self):
        """JDBC URL, user, password."""
        if self.version == 3:
            return [f"jdbc:derby:{self.folder}/derby;create=true", "APP", "mine"]
        # Not below the folder, which may be closed to the server's user.
        self.home = Path(tempfile.mkdtemp(prefix="firn-hive-"))
        self.home.chmod(0o755)
        self.postgres = Postgres(self.home / "server")
        self.postgres.start()
        return [f"jdbc:postgresql://127.0.0.1:{self.postgres.port}/lake", "firn", PASSWORD]

    def begin(self):
        self.warehouse.mkdir(parents=True, exist_ok=True)
        command = ["java", "-Xmx512m", "-cp", f"{self.jars}/classes:{self.jars}/*", "LoopbackMetastore", str(self.port),
                   *self.database(), f"file://{self.warehouse}", str(self.lock_seconds)]
        with open(self.folder / "hive.log", "wb") as log:
            self.process = subprocess.Popen(command, stdout=log, stderr=log, stdin=subprocess.DEVNULL, cwd=self.folder)

    def wait(self, seconds=90):
        if not wait_for_port(self.port, self.process, seconds):
            self.stop()
            raise RuntimeError("did not start")

    def start(self):
        self.begin()
        self.wait()

    def stop(self):
        if self.process:
            self.process.kill()
            self.process.wait()
        if self.postgres:
            self.postgres.stop()
        if self.home:
            shutil.rmtree(self.home, ignore_errors=True)

    def __enter__(self):
        self.start()
        return self

    def __exit__(self, *_):
        self.stop()
