# SPDX-License-Identifier: Apache-2.0
"""Marks of killed runs that say something wrong about the table, or that became wrong: what the table names stays."""

import json
import os
import sqlite3
import subprocess
import time
from pathlib import Path

import pyarrow as pa
import pytest

from ..held_process import hold, let_go
from .conftest import BINARY

SMALL = pa.table({"id": pa.array(range(10), pa.int64()), "text": ["x" * 20] * 10})


def folder_of(table):
    return Path(table.location().removeprefix("file://"))


def make_table(lake, appends=12):
    table = lake.catalog.create_table("db.t", schema=pa.schema([("id", pa.int64()), ("text", pa.string())]))
    for append in range(appends):
        ids = range(append * 4000, (append + 1) * 4000)
        table.append(pa.table({"id": pa.array(ids, pa.int64()), "text": [os.urandom(60).hex() for _ in ids]}))
    return lake.load("db.t")


def append_some(lake, count=6):
    table = lake.load("db.t")
    for _ in range(count):
        table.append(SMALL)


def missing_files(lake):
    """Files that a snapshot of the table needs and that are not there."""
    table, missing = lake.load("db.t"), []
    needed = set()
    for snapshot in table.metadata.snapshots:
        needed.add(snapshot.manifest_list)
        if not Path(snapshot.manifest_list.removeprefix("file://")).exists():
            continue
        for manifest in snapshot.manifests(table.io):
            needed.add(manifest.manifest_path)
            if Path(manifest.manifest_path.removeprefix("file://")).exists():
                needed |= {e.data_file.file_path for e in manifest.fetch_manifest_entry(table.io, discard_deleted=True)}
    missing = [path for path in needed if not Path(path.removeprefix("file://")).exists()]
    return sorted(missing), needed


def begin_and_hold(lake):
    """(process, path of its mark, text of it): stopped when it has written its mark."""
    marks = folder_of(lake.load("db.t")) / "metadata" / "firn-runs"
    run = subprocess.Popen([BINARY, "optimize", "lake.db.t", "--quiet"], env=lake.environment,
                           stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    while run.poll() is None:
        for mark in marks.glob("*.run.json"):
            hold(run)
            text = mark.read_text() if mark.exists() else ""
            if text:
                return run, mark, text
            let_go(run)
    pytest.fail("the run ended before its mark was seen")


def go_on(run):
    let_go(run)
    return run.wait(timeout=300)


def look_twice(lake):
    """Two more runs over a table that others write to: nothing that it needs is removed or offered."""
    for _ in range(2):
        append_some(lake)
        rows = lake.rows("db.t")
        needed = missing_files(lake)[1]
        outcome = lake.firn_json("optimize", "db.t", "--target-file-size", "64KB")["outcome"]
        assert lake.rows("db.t") == rows
        assert missing_files(lake)[0] == []
        offered = {Path(file).name for file in outcome.get("leftover_files", [])}
        assert not offered & {Path(file).name for file in needed}
    return outcome


def put_back_pointer(lake, metadata):
    connection = sqlite3.connect(f"{lake.folder}/catalog.db")
    connection.execute("update iceberg_tables set metadata_location=?, previous_metadata_location=null", (metadata,))
    connection.commit()
    connection.close()


def register_again(lake, metadata):
    lake.catalog.drop_table("db.t")
    lake.catalog.register_table("db.t", metadata)


@pytest.mark.parametrize("put_back", [put_back_pointer, register_again])
def test_putBackDuringARun_thatIsKilledAfterItsCommit_nothingIsLost(lake, put_back):
    table = make_table(lake)
    run, mark, text = begin_and_hold(lake)
    put_back(lake, table.metadata.metadata_log[-1].metadata_file)
    rows = lake.rows("db.t")
    go_on(run)
    assert lake.rows("db.t") == rows
    mark.parent.mkdir(exist_ok=True)
    mark.write_text(text)  # as if it had been killed before it took its mark away
    look_twice(lake)
    assert not mark.exists()


@pytest.mark.parametrize("put_back", [put_back_pointer, register_again])
def test_putBackDuringARun_killed_nothingIsLost(lake, put_back):
    """Killed in the moment in which the catalog shows its commit, or a little later."""
    table = make_table(lake)
    run, _, _ = begin_and_hold(lake)
    put_back(lake, before := table.metadata.metadata_log[-1].metadata_file)
    connection = sqlite3.connect(f"{lake.folder}/catalog.db")
    while run.poll() is None:
        let_go(run)
        time.sleep(0.0005)
        hold(run)
        try:
            now = connection.execute("select metadata_location from iceberg_tables").fetchone()[0]
        except sqlite3.OperationalError:
            continue
        if now != before:
            run.kill()
    connection.close()
    look_twice(lake)


def test_tableAndMarksRestoredFromABackup_nothingIsLost(lake):
    """The mark comes back with an older table; what the run has committed meanwhile is not there any more."""
    table = make_table(lake)
    run, mark, text = begin_and_hold(lake)
    assert go_on(run) == 0
    put_back_pointer(lake, table.metadata.metadata_log[-1].metadata_file)
    mark.parent.mkdir(exist_ok=True)
    mark.write_text(text)
    look_twice(lake)


@pytest.mark.parametrize("change", [{"sequence-number": 13}, {"sequence-number": 0}, {"sequence-number": None},
                                    {"base-snapshot-id": "head"}, {"table": "db.other"}, {"begun-ms": 1}])
def test_markThatWasChanged_countsForNothing(lake, change):
    make_table(lake)
    run, mark, text = begin_and_hold(lake)
    assert go_on(run) == 0
    said = json.loads(text)
    if change.get("base-snapshot-id"):
        change = {"base-snapshot-id": lake.load("db.t").metadata.current_snapshot_id}
    said.update(change, **{"ended-ms": said["begun-ms"] + 1})
    ended = mark.with_name(mark.name.replace(".run.", ".ended."))
    mark.parent.mkdir(exist_ok=True)
    ended.write_text(json.dumps({key: value for key, value in said.items() if value is not None}))
    outcome = look_twice(lake)
    assert ended.exists() and any(ended.name in note for note in outcome["notes"])


@pytest.mark.parametrize("as_version", ["4", "8"])
def test_markWithTheUuidOfAnotherWriter_itsFilesStay(lake, as_version):
    """Also those that it has not committed yet."""
    table = make_table(lake)
    run, mark, text = begin_and_hold(lake)
    assert go_on(run) == 0
    path = Path(table.inspect.files()["file_path"][0].as_py().removeprefix("file://"))
    name = path.name[8:32]
    name = name[:14] + as_version + name[15:]
    on_its_way = path.with_name(f"00000-0-{name}0123456789ab.parquet")
    alike = path.with_name(f"00000-0-{name}0123456789ab-00001.parquet")
    for file in (on_its_way, alike):
        file.write_bytes(path.read_bytes())
    said = json.loads(text)
    said.update({"run": name, "ended-ms": said["begun-ms"] + 1})
    mark.parent.mkdir(exist_ok=True)
    (mark.parent / f"{name[:-1]}.ended.json").write_text(json.dumps(said))
    look_twice(lake)
    assert on_its_way.exists() and alike.exists()
