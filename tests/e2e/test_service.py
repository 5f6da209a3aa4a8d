# SPDX-License-Identifier: Apache-2.0
"""PyIceberg streams commits into many tables of a real REST catalog while `firn serve` keeps them in shape."""

import os
import random
import threading
import uuid

import pyarrow as pa
import pytest
from pyiceberg.catalog.rest import RestCatalog
from pyiceberg.exceptions import CommitFailedException

from tests.interop.rows import by_duckdb, by_pyiceberg

from .service import Service

URI = os.environ.get("FIRN_TEST_REST_URI")
pytestmark = pytest.mark.skipif(not URI, reason="no REST catalog (FIRN_TEST_REST_URI)")

TABLES, COMMITS = int(os.environ.get("FIRN_E2E_TABLES", 6)), int(os.environ.get("FIRN_E2E_COMMITS", 120))


class Stream:
    """Appends small files to random tables, and tells the service of each, or not."""

    def __init__(self, seed, tables=TABLES):
        self.random = random.Random(seed)
        self.catalog = RestCatalog("rest", uri=URI)
        self.namespace = f"e{uuid.uuid4().hex[:8]}"
        self.catalog.create_namespace(self.namespace)
        self.names = [f"{self.namespace}.t{i}" for i in range(tables)]
        self.tables = {}
        self.rows, self.commits = {}, {}
        for name in self.names:
            self.make_table(name)
        self.ingested_bytes = 0

    def make_table(self, name):
        schema = pa.schema([("id", pa.int64()), ("text", pa.string())])
        self.tables[name] = self.catalog.create_table(name, schema=schema, properties={
            "firn.target-file-size-bytes": "1000000", "commit.retry.num-retries": "20"})
        self.rows[name] = self.commits[name] = 0

    def commit(self):
        name = self.random.choice(self.names)
        count = self.random.randrange(200, 2000)
        first = self.rows[name]
        rows = pa.table({"id": pa.array(range(first, first + count), pa.int64()),
                         "text": [f"{self.random.random()}" for _ in range(count)]})
        table = self.tables[name]
        for _ in range(20):
            try:
                table.append(rows)
                break
            except CommitFailedException:
                table.refresh()
        self.rows[name] += count
        self.commits[name] += 1
        self.ingested_bytes += int(table.current_snapshot().summary["added-files-size"])
        return name, table.current_snapshot().snapshot_id

    def check(self):
        for name in self.names:
            table = self.catalog.load_table(name)
            rows = by_pyiceberg(table)
            assert sum(rows.values()) == self.rows[name], name
            assert rows == by_duckdb(table.metadata_location), name
            assert len(set(table.scan(selected_fields=("id",)).to_arrow()["id"].to_pylist())) == self.rows[name]

    def live_files(self):
        return {name: len(self.catalog.load_table(name).inspect.files()) for name in self.names}


def environment(folder):
    return dict(os.environ, PYICEBERG_CATALOG__R__URI=URI, PYICEBERG_CATALOG__R__TYPE="rest", HOME=str(folder))


def serve(folder, *arguments):
    return Service(folder, environment(folder), "--catalog", "r", "--debounce", "50ms", *arguments)


def tell(service, stream, name, snapshot_id):
    """What Iceberg's REST client reports after a commit."""
    table = name.split(".")[1]
    status, answer = service.call(f"/v1/r/namespaces/{stream.namespace}/tables/{table}/metrics", {
        "report-type": "commit-report", "table-name": name, "snapshot-id": snapshot_id, "sequence-number": 1,
        "operation": "append", "metrics": {}})
    assert status in (200, 202, 204), answer


def settled(service, stream):
    """Everything that was committed has been looked at, and no work is left."""
    for name in stream.names:
        seen = service.table(f"r/{name}")["last_snapshot_id"]
        if str(seen) != str(stream.catalog.load_table(name).current_snapshot().snapshot_id):
            return False
    return not service.get("/queue")["items"] and service.get("/fleet")["jobs_running"] == 0


