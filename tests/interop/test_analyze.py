# SPDX-License-Identifier: Apache-2.0
"""What `firn analyze` recommends for tables that PyIceberg wrote; it never changes them."""

import hashlib
import json
import os
import random
import signal
import sqlite3
import subprocess
import time
from pathlib import Path

import pyarrow as pa
import pytest
from pyiceberg.partitioning import PartitionField, PartitionSpec
from pyiceberg.schema import Schema
from pyiceberg.transforms import IdentityTransform
from pyiceberg.types import LongType, NestedField, StringType

from ..e2e.service import Service
from .conftest import BINARY

SCHEMA = Schema(NestedField(1, "id", LongType()), NestedField(2, "shuffled", LongType()),
                NestedField(3, "part", StringType()), NestedField(4, "text", StringType()),
                NestedField(5, "status", StringType()))
BY_PART = PartitionSpec(PartitionField(source_id=3, field_id=1000, transform=IdentityTransform(), name="part"))
COMMITS, ROWS = 80, 200
# On a quick machine 80 local files cost too little to matter.
SLOW = ("--request-ms", 2)


def batch(rng, first, rows, parts):
    """`id` grows with every commit, `shuffled` is anywhere, `part` is constant in a partition, `status` has three values."""
    return pa.table({
        "id": pa.array(range(first, first + rows), pa.int64()),
        "shuffled": pa.array([rng.randrange(1 << 40) for _ in range(rows)], pa.int64()),
        "part": pa.array([parts[i % len(parts)] for i in range(rows)], pa.string()),
        "text": pa.array([f"some text {rng.randrange(1000)}" for _ in range(rows)], pa.string()),
        "status": pa.array([rng.choice(["done", "late", "open"]) for _ in range(rows)], pa.string()),
    })


def make(lake, name, commits, rows, parts=("only",), properties=None):
    rng = random.Random(7)
    table = lake.catalog.create_table(f"db.{name}", SCHEMA, partition_spec=BY_PART, properties=properties or {})
    for i in range(commits):
        table.append(batch(rng, i * rows, rows, parts))
    return table


@pytest.fixture(scope="module")
def small_files(tmp_path_factory):
    from .conftest import Lake
    lake = Lake(tmp_path_factory.mktemp("analyze"))
    make(lake, "small", COMMITS, ROWS)
    return lake


def digest(folder):
    """Every file of the warehouse, and the catalog."""
    sums = {}
    for path in sorted(Path(folder).rglob("*")):
        if path.is_file():
            sums[str(path)] = hashlib.sha256(path.read_bytes()).hexdigest()
    return sums


def test_small_files_are_to_be_merged(small_files, tmp_path):
    lake = small_files
    before = digest(lake.folder)
    found = lake.firn_json("analyze", "db.small", "--scratch", tmp_path, "--repeats", 2, *SLOW)
    assert digest(lake.folder) == before, "analyze has changed something"
    assert list(tmp_path.iterdir()) == [], "the scratch folder is left"

    assert found["files"] == COMMITS
    assert found["advice"]["word"] == "merge", found["advice"]
    assert not found["advice"]["file_size"]["change"], found["advice"]
    assert found["ingest"]["commits"] == COMMITS

    experiment = found["experiment"]
    assert experiment["done"], experiment["reason"]
    assert experiment["files"] == COMMITS and experiment["rows"] == COMMITS * ROWS
    first, last = experiment["runs"][0], experiment["runs"][-1]
    assert first["target_size_bytes"] == 0 and first["files"] == COMMITS
    assert last["files"] == 1 and last["merged_files"] == COMMITS
    assert last["bytes"] < first["bytes"]
    assert last["read_all"]["cpu_seconds"] < first["read_all"]["cpu_seconds"] / 2
    assert found["costs"]["read_two"]["seconds_per_file"] > 0 and found["costs"]["request_seconds"] == 0.002

    current = [c for c in found["candidates"] if c["is_current"]]
    assert len(current) == 1 and current[0]["files_after"] == 1
    assert current[0]["target_size_bytes"] == found["advice"]["file_size"]["current_bytes"]


