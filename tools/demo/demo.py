#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""`./x demo`: a table of many small files is made, optimized by firn, and read by others; options.py says more."""

import os
import shlex
import shutil
import subprocess
import sys
import time
from pathlib import Path

import duckdb
import pyarrow as pa
import pyarrow.parquet as pq
from pyiceberg.catalog.sql import SqlCatalog
from pyiceberg.transforms import MonthTransform

ROOT = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT))
import serve  # noqa: E402
from options import demo_arguments  # noqa: E402

from tests.interop.rows import duckdb_connection  # noqa: E402

TABLE = "demo.tpch.lineitem"
QUERY = ("SELECT l_returnflag, l_linestatus, sum(l_quantity), avg(l_extendedprice), count(*) FROM {source} "
         "WHERE l_shipdate <= DATE '1998-09-02' GROUP BY ALL ORDER BY ALL")


def say(text):
    print(f"\n== {text}", flush=True)


def generate(folder, scale):
    """Kept for the next run with the same scale."""
    target = folder / f"lineitem-{scale:g}.parquet"
    if not target.exists():
        (folder / "lineitem.parquet").unlink(missing_ok=True)  # of a run that did not end
        tool = Path(sys.executable).with_name("tpchgen-cli")
        subprocess.run([str(tool), "parquet", "-s", str(scale), "--tables=lineitem", "-o", str(folder)], check=True,
                       stdout=subprocess.DEVNULL)
        (folder / "lineitem.parquet").rename(target)
    return target


