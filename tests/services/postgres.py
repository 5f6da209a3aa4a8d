# SPDX-License-Identifier: Apache-2.0
"""A PostgreSQL server in a folder, on loopback and without fsync, as another user where the tests run as root.

    with Postgres(folder) as server: ... server.uri ...          RuntimeError: there is none on this machine
"""

import os
import pwd
import shutil
import subprocess
import time
from pathlib import Path

from .loopback import free_port

PASSWORD = "p/w @1"  # what a URI has to encode


def programs():
    """Folder of initdb and postgres: on PATH, or where Debian puts them."""
    found = shutil.which("initdb")
    if found and shutil.which("postgres"):
        return Path(found).resolve().parent
    folders = sorted(Path("/usr/lib/postgresql").glob("*/bin"), key=lambda path: float(path.parent.name))
    for folder in reversed(folders):
        if (folder / "initdb").exists() and (folder / "postgres").exists():
            return folder
    raise RuntimeError("postgresql is not installed")


class Postgres:
    def __init__(self, folder):
        self.bin = programs()
        self.folder = Path(folder)
        self.data = self.folder / "data"
        self.port = free_port()
        self.process = None
        # The server refuses to run as root.
        self.user = None
        if os.geteuid() == 0:
            try:
                self.user = pwd.getpwnam("postgres")
            except KeyError:
                raise RuntimeError("there is no user postgres to run the server as") from None

    @property
    def uri(self):
        return f"postgresql://firn:p%2Fw%20%401@127.0.0.1:{self.port}/lake"

    def uri_at(self, port, scheme="postgresql"):
        return f"{scheme}://firn:p%2Fw%20%401@127.0.0.1:{port}/lake"

    def as_user(self):
        if self.user is None:
            return {}
        return {"user": self.user.pw_uid, "group": self.user.pw_gid, "extra_groups": []}

    def run(self, *command, **more):
        return subprocess.run([str(part) for part in command], check=True, capture_output=True, text=True,
                              cwd=self.folder, stdin=subprocess.DEVNULL, **self.as_user(), **more)

    def start(self):
        self.folder.mkdir(parents=True, exist_ok=True)
        password = self.folder / "password"
        password.write_text(PASSWORD)
        if self.user:
            for path in (self.folder, password):
                os.chown(path, self.user.pw_uid, self.user.pw_gid)
        try:
            self.run(self.bin / "initdb", "-D", self.data, "-U", "firn", "-A", "scram-sha-256", "--pwfile", password,
                     "-E", "UTF8", "--locale=C", "--no-sync")
        except subprocess.CalledProcessError as error:
            raise RuntimeError(f"initdb: {error.stderr.strip()}") from None
        self.launch()
        self.sql("postgres", "CREATE DATABASE lake")

    def launch(self):
        log = open(self.folder / "log", "ab")
        self.process = subprocess.Popen(
            [str(self.bin / "postgres"), "-D", str(self.data), "-p", str(self.port), "-h", "127.0.0.1",
             "-k", str(self.folder), "-c", "fsync=off", "-c", "max_connections=60"],
            stdout=log, stderr=log, stdin=subprocess.DEVNULL, cwd=self.folder, **self.as_user())
        deadline = time.time() + 60
        while True:
            try:
                self.sql("postgres", "SELECT 1")
                return
            except subprocess.CalledProcessError as error:
                if time.time() > deadline or self.process.poll() is not None:
                    raise RuntimeError(f"postgres does not start: {error.stderr.strip()}") from None
                time.sleep(0.1)

    def sql(self, database, text):
        """Rows as psql prints them."""
        return self.run(self.bin / "psql", "-XAtq", "-h", "127.0.0.1", "-p", self.port, "-U", "firn", "-d", database,
                        "-v", "ON_ERROR_STOP=1", "-c", text, env=dict(os.environ, PGPASSWORD=PASSWORD)).stdout

    def stop(self):
        if self.process is None:
            return
        self.process.terminate()  # waits for clients; interrupt ends them
        self.process.send_signal(2)
        try:
            self.process.wait(20)
        except subprocess.TimeoutExpired:
            self.process.kill()
            self.process.wait()
        self.process = None

    def __enter__(self):
        self.start()
        return self

    def __exit__(self, *_):
        self.stop()