def test_what_is_advised_is_what_optimize_does(lake):
    make(lake, "t", 60, ROWS)
    advised = lake.firn_json("analyze", "db.t", "--repeats", 1, *SLOW)
    assert advised["advice"]["merge"]["advised"], advised["advice"]
    candidate = next(c for c in advised["candidates"] if c["is_current"])
    rows = lake.rows("db.t")
    lake.firn("optimize", "lake.db.t")
    assert len(lake.files("db.t")) == candidate["files_after"]
    assert lake.rows("db.t") == rows
    again = lake.firn_json("analyze", "db.t", *SLOW)
    assert again["advice"]["word"] == "leave", again["advice"]


def test_sorting_pays_for_the_shuffled_column_only(small_files):
    # Sizes at which the partition still has many files when it is merged.
    found = small_files.firn_json("analyze", "db.small", "--target-file-size", "16kB", "--no-measure")
    columns = {c["column"]: c for c in found["sort_candidates"]}
    assert columns["shuffled"]["pays"] and found["advice"]["sort"]["advised"], columns["shuffled"]
    assert columns["shuffled"]["point_share_now"] > 0.9
    assert not columns["id"]["pays"] and columns["id"]["point_share_now"] < 0.05, columns["id"]
    assert not columns["part"]["pays"], "every row has the same value"
    assert columns["status"]["point_share_now"] > 0.9 and columns["status"]["point_share_sorted"] > 0.3
    assert found["sort_candidates"][0]["column"] == "shuffled"
    assert not found["experiment"]["done"] and "--no-measure" in found["experiment"]["reason"]


def test_good_shape_and_empty_tables_are_left(lake):
    make(lake, "one", 1, 5000)
    found = lake.firn_json("analyze", "db.one")
    assert found["advice"]["word"] == "leave"
    assert not found["experiment"]["done"] and "two files" in found["experiment"]["reason"]
    text = lake.firn("analyze", "lake.db.one").stdout
    assert "Recommendation: leave it as it is." in text

    lake.catalog.create_table("db.empty", SCHEMA)
    found = lake.firn_json("analyze", "db.empty")
    assert found["advice"]["word"] == "leave" and "no data files" in found["advice"]["merge"]["reason"]
    assert "Recommendation: leave it as it is." in lake.firn("analyze", "lake.db.empty").stdout


def test_requests_of_an_object_store_count(small_files):
    near = small_files.firn_json("analyze", "db.small", "--no-measure")
    far = small_files.firn_json("analyze", "db.small", "--no-measure", "--request-ms", 50)
    assert far["costs"]["request_seconds"] == 0.05
    more = far["read_now"]["two_seconds"] - near["read_now"]["two_seconds"]
    assert more == pytest.approx(COMMITS * 2 * 0.05)
    assert any("50 ms" in line for line in far["assumptions"])


def test_same_seed_same_sample(lake):
    make(lake, "parts", 40, 40, parts=("a", "b", "c"))
    runs = [lake.firn_json("analyze", "db.parts", "--seed", 5, "--repeats", 1) for _ in range(2)]
    assert runs[0]["experiment"]["done"], runs[0]["experiment"]
    for key in ("files", "bytes", "rows", "partitions"):
        assert runs[0]["experiment"][key] == runs[1]["experiment"][key]
    assert runs[0]["experiment"]["partitions"] == 3


def test_the_property_that_counts_is_named(lake):
    make(lake, "both", 60, ROWS)
    with lake.catalog.load_table("db.both").transaction() as change:
        change.set_properties({"write.target-file-size-bytes": str(32 << 20), "firn.target-file-size-bytes": "20000"})
    text = lake.firn("analyze", "lake.db.both", "--no-measure", *SLOW).stdout
    assert "set the target file size to 32.0 MiB" in text, text
    assert "Next: set the table property firn.target-file-size-bytes to 33554432." in text, text
    assert "property write.target" not in text, text
    applied = lake.firn("analyze", "lake.db.both", "--no-measure", *SLOW, "--apply").stdout
    assert "Next: set" not in applied and "Applied" in applied, applied
    assert "firn.target-file-size-bytes is 33554432 now (it was 20000)" in applied
    assert "write.target" not in applied, applied
    with lake.catalog.load_table("db.both").transaction() as change:
        change.set_properties({"firn.enabled": "false"})
    text = lake.firn("analyze", "lake.db.both", "--no-measure", *SLOW).stdout
    assert "firn may not merge it: the table property firn.enabled is false" in text, text
    assert "`firn optimize" not in text, text