def ingest(catalog, source, appends):
    data = pq.read_table(source)
    text = [pa.field(f.name, pa.string() if pa.types.is_string_view(f.type) else f.type) for f in data.schema]
    data = data.cast(pa.schema(text))
    rows_each = -(-data.num_rows // appends)
    starts = range(0, data.num_rows, rows_each)
    catalog.create_namespace("tpch")
    table = catalog.create_table("tpch.lineitem", schema=data.schema)
    with table.update_spec() as update:
        update.add_field("l_shipdate", MonthTransform(), "month")
    for number, start in enumerate(starts, 1):
        table.append(data.slice(start, rows_each))
        print(f"\r   append {number} of {len(starts)}", end="", flush=True)
    print()


def fingerprint(connection, source):
    """Row count and two independent sums of row hashes: equal multisets have equal fingerprints."""
    columns = [row[0] for row in connection.sql(f"DESCRIBE SELECT * FROM {source}").fetchall()]
    row = ", ".join(f'"{c}"::VARCHAR' for c in sorted(columns))
    return connection.sql(f"SELECT count(*), sum(hash({row})::HUGEINT), sum(hash('salt', {row})::HUGEINT) "
                          f"FROM {source}").fetchone()


def by_duckdb(metadata):
    with duckdb_connection() as connection:
        return fingerprint(connection, f"iceberg_scan('{metadata}')")


def by_pyiceberg(table):
    rows = table.scan().to_arrow_batch_reader()
    with duckdb.connect(config={"threads": 2}) as connection:
        connection.register("rows_of_pyiceberg", rows)
        connection.execute("CREATE TABLE t AS SELECT * FROM rows_of_pyiceberg")
        return fingerprint(connection, "t")


def measure(table):
    files = table.inspect.files()
    metadata = table.metadata_location.removeprefix("file://")
    seconds = []
    with duckdb_connection() as connection:
        for _ in range(4):
            start = time.time()
            answer = connection.sql(QUERY.format(source=f"iceberg_scan('{metadata}')")).fetchall()
            seconds.append(time.time() - start)
    return {"files": len(files), "bytes": sum(files["file_size_in_bytes"].to_pylist()),
            "query": sorted(seconds[1:])[1], "answer": answer}


def near(path):
    """As short as it can be pasted where the demo was started."""
    path = Path(path).resolve()
    return str(path.relative_to(Path.cwd())) if path.is_relative_to(Path.cwd()) else str(path)


def configure(folder):
    """A configuration for firn and PyIceberg alike; its place."""
    config = folder / "firn.yaml"
    config.write_text(f"default-catalog: demo\ncatalog:\n  demo:\n    type: sql\n    uri: sqlite:///{folder}/catalog.db\n"
                      f"    warehouse: file://{folder}/warehouse\n")
    return config


def firn(binary, config, *arguments):
    words = [near(binary), *arguments, "--config", near(config)]
    print(f"$ {shlex.join(words)}", flush=True)
    start = os.times()
    subprocess.run(words, check=True)
    end = os.times()
    return end.elapsed - start.elapsed, end.children_user + end.children_system - start.children_user - start.children_system


def tell_what_is_left(folder, binary, config):
    size = sum(path.stat().st_size for path in folder.glob("**/*") if path.is_file())
    print(f"   {near(folder)} keeps the table, its catalog, the service's state, firn.yaml, and the generated rows for the "
          f"next run: {size / 2**20:,.0f} MiB")
    print("   go on, for example, with:")
    for words in (["health", TABLE], ["plan", TABLE], ["explain", TABLE, "--state", near(folder / "state.db")],
                  ["serve", "--state", near(folder / "state.db")]):
        has_config = words[0] != "explain"
        print("   $ " + shlex.join([near(binary), *words, *(["--config", near(config)] if has_config else [])]))


def main():
    try:
        return run_all()
    except KeyboardInterrupt:
        print("\ndemo: stopped", file=sys.stderr)
        return 130


def run_all():
    args = demo_arguments()
    folder = args.keep
    shutil.rmtree(folder / "warehouse", ignore_errors=True)
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "catalog.db").unlink(missing_ok=True)
    binary = str(args.firn.resolve())
    config = configure(folder)
    catalog = SqlCatalog("demo", uri=f"sqlite:///{folder}/catalog.db", warehouse=f"file://{folder}/warehouse")

    say("TPC-H lineitem, generated")
    source = generate(folder, args.scale)
    say("PyIceberg writes the table: one small file a month and append")
    ingest(catalog, source, args.appends)
    before = measure(catalog.load_table("tpch.lineitem"))
    say("two independent readers read every row")
    table_before = catalog.load_table("tpch.lineitem")
    rows = by_duckdb(table_before.metadata_location.removeprefix("file://"))
    print(f"   DuckDB: {rows[0]:,} rows", flush=True)
    agreed = by_pyiceberg(table_before) == rows
    print(f"   PyIceberg: {'the same rows' if agreed else 'ROWS DIFFER'}")

    say("firn")
    firn(binary, config, "health", TABLE)
    firn(binary, config, "plan", TABLE)
    wall, cpu = firn(binary, config, "optimize", TABLE)
    firn(binary, config, "health", TABLE)

    say("the same two readers, after")
    table_after = catalog.load_table("tpch.lineitem")
    after = measure(table_after)
    checks = {"DuckDB": by_duckdb(table_after.metadata_location.removeprefix("file://")),
              "PyIceberg": by_pyiceberg(table_after)}
    for reader, fingerprint_after in checks.items():
        print(f"   {reader}: {'the same rows' if fingerprint_after == rows else 'ROWS DIFFER'}")
    same = agreed and all(value == rows for value in checks.values()) and before["answer"] == after["answer"]

    say("before and after")
    print(f"   {'':18}{'before':>14}{'after':>14}")
    print(f"   {'data files':18}{before['files']:>14,}{after['files']:>14,}")
    print(f"   {'bytes':18}{before['bytes']:>14,}{after['bytes']:>14,}")
    print(f"   {'query in DuckDB':18}{before['query']:>12.2f} s{after['query']:>12.2f} s")
    print(f"   firn optimize took {wall:.1f} s ({cpu:.1f} s of CPU)")

    say("a writer goes on, and firn serve keeps the table in shape")
    appended, ended = serve.run(binary, config, catalog, source, folder, args.commits, args.stay)
    table_after = catalog.load_table("tpch.lineitem")
    counts = {"DuckDB": by_duckdb(table_after.metadata_location.removeprefix("file://"))[0],
              "PyIceberg": by_pyiceberg(table_after)[0]}
    for reader, count in counts.items():
        print(f"   {reader}: {count:,} rows, {rows[0]:,} and {appended:,} were written")
    same = same and ended == 0 and all(count == rows[0] + appended for count in counts.values())
    tell_what_is_left(folder, binary, config)
    if not same:
        print("demo: FAILED: the rows are not those that were written", file=sys.stderr)
    return 0 if same else 1


if __name__ == "__main__":
    sys.exit(main())
