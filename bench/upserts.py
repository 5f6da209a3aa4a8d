# SPDX-License-Identifier: Apache-2.0
"""Upserts every second into every partition, written by Java through a real REST catalog, while a rewriter loops.

    bench/upserts.py --firn build/release/firn [--seconds 600] [--with firn|spark|both]

First with firn (`optimize`, then `rewrite-deletes`, again and again), then with Spark's `rewrite_data_files`; counts what failed,
and compares the rows at the end with those that the stream means: by DuckDB and by the plain reader of the tests.
"""

import argparse
import json
import os
import shutil
import subprocess
import sys
import tempfile
import time
from collections import Counter
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT))
from tools.argument_types import whole  # noqa: E402

PARTITIONS, KEYS = 6, 5000


def spark_home(python):
    return subprocess.run([str(python), "-c", "import os, pyspark; print(os.path.dirname(pyspark.__file__))"],
                          capture_output=True, text=True, check=True).stdout.strip()


def stream(python, jars, uri, table, seconds, out):
    classpath = ":".join([*map(str, jars.glob("*.jar")), f"{spark_home(python)}/jars/*"])
    return subprocess.Popen(["java", "-Xmx1g", "-cp", classpath, str(ROOT / "bench/java/Upserts.java"), uri, table, str(seconds),
                             str(PARTITIONS), str(KEYS), str(out)], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)


def firn_loop(firn, uri, table, running):
    environment = dict(os.environ, PYICEBERG_CATALOG__R__TYPE="rest", PYICEBERG_CATALOG__R__URI=uri)
    counts, cpu, failures = Counter(), 0.0, []
    while running():
        for command in ("optimize", "rewrite-deletes"):
            done = subprocess.run([str(firn), command, "--json", "--quiet", f"r.{table}"], capture_output=True, text=True,
                                  env=environment)
            counts[f"{command} exit {done.returncode}"] += 1
            if done.returncode == 0:
                outcome = json.loads(done.stdout)
                counts[f"{command} commits"] += len(outcome.get("outcome", outcome).get("commits", []))
            else:
                failures.append(done.stderr.strip()[-300:])
        time.sleep(1)
    return counts, failures


def spark_loop(uri, warehouse, jars, table, stop):
    """Runs inside Spark's own environment, until `stop` exists."""
    from pyspark.sql import SparkSession
    paths = ",".join(str(p) for p in Path(jars).glob("*.jar"))
    catalog = "spark.sql.catalog.r"
    spark = (SparkSession.builder.master("local[2]").config("spark.jars", paths)
             .config("spark.driver.extraClassPath", paths.replace(",", ":")).config("spark.driver.memory", "4g")
             .config("spark.ui.enabled", "false").config("spark.driver.bindAddress", "127.0.0.1")
             .config("spark.sql.extensions", "org.apache.iceberg.spark.extensions.IcebergSparkSessionExtensions")
             .config(catalog, "org.apache.iceberg.spark.SparkCatalog").config(f"{catalog}.type", "rest")
             .config(f"{catalog}.uri", uri).config(f"{catalog}.cache-enabled", "false").getOrCreate())
    while not os.path.exists(stop):
        try:
            row = spark.sql(f"CALL r.system.rewrite_data_files(table => '{table}', options => map('delete-file-threshold', '1', "
                            "'remove-dangling-deletes', 'true'))").collect()[0]
            print(f"landed {row['rewritten_data_files_count']}", flush=True)
        except Exception as error:
            cause = getattr(error, "java_exception", None)
            while cause is not None and cause.getCause() is not None:
                cause = cause.getCause()
            print("failed " + (cause.toString() if cause is not None else str(error)).splitlines()[0][:80], flush=True)
        time.sleep(1)


def check(uri, table, expected_file):
    """The rows of the table, by two readers, against those that the stream means."""
    from pyiceberg.catalog.rest import RestCatalog

    from tests.interop.rows import duckdb_connection
    from tests.schedules import plain_reader
    location = RestCatalog("r", uri=uri).load_table(table).metadata_location
    metadata = plain_reader.load(location)
    wanted = Counter(tuple(map(int, line.split(","))) for line in Path(expected_file).read_text().split())
    rows = Counter((row.values[1], row.values[2], row.values[3])
                   for row in plain_reader.scan(metadata, metadata["current-snapshot-id"]))
    with duckdb_connection() as connection:
        duckdb = Counter(connection.sql(f"SELECT p, k, v FROM iceberg_scan('{plain_reader.local(location)}')").fetchall())
    live = plain_reader.entries(metadata, next(s for s in metadata["snapshots"]
                                               if s["snapshot-id"] == metadata["current-snapshot-id"]))
    files = Counter(["data", "position deletes", "equality deletes"][e.content] for e in live)
    for name, found in (("plain reader", rows), ("DuckDB", duckdb)):
        print(f"  {name}: {sum(found.values()):,} rows; lost {sum((wanted - found).values())}, too many "
              f"{sum((found - wanted).values())}")
    print("  live files: " + ", ".join(f"{count} {name}" for name, count in files.items()), flush=True)
    return rows == wanted


def run_one(who, firn, seconds, folder, uri, warehouse, python, jars):
    table, out = f"db.upserts_{who}", folder / f"{who}.csv"
    writer = stream(python, jars, uri, table, seconds, out)
    if who == "firn":
        time.sleep(12)  # until the table exists
        counts, failures = firn_loop(firn, uri, table, lambda: writer.poll() is None)
    else:
        stop = folder / "stop"
        environment = dict(os.environ, SPARK_HOME=spark_home(python), SPARK_LOCAL_IP="127.0.0.1")
        time.sleep(12)
        loop = subprocess.Popen([str(python), __file__, "--spark-loop", uri, warehouse, str(jars), table, str(stop)],
                                stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True, env=environment)
        writer.wait()
        stop.touch()
        lines = loop.communicate()[0].splitlines()
        counts = Counter(line.split()[0] for line in lines)
        failures = [line for line in lines if line.startswith("failed")]
    output, errors = writer.communicate()
    print(f"{who}: stream: {output.strip() or errors[-500:]}; rewrites: "
          f"{', '.join(f'{name} {n}' for name, n in sorted(counts.items()))}")
    for failure, count in Counter(failures).most_common(5):
        print(f"  {count} x {failure}")
    return check(uri, table, out)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--firn", type=Path, default=ROOT / "build/release/firn")
    parser.add_argument("--seconds", type=whole(1), default=600)
    parser.add_argument("--with", dest="who", choices=["firn", "spark", "both"], default="both")
    args = parser.parse_args()
    if not shutil.which(args.firn):
        parser.error(f"--firn {args.firn}: there is no such program; ./x build makes build/release/firn")
    sys.path.insert(0, str(ROOT / "bench"))
    from spark_months import setup

    from tests.services.servers import Servers
    data = ROOT / "build/bench"
    python, jars = setup(data)
    good = True
    with tempfile.TemporaryDirectory() as folder:
        servers = Servers(Path(folder) / "servers")
        servers.folder.mkdir()
        variables = servers.start_rest()
        try:
            for who in ["firn", "spark"] if args.who == "both" else [args.who]:
                good &= run_one(who, args.firn, args.seconds, Path(folder), variables["FIRN_TEST_REST_URI"],
                                variables["FIRN_TEST_REST_WAREHOUSE"], python, jars)
        finally:
            servers.stop()
    return 0 if good else 1


if __name__ == "__main__":
    if sys.argv[1:2] == ["--spark-loop"]:
        spark_loop(*sys.argv[2:])
    else:
        sys.exit(main())