def test_text_says_what_to_do(small_files):
    text = small_files.firn("analyze", "lake.db.small", "--repeats", 1, *SLOW).stdout
    assert "Recommendation: merge" in text and "`firn optimize lake.db.small`" in text
    assert "Assumptions" in text and "(as they are)" in text and "512 MiB (now)" in text


@pytest.mark.parametrize("arguments,exit_code,message", [
    (["--scratch", "/no/such/folder"], 2, "/no/such/folder is no folder"),
    (["--sample-bytes", "12"], 2, "--sample-bytes: at least"),
    (["--sample-bytes", "many"], 2, "--sample-bytes: \"many\" is not a size"),
    (["--request-ms", "-1"], 2, "--request-ms"),
    (["--request-ms", "nan"], 2, "--request-ms"),
    (["--repeats", "0"], 2, "--repeats"),
    (["--branch", "none"], 3, "none"),
])
def test_bad_input(small_files, arguments, exit_code, message):
    done = small_files.firn("analyze", "lake.db.small", *arguments, expect=exit_code)
    assert message in done.stderr


def test_unreadable_file_ends_the_measurement_only(lake):
    make(lake, "broken", 40, ROWS)
    victim = lake.files("db.broken")[3].file_path.removeprefix("file://")
    size = os.path.getsize(victim)
    with open(victim, "wb") as file:
        file.write(b"x" * size)
    found = lake.firn_json("analyze", "db.broken")
    assert not found["experiment"]["done"] and victim in found["experiment"]["reason"]
    assert "firn-analyze-" not in found["experiment"]["reason"], "a copy that is gone by now"
    assert found["advice"]["merge"]["reason"]
    os.remove(victim)
    reason = lake.firn_json("analyze", "db.broken")["experiment"]["reason"]
    assert reason.count(victim) == 1, reason


