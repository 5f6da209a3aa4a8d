# SPDX-License-Identifier: Apache-2.0
"""2,500 small objects of a table in a real S3 server (SeaweedFS) into few: requests for each, and time beside a plain copy.

Requests are counted by a proxy in a run of its own. Then, in turn: `firn optimize`, and the same objects copied one by one by
pyarrow, many at a time, into a local folder and (once) into the bucket. The rows afterwards are counted and summed.
"""

import os
import shutil
import statistics
import subprocess
import sys
import time
from collections import Counter
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.fs
import pyarrow.parquet as pq
from pyiceberg.catalog.sql import SqlCatalog
from s3_ranges import ranges_bench

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))
from tests.services.s3_proxy import S3Proxy  # noqa: E402
from tests.services.servers import ACCESS_KEY, BUCKET, SECRET_KEY, Servers  # noqa: E402

FILES = int(os.environ.get("FIRN_BENCH_S3_FILES", "2500"))
ROWS, THREADS, BATCH = 2_000, 32, 250
GETS_MAX = 1.1  # for each input


class S3Lake:
    def __init__(self, folder, endpoint):
        self.folder, self.endpoint = folder, endpoint
        self.files = pyarrow.fs.S3FileSystem(access_key=ACCESS_KEY, secret_key=SECRET_KEY, endpoint_override=endpoint,
                                             region="us-east-1")
        self.properties = {"s3.endpoint": endpoint, "s3.access-key-id": ACCESS_KEY, "s3.secret-access-key": SECRET_KEY,
                           "s3.region": "us-east-1"}
        self.uri = f"sqlite:///{folder}/catalog.db"
        self.catalog = SqlCatalog("lake", uri=self.uri, warehouse=f"s3://{BUCKET}/bench", **self.properties)
        self.data = f"{BUCKET}/bench/db/t/data"

    def make(self):
        random = np.random.default_rng(3)
        schema = pa.schema([("id", pa.int64()), *((f"v{i}", pa.float64()) for i in range(3))])
        self.catalog.create_namespace("db")
        table = self.catalog.create_table("db.t", schema=schema, location=f"s3://{BUCKET}/bench/db/t")

        def put(number, columns):
            pq.write_table(pa.table([range(number * ROWS, (number + 1) * ROWS), *columns], schema=schema),
                           f"{self.data}/small-{number:05}.parquet", filesystem=self.files, compression="zstd")
            return f"s3://{self.data}/small-{number:05}.parquet"

        with ThreadPoolExecutor(THREADS) as pool:
            paths = list(pool.map(put, range(FILES), [list(random.random((3, ROWS))) for _ in range(FILES)]))
        for begin in range(0, FILES, BATCH):
            table.add_files(paths[begin:begin + BATCH], check_duplicate_files=False)
        shutil.copy(self.folder / "catalog.db", self.folder / "first.db")

    def optimize(self, firn, endpoint):
        shutil.copy(self.folder / "first.db", self.folder / "catalog.db")
        environment = dict(os.environ, HOME=str(self.folder), PYICEBERG_CATALOG__LAKE__URI=self.uri,
                           PYICEBERG_CATALOG__LAKE__TYPE="sql", AWS_ENDPOINT_URL_S3=endpoint, AWS_REGION="us-east-1",
                           AWS_ACCESS_KEY_ID=ACCESS_KEY, AWS_SECRET_ACCESS_KEY=SECRET_KEY)
        begin = time.monotonic()
        subprocess.run([str(firn), "optimize", "lake.db.t", "--quiet"], env=environment, check=True, stdout=subprocess.DEVNULL)
        return time.monotonic() - begin

    def copy(self, target, path):
        begin = time.monotonic()
        names = [f"small-{number:05}.parquet" for number in range(FILES)]
        target.create_dir(path)

        def one(name):
            with self.files.open_input_stream(f"{self.data}/{name}") as source:
                content = source.read()
            with target.open_output_stream(f"{path}/{name}") as sink:
                sink.write(content)

        with ThreadPoolExecutor(THREADS) as pool:
            list(pool.map(one, names))
        return time.monotonic() - begin

    def check(self):
        table = SqlCatalog("lake", uri=self.uri, **self.properties).load_table("db.t")
        ids = table.scan(selected_fields=("id",)).to_arrow()["id"]
        count = FILES * ROWS
        if len(ids) != count or pa.compute.sum(ids).as_py() != count * (count - 1) // 2:
            raise SystemExit(f"s3: rows changed: {len(ids)} of {count}")
        return len(table.inspect.files())


def requests_of(lake, firn, results):
    with S3Proxy(lake.endpoint, ACCESS_KEY, SECRET_KEY) as proxy:
        lake.optimize(firn, proxy.url)
    inputs = Counter(method for method, path in proxy.requests if "/small-" in path)
    left = Counter(method for method, path in proxy.requests if "/small-" not in path)
    gets = inputs["GET"] / FILES
    results["s3/requests"] = {"inputs": FILES, "gets_per_input": gets, "heads_of_inputs": inputs["HEAD"], "other": dict(left)}
    word = "met" if gets <= GETS_MAX and inputs["HEAD"] == 0 else "MISSED"
    print(f"  {FILES} inputs: {gets:.3f} GET each (goal {GETS_MAX}), {inputs['HEAD']} HEAD: {word}; "
          f"other requests: {', '.join(f'{count} {method}' for method, count in sorted(left.items()))}", flush=True)


def s3_bench(firn, data, runs, results):
    print(f"\ns3: {FILES} small objects in SeaweedFS", flush=True)
    folder = data / "s3"
    servers = Servers(folder / "servers")
    shutil.rmtree(folder, ignore_errors=True)
    (folder / "servers").mkdir(parents=True)
    try:
        lake = S3Lake(folder, servers.start_s3()["FIRN_TEST_S3_ENDPOINT"])
        lake.make()
        requests_of(lake, firn, results)
        print(f"  {lake.check()} files left, rows as before", flush=True)
        local = pyarrow.fs.LocalFileSystem()
        cases = {"firn optimize": lambda: lake.optimize(firn, lake.endpoint),
                 "copy to a folder": lambda: lake.copy(local, str(folder / "copy")),
                 "copy in the bucket": lambda: lake.copy(lake.files, f"{BUCKET}/copy")}
        seconds = {name: [] for name in cases}
        for run in range(runs):
            for name, case in cases.items():
                if run == 0 or name != "copy in the bucket":  # what it overwrites stays in the server's volumes
                    seconds[name].append(case())
        medians = {name: statistics.median(values) for name, values in seconds.items()}
        for name, median in medians.items():
            results[f"s3/{name}"] = {"seconds": median, "runs": seconds[name]}
            print(f"  {name:24}{median:>8.2f} s{median / medians['firn optimize']:>8.2f}x of firn", flush=True)
        ranges_bench(firn, lake.files, lake.endpoint, runs, results)
    finally:
        servers.stop()
