# SPDX-License-Identifier: Apache-2.0
"""A table heavy with deletes: 6 M rows of lineitem in 1,000 data files, 1,000 position and 200 equality delete files.

Ten rounds of commits: 100 data files of some order keys each, 100 position delete files (1 % of the rows of one file
each) and 20 equality delete files (100 order keys each). Another engine written from the specification makes them.
Then Spark's `rewrite_data_files` with `delete-file-threshold` 1, iceberg-compaction (Rust) and `firn optimize`, each on a
copy of it. What the table must hold afterwards was computed when it was made; every run's result is compared with that.
"""

import json
import os
import random
import shutil
import statistics
import subprocess
import sys
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq
from pyiceberg.catalog.rest import RestCatalog
from spark_months import restore, run_in_spark, setup

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))
from tests.interop.conftest import Lake  # noqa: E402
from tests.interop.rows import duckdb_connection  # noqa: E402
from tests.schedules.plain_reader import local  # noqa: E402
from tests.schedules.plain_writer import Commit, PlainTable  # noqa: E402
from tests.services.servers import Servers  # noqa: E402
from tests.services.set_up import set_up  # noqa: E402

ROUNDS, FILES, EQUALITY_FILES = 10, 100, 20
COMPACTION = "iceberg-compaction==202604.9.0rc0"
COMPACT = """
import sys
from iceberg_compaction import Compaction, CompactionConfig, RestCatalog
catalog = RestCatalog("served", uri=sys.argv[1], warehouse=sys.argv[2])
print(Compaction(catalog, sys.argv[3], CompactionConfig(strategy="full", target_file_size_bytes=128 << 20,
                                                        max_record_batch_rows=8192, enable_prefetch=True)).run())
"""


class Round(Commit):
    """Writes prepared Arrow tables: a million rows are too many for dicts."""

    def add_table(self, table):
        path = self.path("data.parquet")
        os.makedirs(os.path.dirname(path), exist_ok=True)
        pq.write_table(table, path, compression="zstd", store_decimal_as_integer=True, write_page_index=True)
        self._file(0, path, table.num_rows, 0, {})
        return path


