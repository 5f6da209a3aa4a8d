# SPDX-License-Identifier: Apache-2.0
"""The second half of the demo: a writer goes on, and `firn serve` keeps the table in shape by itself."""

import json
import logging
import re
import signal
import subprocess
import time
import urllib.request
from urllib.parse import quote

import pyarrow.parquet as pq
from pyiceberg.exceptions import CommitFailedException

TABLE = "demo/tpch.lineitem"


class Served:
    def __init__(self, binary, config, folder):
        for file in folder.glob("state.db*"):
            file.unlink()
        self.process = subprocess.Popen([binary, "serve", "--config", str(config), "--catalog", "demo", "--listen",
                                         "127.0.0.1:0", "--state", str(folder / "state.db"), "--watch",
                                         str(folder / "warehouse"), "--debounce", "200ms"],
                                        stdout=subprocess.PIPE, text=True)
        found = re.search(r"http://\S+/", self.process.stdout.readline())
        if not found:
            raise SystemExit("demo: firn serve did not start")
        self.address = found.group(0)

    def get(self, path):
        with urllib.request.urlopen(self.address.rstrip("/") + "/api/v1" + path, timeout=30) as answer:
            return json.load(answer)

    def table(self):
        return self.get("/tables/" + quote(TABLE, safe=""))

    def is_idle(self):
        return not self.get("/queue")["items"] and self.get("/fleet")["jobs_running"] == 0

    def end(self):
        if self.process.poll() is None:
            self.process.send_signal(signal.SIGTERM)
        return self.process.wait(timeout=60)


class Overtaken(logging.Handler):
    """Counts what PyIceberg says when firn committed in between: it tries again by itself."""

    def __init__(self):
        super().__init__()
        self.count = 0
        logger = logging.getLogger("pyiceberg.table")
        logger.propagate = False
        logger.addHandler(self)

    def emit(self, record):
        if "concurrent update" in record.getMessage():
            self.count += 1
        else:
            logging.lastResort.handle(record)


def append(table, rows, overtaken):
    for _ in range(50):
        try:
            table.append(rows)
            return table.current_snapshot().summary
        except CommitFailedException:  # PyIceberg's own attempts were all overtaken: an engine tries again
            overtaken.count += 1
            table.refresh()
    raise SystemExit("demo: the writer never got through")


def stream(catalog, source, commits):
    """Appends a small slice of the data again and again. Returns rows and files appended, the most files that the table
    had, and how often the writer was overtaken."""
    overtaken = Overtaken()
    data = pq.read_table(source)
    table = catalog.load_table("tpch.lineitem")
    data = data.cast(table.schema().as_arrow())
    appended, added, most = 0, 0, 0
    for number in range(commits):
        rows = data.slice(number * 2_000 % data.num_rows, 1_000)
        summary = append(table, rows, overtaken)
        added += int(summary["added-data-files"])
        appended += rows.num_rows
        files = int(summary["total-data-files"])
        most = max(most, files)
        print(f"\r   append {number + 1} of {commits}: {files:,} files ", end="", flush=True)
    print()
    return appended, added, most, overtaken.count


def has_seen_all(served, catalog):
    """It has seen the last commit, whoever made it, and nothing is left to do: then its figures are the table's."""
    snapshot = catalog.load_table("tpch.lineitem").current_snapshot()
    return served.is_idle() and served.table()["last_snapshot_id"] == str(snapshot.snapshot_id)


WAITS = {"quiet": "too little has changed in them since they were looked at (their noise is below its threshold)",
         "calm": "another look at them would find too little", "scan": "their turn comes"}  # by the verdict


def tell_why_left(served, planned):
    """What the service says of the partitions that could have fewer files, one of each verdict; then what a plan by hand says."""
    rows = served.get(f"/tables/{quote(TABLE, safe='')}/partitions?limit=500")["items"]
    rows = [row for row in rows if row["removable_files"] > 0]
    if not rows:
        print("   none of the files that are left could be merged away")
        return
    for verdict in sorted({row["verdict"] for row in rows}):
        those = [row for row in rows if row["verdict"] == verdict]
        most = max(those, key=lambda row: row["removable_files"])
        print(f"   {sum(row['removable_files'] for row in those):,} files in {len(those):,} partitions could still go; the service "
              f"waits: {WAITS[verdict]}, such as {most['text'] or 'one'}: {most['reason']}")
    if any(row["verdict"] == "quiet" for row in rows):
        print("   noise grows with age: within a day they are looked at, whatever else happens (docs/noise-and-entropy.md)")
    print("   until then `firn health` counts them. `firn plan` asks for no noise, only whether a merge pays now; it says:")
    print(f"   {planned}")


def planned_by_hand(binary, config):
    """The first sentence of `firn plan`, which looks at every partition at once."""
    done = subprocess.run([binary, "plan", TABLE.replace("/", "."), "--config", str(config), "--json", "--quiet"],
                          stdout=subprocess.PIPE, check=True)
    return json.loads(done.stdout)["reason"]


def show(served, planned, files_before, files_added, most, files_now, overtaken):
    fleet = served.get("/fleet")
    print(f"   {files_added:,} small files came to {files_before:,}, which would be {files_before + files_added:,}; there were "
          f"at most {most:,}, and are {files_now:,}")
    print(f"   {fleet['commits_seen']:,} commits seen, {fleet['partitions_changed']:,} changes of partitions, "
          f"{fleet['partition_scans']:,} scans of partitions, {fleet['merges']:,} jobs, {fleet['files_replaced']:,} files replaced")
    if overtaken:
        print(f"   the writer's commit met one of firn's {overtaken:,} times, and was tried again by PyIceberg: that is how "
              "writers share a table")
    tell_why_left(served, planned)
    decisions = served.get(f"/decisions?table={quote(TABLE, safe='')}&limit=4")["items"]
    print("   what it decided last, newest first (`firn explain` has all):")
    for decision in decisions:
        print(f"   {decision['kind']:14} {decision['reason'][:140]}")


def run(binary, config, catalog, source, folder, commits, stay):
    served = Served(binary, config, folder)
    try:
        return follow(served, lambda: planned_by_hand(binary, config), catalog, source, commits, stay), served.end()
    finally:
        served.end()


def follow(served, plan, catalog, source, commits, stay):
    print(f"   dashboard: {served.address}")
    deadline = time.time() + 60
    while time.time() < deadline and not served.get("/tables")["items"]:
        time.sleep(0.2)
    before = len(catalog.load_table("tpch.lineitem").inspect.files())
    appended, added, most, overtaken = stream(catalog, source, commits)
    deadline = time.time() + 120
    while time.time() < deadline and not has_seen_all(served, catalog):
        time.sleep(0.2)
    now = len(catalog.load_table("tpch.lineitem").inspect.files())
    if served.table()["files"] != now:
        raise SystemExit(f"demo: the service shows {served.table()['files']:,} files, the table has {now:,}")
    show(served, plan(), before, added, max(most, before), now, overtaken)
    if stay:
        print(f"   the service goes on at {served.address} until Ctrl-C", flush=True)
        try:
            served.process.wait()
        except KeyboardInterrupt:
            pass
    return appended
