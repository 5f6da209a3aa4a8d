# SPDX-License-Identifier: Apache-2.0
"""The second half of the demo: a writer goes on, and `firn serve` keeps the table in shape by itself."""

import json
import re
import signal
import subprocess
import time
import urllib.request
from urllib.parse import quote

import pyarrow.parquet as pq
from pyiceberg.exceptions import CommitFailedException


class Served:
    def __init__(self, binary, folder):
        for file in folder.glob("state.db*"):
            file.unlink()
        self.process = subprocess.Popen([binary, "serve", "--catalog", "demo", "--listen", "127.0.0.1:0", "--state",
                                         str(folder / "state.db"), "--watch", str(folder / "warehouse"), "--debounce", "200ms"],
                                        stdout=subprocess.PIPE, text=True)
        found = re.search(r"http://\S+/", self.process.stdout.readline())
        if not found:
            raise SystemExit("demo: firn serve did not start")
        self.address = found.group(0)

    def get(self, path):
        with urllib.request.urlopen(self.address.rstrip("/") + "/api/v1" + path, timeout=30) as answer:
            return json.load(answer)

    def table(self):
        return self.get("/tables/" + quote("demo/tpch.lineitem", safe=""))

    def is_idle(self):
        return not self.get("/queue")["items"] and self.get("/fleet")["jobs_running"] == 0

    def end(self):
        self.process.send_signal(signal.SIGTERM)
        return self.process.wait(timeout=60)


def append(table, rows):
    for _ in range(50):
        try:
            table.append(rows)
            return int(table.current_snapshot().summary["added-data-files"])
        except CommitFailedException:  # firn committed in between: an engine tries again
            table.refresh()
    raise SystemExit("demo: the writer never got through")


def stream(catalog, source, served, commits):
    """Appends a small slice of the data again and again. Returns rows and files appended, and the most files seen."""
    data = pq.read_table(source)
    table = catalog.load_table("tpch.lineitem")
    data = data.cast(table.schema().as_arrow())
    appended, added, most = 0, 0, 0
    for number in range(commits):
        rows = data.slice(number * 2_000, 1_000)
        added += append(table, rows)
        appended += rows.num_rows
        most = max(most, served.table()["files"])
        print(f"\r   append {number + 1} of {commits}: {served.table()['files']:,} files ", end="", flush=True)
    print()
    return appended, added, most


def show(served, before_files, added_files, most):
    fleet, table = served.get("/fleet"), served.table()
    print(f"   {added_files:,} small files came to {before_files:,}; there were at most {most:,}, and are {table['files']:,}")
    print(f"   {fleet['commits_seen']:,} commits seen, {fleet['partitions_changed']:,} changes of partitions, "
          f"{fleet['partition_scans']:,} scans of partitions, {fleet['merges']:,} jobs, {fleet['files_replaced']:,} files replaced")
    for decision in served.get("/decisions?limit=4")["items"]:
        print(f"   {decision['kind']:14} {decision['reason'][:120]}")


def run(binary, catalog, source, folder, commits, stay):
    served = Served(binary, folder)
    print(f"   dashboard: {served.address}")
    deadline = time.time() + 60
    while time.time() < deadline and not served.get("/tables")["items"]:
        time.sleep(0.2)
    table = catalog.load_table("tpch.lineitem")
    before = len(table.inspect.files())
    appended, added, most = stream(catalog, source, served, commits)
    while time.time() < deadline + 120 and not served.is_idle():
        time.sleep(0.2)
    show(served, before, added, most)
    if stay:
        print(f"   the service goes on at {served.address} until Ctrl-C", flush=True)
        try:
            served.process.wait()
        except KeyboardInterrupt:
            pass
    return appended, served.end()
