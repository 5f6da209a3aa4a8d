# SPDX-License-Identifier: Apache-2.0
"""Standard streams that are closed, or that lead to a full disk."""

import os
import subprocess
import time
from pathlib import Path

import pyarrow as pa
import pytest

from .conftest import BINARY

UNAVAILABLE = 8


@pytest.fixture
def table(lake):
    lake.catalog.create_table("db.t", schema=pa.schema([("id", pa.int64())]))
    for number in range(6):
        lake.load("db.t").append(pa.table({"id": [number]}))
    return lake


def run(lake, redirection, *arguments):
    return subprocess.run(["sh", "-c", f'exec "$@" {redirection}', "sh", BINARY, *arguments], env=lake.environment,
                          stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, timeout=60)


COMMANDS = [["health", "lake.db.t"], ["plan", "lake.db.t", "--json"], ["inspect", "files", "lake.db.t", "--json"],
            ["tables", "--catalog", "lake"], ["simulate", "--list"], ["optimize", "lake.db.t", "-q"], ["--version"], ["--help"]]


@pytest.mark.parametrize("redirection", ["> /dev/full", ">&-"])
@pytest.mark.parametrize("command", COMMANDS, ids=" ".join)
def test_resultThatCannotBeWritten_isNoSuccess(table, command, redirection):
    done = run(table, redirection, *command)
    assert done.returncode == UNAVAILABLE, done
    assert "not all of the result could be written" in done.stderr
    assert len(table.files("db.t")) == (1 if command[0] == "optimize" else 6)


def test_readerThatGoesAway_isNoFailure(table):
    reading, writing = os.pipe()
    os.close(reading)
    done = subprocess.run([BINARY, "inspect", "files", "lake.db.t"], env=table.environment, stdout=writing,
                          stderr=subprocess.PIPE, text=True, timeout=60)
    os.close(writing)
    assert (done.returncode, done.stderr) == (0, "")


@pytest.mark.parametrize("closed", [[0], [2], [0, 1, 2]])
def test_files_neverGetTheNumberOfAClosedStream(table, closed):
    """What is said would be written into them."""
    redirections = " ".join("<&-" if number == 0 else f"{number}>&-" for number in closed)
    command = [BINARY, "serve", "--catalog", "lake", "--listen", "127.0.0.1:0", "--shadow", "--state",
               str(table.folder / "state.db")]
    process = subprocess.Popen(["sh", "-c", f'exec "$@" {redirections}', "sh", *command], env=table.environment,
                               stdin=subprocess.PIPE, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    try:
        files = {}
        until = time.monotonic() + 30
        while not any(name.endswith("state.db") for name in files.values()):
            assert process.poll() is None and time.monotonic() < until, files
            files = open_files(process.pid)
        assert [files.get(number) for number in closed] == ["/dev/null"] * len(closed), files
    finally:
        process.terminate()
    assert process.wait(timeout=60) == 0


def open_files(pid):
    files = {}
    for link in Path(f"/proc/{pid}/fd").iterdir():
        try:
            files[int(link.name)] = str(link.readlink())
        except FileNotFoundError:  # closed meanwhile
            continue
    return files
