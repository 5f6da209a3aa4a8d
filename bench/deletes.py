# SPDX-License-Identifier: Apache-2.0
"""A table heavy with deletes: 6 M rows of lineitem in 1,000 data files, 1,000 position and 200 equality delete files.

Ten rounds of commits: 100 data files of some order keys each, 100 position delete files (1 % of the rows of one file
each) and 20 equality delete files (100 order keys each). Another engine written from the specification makes them.
Then Spark's `rewrite_data_files` with `delete-file-threshold` 1, and `firn optimize`, each on a copy in the same catalog.
"""

import os
import random
import shutil
import statistics
import subprocess
import sys
from pathlib import Path

import pyarrow.compute as pc
import pyarrow.parquet as pq

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))
from tests.interop.conftest import Lake  # noqa: E402
from tests.schedules.plain_reader import local  # noqa: E402
from tests.schedules.plain_writer import Commit, PlainTable  # noqa: E402

ROUNDS, FILES, EQUALITY_FILES = 10, 100, 20


class Round(Commit):
    """Writes prepared Arrow tables: a million rows are too many for dicts."""

    def add_table(self, table):
        path = self.path("data.parquet")
        os.makedirs(os.path.dirname(path), exist_ok=True)
        pq.write_table(table, path, compression="zstd", store_decimal_as_integer=True, write_page_index=True)
        self._file(0, path, table.num_rows, 0, {})


def make(folder, lineitem):
    lake = Lake(folder)
    rng = random.Random(7)
    lake.catalog.create_table("db.deletes", lineitem.schema, properties={
        "format-version": "2", "write.target-file-size-bytes": "134217728"})
    table = PlainTable(str(folder / "catalog.db"), "db", "deletes")
    fields = table.current()[1]["schemas"][0]["fields"]
    ids = {f["name"]: f["id"] for f in fields}
    total, count = lineitem.num_rows, ROUNDS * FILES
    keys = pc.unique(lineitem["l_orderkey"]).to_pylist()
    for number in range(ROUNDS):
        commit = Round(table, rng)
        for k in range(number * FILES, (number + 1) * FILES):
            begin, end = total * k // count, total * (k + 1) // count
            commit.add_table(lineitem.slice(begin, end - begin))
        commit.publish("append")
        commit = Round(table, rng)
        live = sorted({e.path: e for e in commit.live() if e.content == 0}.values(), key=lambda e: e.path)
        for entry in rng.sample(live, FILES):
            rows = entry.file["record_count"]
            commit.delete_positions([(entry, sorted(rng.sample(range(rows), rows // 100)))])
        for _ in range(EQUALITY_FILES):
            some = [{ids["l_orderkey"]: key} for key in rng.sample(keys, 100)]
            commit.delete_equal([ids["l_orderkey"]], some, {})
        commit.publish("delete")


def deletes_bench(firn, data, runs, results):
    from run import lineitem, peak_mb, timed
    from spark_months import restore, run_in_spark, setup
    folder = data / "deletes"
    python, jars = setup(data)
    if not (folder / ".done").exists():
        shutil.rmtree(folder, ignore_errors=True)
        (folder / "work").mkdir(parents=True)
        make(folder / "work", lineitem())
        shutil.copytree(folder / "work", folder / "pristine")
        (folder / ".done").touch()
    restore(folder)
    spark = [line.split() for line in run_in_spark(python, "rewrite-deletes", folder, jars, str(runs)).splitlines()]
    spark_cpu = [float(line[1]) for line in spark if line[:1] == ["cpu"]]
    spark_rss = next((float(line[1]) for line in spark if line[:1] == ["rss"]), 0)
    os.environ.update({"PYICEBERG_CATALOG__LAKE__TYPE": "sql",
                       "PYICEBERG_CATALOG__LAKE__URI": f"sqlite:///{folder}/work/catalog.db",
                       "PYICEBERG_CATALOG__LAKE__WAREHOUSE": f"file://{folder}/work/warehouse"})
    command = [str(firn), "optimize", "--quiet", "--threads", "2", "--memory", "512MB", "lake.db.deletes"]
    firn_cpu = []
    for _ in range(runs):
        restore(folder)
        os.sync()
        firn_cpu.append(timed(command)["cpu"])
    restore(folder)
    row = {"spark_cold_cpu": spark_cpu[0], "spark_warm_cpu": statistics.median(spark_cpu[1:]), "spark_rss_mb": spark_rss,
           "firn_cpu": statistics.median(firn_cpu), "firn_rss_mb": peak_mb(command)}
    row["ratio_to_warm"] = row["firn_cpu"] / row["spark_warm_cpu"]
    results["deletes"] = row
    print(f"\n6 M rows, 1,000 data, 1,000 position and 200 equality delete files, CPU s: Spark cold {spark_cpu[0]:.1f}, warm "
          f"{row['spark_warm_cpu']:.1f} ({spark_rss:.0f} MB); firn {row['firn_cpu']:.2f} ({row['firn_rss_mb']:.0f} MB): "
          f"{row['ratio_to_warm']:.3f} of the warm call")