def make(folder, lineitem):
    """The table, and beside it a file with the rows that are left: which ones is known while the deletes are written."""
    lake = Lake(folder)
    rng = random.Random(7)
    lake.catalog.create_table("db.deletes", lineitem.schema, properties={
        "format-version": "2", "write.target-file-size-bytes": "134217728"})
    table = PlainTable(str(folder / "catalog.db"), "db", "deletes")
    fields = table.current()[1]["schemas"][0]["fields"]
    ids = {f["name"]: f["id"] for f in fields}
    total, count = lineitem.num_rows, ROUNDS * FILES
    begin = [total * k // count for k in range(count + 1)]
    every_key = lineitem["l_orderkey"].to_numpy()
    keys, left, first_row = pc.unique(lineitem["l_orderkey"]).to_pylist(), np.ones(total, bool), {}
    for number in range(ROUNDS):
        commit = Round(table, rng)
        for k in range(number * FILES, (number + 1) * FILES):
            path = commit.add_table(lineitem.slice(begin[k], begin[k + 1] - begin[k]))
            first_row[f"file://{path}"] = begin[k]
        commit.publish("append")
        commit = Round(table, rng)
        live = sorted({e.path: e for e in commit.live() if e.content == 0}.values(), key=lambda e: e.path)
        for entry in rng.sample(live, FILES):
            rows = entry.file["record_count"]
            positions = sorted(rng.sample(range(rows), rows // 100))
            commit.delete_positions([(entry, positions)])
            left[first_row[entry.path] + np.array(positions)] = False
        for _ in range(EQUALITY_FILES):
            some = rng.sample(keys, 100)
            commit.delete_equal([ids["l_orderkey"]], [{ids["l_orderkey"]: key} for key in some], {})
            written = begin[(number + 1) * FILES]
            left[:written] &= ~np.isin(every_key[:written], some)
        commit.publish("delete")
    pq.write_table(lineitem.filter(pa.array(left)), folder.parent / "expected.parquet")


def fingerprint(source):
    """(rows, sum of their hashes over all columns)."""
    with duckdb_connection() as connection:
        columns = ", ".join(f'"{line[0]}"' for line in connection.sql(f"DESCRIBE SELECT * FROM {source}").fetchall())
        return connection.sql(f"SELECT count(*), sum(hash({columns})) FROM {source}").fetchone()


def assert_rows(folder, who, location):
    """The newest snapshot holds what is left of the rows."""
    path = local(location)
    newest = json.loads(Path(path).read_text())["snapshots"][-1]["snapshot-id"]
    found = fingerprint(f"iceberg_scan('{path}', snapshot_from_id={newest})")
    assert found == fingerprint(f"'{folder}/expected.parquet'"), f"{who}: other rows: {found}"


def compaction_python(data):
    """An environment with iceberg-compaction (Rust) in it; kept between runs."""
    python = data / "compaction/venv/bin/python"
    if not python.exists():
        set_up(sys.executable, "-m", "venv", data / "compaction/venv")
        set_up(python, "-m", "pip", "install", "-q", COMPACTION)
    return python


def by_compaction(data, folder, runs):
    """CPU, wall and peak memory of iceberg-compaction, which knows REST catalogs only; or why it cannot."""
    from measure import peak_mb, timed
    python = compaction_python(data)

    def served(measure):
        restore(folder)
        shutil.rmtree(folder / "rest", ignore_errors=True)
        (folder / "rest").mkdir()
        servers = Servers(folder / "rest")
        try:
            uri = servers.start_rest()["FIRN_TEST_REST_URI"]
            catalog = RestCatalog("served", uri=uri)
            catalog.create_namespace("db")
            start = PlainTable(str(folder / "work/catalog.db"), "db", "deletes").current()[0]
            catalog.register_table("db.deletes", start)
            os.sync()
            measured = measure([str(python), "-c", COMPACT, uri, f"file://{folder}/work/warehouse", "db.deletes"])
            assert_rows(folder, "iceberg-compaction", catalog.load_table("db.deletes").metadata_location)
            return measured
        finally:
            servers.stop()

    try:
        some = [served(timed) for _ in range(runs)]
        return {"cpu": statistics.median(r["cpu"] for r in some), "wall": statistics.median(r["wall"] for r in some),
                "rss_mb": served(peak_mb)}
    except (RuntimeError, AssertionError, subprocess.SubprocessError) as error:
        return {"error": str(error).strip().splitlines()[-1]}


def use_lake(folder):
    """The catalog `lake` of the working copy, for firn and PyIceberg."""
    os.environ.update({"PYICEBERG_CATALOG__LAKE__TYPE": "sql",
                       "PYICEBERG_CATALOG__LAKE__URI": f"sqlite:///{folder}/work/catalog.db",
                       "PYICEBERG_CATALOG__LAKE__WAREHOUSE": f"file://{folder}/work/warehouse"})


def by_firn(firn, folder, runs):
    from measure import peak_mb, timed
    use_lake(folder)
    command = [str(firn), "optimize", "--quiet", "--threads", "2", "--memory", "512MB", "lake.db.deletes"]
    some = []
    for _ in range(runs):
        restore(folder)
        os.sync()
        some.append(timed(command))
        assert_rows(folder, "firn", PlainTable(str(folder / "work/catalog.db"), "db", "deletes").current()[0])
    restore(folder)
    return {"cpu": statistics.median(r["cpu"] for r in some), "wall": statistics.median(r["wall"] for r in some),
            "rss_mb": peak_mb(command)}


def by_spark(python, jars, folder, runs):
    restore(folder)
    lines = [line.split() for line in run_in_spark(python, "rewrite-deletes", folder, jars, str(runs)).splitlines()]
    told = {word: [float(line[1]) for line in lines if line[:1] == [word]] for word in ("cpu", "wall", "rss")}
    assert_rows(folder, "Spark", PlainTable(str(folder / "work/catalog.db"), "db", "deletes").current()[0])
    return {"cold_cpu": told["cpu"][0], "cpu": statistics.median(told["cpu"][1:]),
            "wall": statistics.median(told["wall"][1:]), "rss_mb": told["rss"][0]}


def deletes_bench(firn, data, runs, results):
    from splice import lineitem
    folder = data / "deletes"
    python, jars = setup(data)
    if not (folder / ".done").exists():
        shutil.rmtree(folder, ignore_errors=True)
        (folder / "work").mkdir(parents=True)
        make(folder / "work", lineitem(data))
        shutil.copytree(folder / "work", folder / "pristine")
        (folder / ".done").touch()
    tools = {"Spark, warm call": by_spark(python, jars, folder, runs), "iceberg-compaction": by_compaction(data, folder, runs),
             "firn, --memory 512MB": by_firn(firn, folder, runs)}
    results["deletes"] = tools
    print(f"\n6 M rows, 1,000 data, 1,000 position and 200 equality delete files, {runs} runs, medians; rows equal afterwards")
    print(f"  {'tool':22}{'CPU s':>8}{'firn is':>9}{'wall s':>8}{'RSS MB':>8}")
    for name, row in tools.items():
        if "error" in row:
            print(f"  {name:22}cannot: {row['error']}")
            continue
        row["firn_ratio"] = tools["firn, --memory 512MB"]["cpu"] / row["cpu"]
        print(f"  {name:22}{row['cpu']:>8.2f}{row['firn_ratio']:>9.3f}{row['wall']:>8.2f}{row['rss_mb']:>8.0f}")
    print(f"  Spark's first call took {tools['Spark, warm call']['cold_cpu']:.1f} CPU s")