def run(tmp_path, with_events, seed):
    stream = Stream(seed)
    sweep = "10m" if with_events else "1s"
    with serve(tmp_path, "--sweep-interval", sweep) as service:
        service.wait(lambda: service.call("/ready")[0] == 200)
        most = 0
        for number in range(COMMITS):
            name, snapshot_id = stream.commit()
            if with_events:
                tell(service, stream, name, snapshot_id)
            if number % 20 == 19:
                most = max(most, *stream.live_files().values())
        service.wait(lambda: settled(service, stream))
        fleet = service.get("/fleet")
        service.stop()
    stream.check()
    files = stream.live_files()
    print(f"\nseed {seed}: {COMMITS} commits, {fleet['merges']} merges, {fleet['partition_scans']} scans, files at the end "
          f"{sorted(files.values())}, at most {most}, rewritten {fleet['bytes_rewritten'] / stream.ingested_bytes:.2f} of "
          f"the ingested bytes, found by the sweep only: {fleet['snapshots_found_by_sweep_only']}")
    assert max(files.values()) <= 12, "the number of files is bounded"
    assert most < max(stream.commits.values()), "a table without any merge has a file for each commit"
    assert fleet["merges"] > 0
    assert fleet["bytes_rewritten"] <= 2 * stream.ingested_bytes
    return fleet


def test_stream_withEvents_staysInShape(tmp_path):
    fleet = run(tmp_path, True, 11)
    assert fleet["snapshots_found_by_sweep_only"] <= COMMITS * 0.1


def test_stream_withoutEvents_theSweepFindsAll(tmp_path):
    fleet = run(tmp_path, False, 12)
    assert fleet["snapshots_found_by_sweep_only"] > 0


def test_kills_loseNoRequestAndNoRow(tmp_path):
    """kill -9 at random moments, with a writer that goes on."""
    seed = 21
    rng = random.Random(seed)
    stream = Stream(seed, tables=3)
    requests = []
    service = serve(tmp_path, "--sweep-interval", "2s")
    stop = threading.Event()
    done = []

    def write():
        while not stop.is_set():
            done.append(stream.commit())

    writer = threading.Thread(target=write)
    writer.start()
    try:
        for _ in range(6):
            with service:
                service.wait(lambda: service.call("/ready")[0] == 200)
                service.wait(lambda: service.get("/tables")["items"])
                for _ in range(3):
                    table = service.get("/tables")["items"][0]["id"]
                    status, answer = service.call("/api/v1/requests", {"table": table, "action": "merge"})
                    if status == 202:
                        requests.append(answer["id"])
                stop.wait(rng.uniform(0.2, 3))
                service.kill()
    finally:
        stop.set()
        writer.join()
    with service:
        service.wait(lambda: service.call("/ready")[0] == 200)
        kept = {}
        service.wait(lambda: all(r["state"] in ("done", "failed", "refused") for r in
                                 kept.update({r["id"]: r for r in service.get("/requests?limit=500")["items"]}) or
                                 kept.values()), 120)
        service.wait(lambda: not service.get("/queue")["items"] and service.get("/fleet")["jobs_running"] == 0)
        assert set(requests) <= set(kept), "a request that was accepted is gone"
        jobs = service.get("/jobs?limit=500")["items"]
        assert all(job["state"] in ("done", "failed", "lost", "cancelled") for job in jobs), jobs
        service.stop()
    stream.check()
    print(f"\nseed {seed}: {len(done)} commits, {len(requests)} requests kept, {len(jobs)} jobs, "
          f"{sum(job['state'] == 'lost' for job in jobs)} lost and made up for")


def test_secrets_areNowhere(tmp_path):
    secret = "s3cr3t-" + uuid.uuid4().hex
    settings = environment(tmp_path) | {"PYICEBERG_CATALOG__R__TOKEN": secret}
    with Service(tmp_path, settings, "--catalog", "r") as service:
        service.wait(lambda: service.call("/health")[0] == 200)
        for path in ("/api/v1/settings", "/api/v1/policies", "/api/v1/tables", "/api/v1/decisions", "/metrics", "/ready"):
            assert secret not in str(service.call(path)[1]), path
        service.stop()
    assert secret not in (tmp_path / "serve.log").read_text()
