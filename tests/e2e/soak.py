# SPDX-License-Identifier: Apache-2.0
"""python -m tests.e2e.soak --seconds 600 --seed 7 [--tables 10] [--faults 0.05]

A long run in short: writers append to many tables of a real REST catalog while `firn serve` keeps them in shape behind a
proxy that breaks requests; the service is killed (SIGKILL) at random moments and started again on the same state; work is
requested, tables are dropped and made anew. At the end everything has to settle: rows as written by two readers, every
accepted request ended, no job open, files bounded. Needs FIRN_TEST_REST_URI, or starts the servers itself.
"""

import argparse
import os
import random
import sys
import tempfile
import threading
import time
import uuid
from pathlib import Path

from tests.program import why_not
from tests.services.fault_proxy import FaultProxy
from tests.services.servers import Servers
from tools.argument_types import above_zero, whole

FAULTS = ["drop_before", "drop_after", "after:500", "after:503", "before:503", "late:0.5", "garble"]


class Faults:
    """Gives the proxy a fault now and then, for ever."""

    def __init__(self, rng, rate):
        self.rng, self.rate, self.given = rng, rate, 0

    def pop(self, _index=0):
        if self.rng.random() >= self.rate:
            return "pass"
        self.given += 1
        return self.rng.choice(FAULTS)

    def __bool__(self):
        return True


class Soak:
    def __init__(self, args, folder):
        from . import test_service as streams  # reads the server's address when it is imported

        self.args, self.rng = args, random.Random(args.seed)
        self.stream = streams.Stream(args.seed, args.tables)
        self.settled = streams.settled
        self.lock, self.stop = threading.Lock(), threading.Event()
        self.commits = self.kills = self.drops = 0
        self.requests, self.folder = [], folder
        self.faults = Faults(random.Random(args.seed + 1), args.faults)

    def write(self):
        while not self.stop.is_set():
            with self.lock:
                self.stream.commit()
                self.commits += 1
            self.stop.wait(self.args.pause)

    def drop_one(self):
        """Another table gets the name of one."""
        with self.lock:
            name = self.rng.choice(self.stream.names)
            self.stream.catalog.drop_table(name)
            self.stream.make_table(name)
            self.drops += 1

    def ask(self, service):
        tables = [t["id"] for t in service.get("/tables?limit=100")["items"] if t["state"] == "ok"]
        if not tables:
            return
        status, answer = service.call("/api/v1/requests", {"table": self.rng.choice(tables), "action": self.rng.choice(
            ["merge", "scan", "rewrite-deletes"])})
        if status == 202:
            self.requests.append(answer["id"])

    def live(self, service):
        """One life of the service."""
        with service:
            service.wait(lambda: service.call("/ready")[0] == 200, 120)
            until = time.time() + self.rng.expovariate(1 / 15)
            while time.time() < until and time.time() < self.until:
                if self.rng.random() < 0.3:
                    self.ask(service)
                if self.rng.random() < 0.03:
                    self.drop_one()
                time.sleep(0.5)
            service.kill()
            self.kills += 1

    def end(self, service):
        self.faults.rate = 0
        with service:
            service.wait(lambda: service.call("/ready")[0] == 200, 120)
            service.wait(lambda: self.settled(service, self.stream), 240)
            kept = {r["id"]: r for r in self.all(service, "/requests")}
            missing = [r for r in self.requests if r not in kept]
            still_open = [r for r in kept.values() if r["state"] in ("waiting", "queued", "running")]
            jobs = self.all(service, "/jobs")
            open_jobs = [j for j in jobs if j["state"] in ("waiting", "running")]
            service.stop()
        files = self.stream.live_files()
        self.stream.check()
        print(f"seed {self.args.seed}: {self.commits} commits, {self.kills} kills, {self.drops} tables made anew, "
              f"{self.faults.given} faults, {len(self.requests)} requests accepted, {len(jobs)} jobs "
              f"({sum(j['state'] == 'lost' for j in jobs)} lost), files at the end {sorted(files.values())}")
        assert not missing, missing
        assert not still_open, still_open
        assert not open_jobs, open_jobs
        assert max(files.values()) <= 20, files

    @staticmethod
    def all(service, path):
        items, after = [], None
        while True:
            page = service.get(f"{path}?limit=200" + (f"&after={after}" if after else ""))
            items += page["items"]
            after = page["next"]
            if not after:
                return items

    def run(self):
        from .service import Service
        self.until = time.time() + self.args.seconds
        with FaultProxy(os.environ["FIRN_TEST_REST_URI"], []) as proxy:
            proxy.faults = self.faults
            environment = dict(os.environ, PYICEBERG_CATALOG__R__URI=proxy.url, PYICEBERG_CATALOG__R__TYPE="rest",
                               HOME=str(self.folder))
            service = Service(self.folder, environment, "--catalog", "r", "--debounce", "50ms", "--sweep-interval", "3s")
            writer = threading.Thread(target=self.write)
            writer.start()
            try:
                while time.time() < self.until:
                    self.live(service)
            finally:
                self.stop.set()
                writer.join()
            self.end(service)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--seconds", type=above_zero, default=600)
    parser.add_argument("--seed", type=int, default=7)
    parser.add_argument("--tables", type=whole(1), default=10)
    parser.add_argument("--faults", type=float, default=0.05, help="share of requests of the service that break")
    parser.add_argument("--pause", type=float, default=0.2, help="seconds between commits")
    args = parser.parse_args()
    if why := why_not():
        print(f"soak: {why}", file=sys.stderr)
        return 2
    with tempfile.TemporaryDirectory(prefix=f"firn-soak-{uuid.uuid4().hex[:6]}-") as name:
        folder, servers = Path(name), None
        if "FIRN_TEST_REST_URI" not in os.environ:
            servers = Servers(folder / "servers")
            os.environ.update(servers.start())
        (folder / "home").mkdir()
        try:
            Soak(args, folder / "home").run()
        finally:
            if servers:
                servers.stop()
    return 0


if __name__ == "__main__":
    sys.exit(main())
