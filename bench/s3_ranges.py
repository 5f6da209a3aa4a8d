# SPDX-License-Identifier: Apache-2.0
"""A few large objects with large row groups into one: bytes that pass through firn, with copies inside of the store and
without them; time and CPU beside pyarrow reading and writing the same bytes.

Bytes are counted by a proxy in runs of their own; without copies it answers them as a store that does not know them.
"""

import json
import statistics
import subprocess
import sys
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
from measure import timed

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))
from tests.services.local_http import HttpProxy  # noqa: E402
from tests.services.servers import ACCESS_KEY, BUCKET, SECRET_KEY  # noqa: E402

FILES, ROWS, COLUMNS = 4, 1_000_000, 8
COPY = """
import sys
from pyarrow.fs import S3FileSystem
files = S3FileSystem(access_key=sys.argv[1], secret_key=sys.argv[2], endpoint_override=sys.argv[3], region="us-east-1")
with files.open_output_stream(sys.argv[4]) as sink:
    for name in sys.argv[5:]:
        with files.open_input_stream(name) as source:
            while block := source.read(8 << 20):
                sink.write(block)
"""


class BytesProxy(HttpProxy):
    withheld = {"connection", "expect"}

    def __init__(self, upstream, copies):
        super().__init__(upstream)
        self.copies, self.read, self.written = copies, 0, 0

    def handle(self, handler):
        body = self.body_of(handler)
        if handler.headers.get("x-amz-copy-source") and not self.copies:
            answer = 501, [("Content-Type", "application/xml")], b"<Error><Code>NotImplemented</Code></Error>"
        else:
            answer = self.forward(handler.command, handler.path, handler.headers, body)
        with self.lock:
            self.written += len(body)
            self.read += len(answer[2]) if handler.command == "GET" else 0
        self.reply(handler, *answer)


def make(files):
    random = np.random.default_rng(5)
    names = [f"{BUCKET}/large/in-{number}.parquet" for number in range(FILES)]
    for name in names:
        table = pa.table({f"v{i}": random.random(ROWS) for i in range(COLUMNS)})
        pq.write_table(table, name, filesystem=files, compression="zstd", use_dictionary=False, write_page_index=True)
    return names, sum(files.get_file_info(name).size for name in names)


def splice(firn, endpoint, names, output):
    keys = {"s3.endpoint": endpoint, "s3.access-key-id": ACCESS_KEY, "s3.secret-access-key": SECRET_KEY, "s3.region": "us-east-1"}
    return [str(firn), "splice", *(f"s3://{name}" for name in names), "-o", f"s3://{output}", "--json",
            *(word for key, value in keys.items() for word in ("--property", f"{key}={value}"))]


def ranges_bench(firn, files, endpoint, runs, results):
    names, size = make(files)
    output = f"{BUCKET}/large/out.parquet"
    print(f"\ns3: {FILES} objects of {size / FILES / 1e6:.0f} MB into one; bytes through firn, of those of the inputs", flush=True)
    for word, copies in (("with copies inside", True), ("without", False)):
        with BytesProxy(endpoint, copies) as proxy:
            done = json.loads(subprocess.run(splice(firn, proxy.url, names, output), capture_output=True, check=True).stdout)
        files.delete_file(output)
        results[f"s3/large, {word}"] = {"read": proxy.read / size, "written": proxy.written / size,
                                        "copied": done["storage_copied_bytes"] / size}
        print(f"  {word:24}read {proxy.read / size:.2f}, written {proxy.written / size:.2f}, "
              f"copied {done['storage_copied_bytes'] / size:.2f}", flush=True)
    commands = {"firn splice": splice(firn, endpoint, names, output),
                "read and write": [sys.executable, "-c", COPY, ACCESS_KEY, SECRET_KEY, endpoint, output, *names]}
    spent = {name: [] for name in commands}
    for _ in range(runs):
        for name, command in commands.items():
            spent[name].append(timed(command))
            files.delete_file(output)
    for name, seen in spent.items():
        wall, cpu = (statistics.median(run[what] for run in seen) for what in ("wall", "cpu"))
        results[f"s3/large, {name}"] = {"seconds": wall, "cpu": cpu}
        print(f"  {name:24}{wall:>8.2f} s, CPU {cpu:.2f} s", flush=True)
