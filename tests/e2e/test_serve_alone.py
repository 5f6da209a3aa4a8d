# SPDX-License-Identifier: Apache-2.0
"""`firn serve` on a local warehouse: its log, requests to a shadow, and what a start that fails leaves behind."""

import os
import re
import socket
import subprocess

import pyarrow as pa
import pytest
from pyiceberg.catalog.sql import SqlCatalog

from ..held_process import hold, let_go
from .service import BINARY, Service

SECRET = "open-sesame-1234"


@pytest.fixture
def lake(tmp_path):
    """A configuration with one table of 12 small files."""
    properties = {"uri": f"sqlite:///{tmp_path}/catalog.db", "warehouse": f"file://{tmp_path}/warehouse",
                  "s3.secret-access-key": SECRET}
    catalog = SqlCatalog("lake", **properties)
    catalog.create_namespace("db")
    table = catalog.create_table("db.events", schema=pa.schema([("id", pa.int64())]))
    for number in range(12):
        table.append(pa.table({"id": [number]}))
    (tmp_path / "firn.yaml").write_text("catalog:\n  lake:\n    type: sql\n" +
                                        "".join(f"    {key}: {value}\n" for key, value in properties.items()))
    return tmp_path


def environment(folder):
    return dict(os.environ, HOME=str(folder), XDG_STATE_HOME="")


def serve(folder, *arguments):
    return Service(folder, environment(folder), "--config", str(folder / "firn.yaml"), "--catalog", "lake", *arguments)


def run(folder, *arguments):
    return subprocess.run([BINARY, *arguments], env=environment(folder), capture_output=True, text=True, timeout=60)


def log_of(folder, *arguments):
    with serve(folder, *arguments) as service:
        service.wait(lambda: any(job["state"] == "done" for job in service.get("/jobs")["items"]))
        service.stop()
    return (folder / "serve.log").read_text()


def test_log_tellsOfTheJobWithTheTime_andOfNoSecret(lake):
    log = log_of(lake, "-vv")
    line = r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z firn \w+: .+"
    assert all(re.fullmatch(line, each) for each in log.splitlines() if not each.startswith("firn: stopping")), log
    assert re.search(r"Z firn info: lake/db\.events: a new table: 12 files", log), log
    assert re.search(r"Z firn info: lake/db\.events: job \S+: merge: Starts: ", log), log
    assert re.search(r"Z firn info: lake/db\.events: job \S+: merge: done: 12 files replaced, 11 files less than before, in .*"
                     r"It read .* 1 commit\.\n", log), log
    assert re.search(r"Z firn debug: lake/db\.events: scan: ", log), log
    assert SECRET not in log


def test_log_isEmpty_whereNothingIsWrong(lake):
    assert log_of(lake) == "firn: stopping: running jobs end at their next page\n"


def test_log_ofAWordInTheConfiguration(lake):
    with open(lake / "firn.yaml", "a") as config:
        config.write("firn:\n  log-level: info\n")
    log = log_of(lake)
    assert " firn info: lake/db.events: job " in log and " firn debug: " not in log, log


def test_request_toAShadow_saysThatNothingIsDone(lake):
    with serve(lake, "--shadow") as service:
        service.wait(lambda: service.get("/tables")["items"])
        address = service.address
        answer = run(lake, "request", "db.events", "merge", "--server", address)
        assert answer.returncode == 0 and "is a shadow: it says what it would do" in answer.stdout, answer
        answer = run(lake, "request", "db.events", "scan", "--server", address)
        assert answer.returncode == 0 and "shadow" not in answer.stdout, answer
        service.wait(lambda: any(each["state"] == "refused" for each in service.get("/requests")["items"]))
    told = run(lake, "explain", "db.events", "--state", str(lake / "state.db"))
    assert "Would start (the service is a shadow): " in told.stdout and "Starts:" not in told.stdout, told


def test_watch_thatLostEvents_looksAtEveryTable(lake):
    properties = {"uri": f"sqlite:///{lake}/catalog.db", "warehouse": f"file://{lake}/warehouse"}
    table = SqlCatalog("lake", **properties).load_table("db.events")
    folder = lake / "warehouse"
    with serve(lake, "--shadow", "--watch", str(folder), "--sweep-interval", "1h") as service:
        service.wait(lambda: any(each["files"] == 12 for each in service.get("/tables")["items"]))
        hold(service.process)
        names = [f"{table.location().removeprefix('file://')}/metadata/{name}.avro" for name in "xy"]
        for name in names:
            open(name, "w").close()
        room = int(open("/proc/sys/fs/inotify/max_queued_events").read())
        for _ in range(room):  # twice what there is room for: equal ones in a row would be told of once
            for name in names:
                os.close(os.open(name, os.O_WRONLY))
        table.append(pa.table({"id": [12]}))  # nobody is told of it any more
        let_go(service.process)
        service.wait(lambda: service.table("lake/db.events")["files"] == 13)
        metrics = service.call("/metrics")[1]
        assert f'firn_watch_overflows_total{{folder="{folder}"}} 1\n' in metrics, metrics
        assert f'firn_watch_folders_left_out{{folder="{folder}"}} 0\n' in metrics, metrics
        service.stop()
    log = (lake / "serve.log").read_text()
    assert re.search(r"Z firn warn: /.*/warehouse: the system has lost events: every table below is looked at\n", log), log


def test_portThatIsTaken_leavesNoState(lake):
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = taken.getsockname()[1]
        answer = run(lake, "serve", "--config", str(lake / "firn.yaml"), "--catalog", "lake", "--listen",
                     f"127.0.0.1:{port}")
        assert answer.returncode != 0 and str(port) in answer.stderr, answer
    assert not (lake / ".local").exists()


def test_configurationThatIsWrong_leavesNoFolder(lake):
    answer = run(lake, "serve", "--config", str(lake / "firn.yaml"), "--catalog", "nosuch", "--listen", "127.0.0.1:0")
    assert answer.returncode != 0 and "nosuch" in answer.stderr, answer
    assert not (lake / ".local").exists()