def test_ctrl_c_removes_the_scratch_folder(small_files, tmp_path):
    process = subprocess.Popen([BINARY, "analyze", "lake.db.small", "--scratch", tmp_path, "--repeats", "100"],
                               env=small_files.environment, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    deadline = time.monotonic() + 60
    while not list(tmp_path.iterdir()) and time.monotonic() < deadline and process.poll() is None:
        time.sleep(0.01)
    assert process.poll() is None, process.communicate()
    process.send_signal(signal.SIGINT)
    _, errors = process.communicate(timeout=60)
    assert process.returncode == 10, errors
    assert list(tmp_path.iterdir()) == []


def serve(lake):
    return Service(lake.folder, lake.environment, "--catalog", "lake", "--sweep-interval", "1s", "--debounce", "20ms")


def remember_merges(lake, table, count, every_ms, seconds, bytes_rewritten):
    """The state as it is after so many more merges, the last of them now."""
    with sqlite3.connect(lake.folder / "state.db") as state:
        row = json.loads(state.execute("SELECT row FROM jobs WHERE measured = '1'").fetchone()[0])
        now = int(time.time() * 1000)
        for i in range(count):
            row |= {"id": f"{i:04}", "table": table, "state": "done", "ended_ms": now - i * every_ms}
            row["measured"] |= {"bytes_rewritten": bytes_rewritten, "seconds": seconds}
            state.execute("INSERT INTO jobs (id, table_id, state, measured, row) VALUES (?, ?, 'done', '1', ?)",
                          (row["id"], table, json.dumps(row)))


def test_earlier_runs_count(lake):
    make(lake, "t", 60, ROWS)
    state = lake.folder / "state.db"
    assert "no state file" in lake.firn("analyze", "lake.db.t", "--state", lake.folder / "catalog.db", expect=2).stderr
    with serve(lake) as service:
        service.wait(lambda: any(job["state"] == "done" for job in service.get("/jobs")["items"]))
        service.call("/v1/lake/namespaces/db/tables/t/metrics", {
            "report-type": "scan-report", "table-name": "db.t", "snapshot-id": 1, "filter": True, "schema-id": 0,
            "projected-field-ids": [], "projected-field-names": [],
            "metrics": {"result-data-files": {"unit": "count", "value": 10 ** 6}}})
        reads = {}

        def has_reads():
            with sqlite3.connect(f"file:{state}?mode=ro", uri=True) as store:
                learned = json.loads(store.execute("SELECT learned FROM tables").fetchone()[0])
            reads.update(learned.get("reads", {}))
            return reads
        service.wait(has_reads)
        service.stop()
    assert reads["scans_a_day"] == 1 and reads["files_a_scan"] == 10 ** 6

    make(lake, "u", 60, ROWS)
    lake.catalog.drop_table("db.t")
    lake.catalog.rename_table("db.u", "db.t")
    assert "never seen" in lake.firn("analyze", "lake.db.t", "--state", state, expect=3).stderr


def test_what_is_merged_again_at_once_is_not_worth_it(lake):
    make(lake, "t", 60, ROWS)
    state = lake.folder / "state.db"
    with serve(lake) as service:
        service.wait(lambda: any(job["state"] == "done" for job in service.get("/jobs")["items"]))
        service.stop()
    rng = random.Random(3)
    for i in range(60):
        lake.load("db.t").append(batch(rng, i * ROWS, ROWS, ("only",)))
    without = lake.firn_json("analyze", "db.t", "--no-measure", *SLOW)
    assert without["advice"]["merge"]["advised"] and "weighing" not in without, without["advice"]
    assert any("no state" in line for line in without["inputs"]), without["inputs"]

    remember_merges(lake, "lake/db.t", 24, 3_600_000, 5.0, 1_000_000)
    found = lake.firn_json("analyze", "db.t", "--no-measure", *SLOW, "--state", state)
    assert found["earlier"]["runs"] == 25
    assert found["earlier"]["lasting_days"] == pytest.approx(1 / 24, rel=0.01)
    assert found["costs"]["merge_bytes_per_second"] == pytest.approx(1e6, rel=0.01), "slow disks are seen"
    assert not found["weighing"]["are_reads_known"]
    assert not found["advice"]["merge"]["advised"], found["advice"]
    assert "merged again" in found["advice"]["merge"]["reason"]
    assert any("merged again" in line for line in found["inputs"]), found["inputs"]

    often = lake.firn_json("analyze", "db.t", "--no-measure", *SLOW, "--state", state, "--reads-a-day", 100_000)
    assert often["advice"]["merge"]["advised"], often["advice"]
    text = lake.firn("analyze", "lake.db.t", "--no-measure", "--state", state).stdout
    assert "What it stands on" in text and "25" in text


def test_apply_sets_the_property_and_nothing_else(lake):
    target = "write.target-file-size-bytes"
    table = make(lake, "t", 60, ROWS, properties={target: "32768", "firn.target-file-size-bytes": "32768", "other": "1"})
    rows, snapshot = lake.rows("db.t"), table.current_snapshot()
    far = ("--no-measure", "--request-ms", 100)
    shown = lake.firn_json("analyze", "db.t", *far)
    assert shown["advice"]["file_size"]["change"], shown["advice"]
    size = str(shown["advice"]["file_size"]["target_size_bytes"])
    assert lake.load("db.t").properties[target] == "32768", "it only recommends"
    for option in (("--where", "part = 'only'"), ("--target-file-size", "64kB")):
        assert "--apply" in lake.firn("analyze", "lake.db.t", "--apply", *option, expect=2).stderr

    found = lake.firn_json("analyze", "db.t", *far, "--apply")
    assert found["applied"] == [{"property": target, "before": "32768", "after": size},
                                {"property": "firn.target-file-size-bytes", "before": "32768", "after": size}]
    after = lake.load("db.t")
    assert after.properties == {target: size, "firn.target-file-size-bytes": size, "other": "1"}
    assert after.current_snapshot() == snapshot and lake.rows("db.t") == rows
    assert "Nothing to apply" in lake.firn("analyze", "lake.db.t", *far, "--apply").stdout
    assert lake.load("db.t").metadata_location == after.metadata_location


def test_apply_without_a_property_before(lake):
    make(lake, "t", 30, ROWS, properties={"firn.target-file-size-bytes": "32768"})
    assert "it was not set" in lake.firn("analyze", "lake.db.t", "--no-measure", "--request-ms", 100, "--apply").stdout
