# SPDX-License-Identifier: Apache-2.0
"""What users run today beside firn, on the same small files: lineitem in 100 and in 2,000 files, and as an Iceberg table of them.

parquet-concat (arrow-rs) puts row groups behind each other as they are. PyIceberg reads the table and overwrites it.
iceberg-compaction (Rust) works through a REST catalog. Each tool is a whole process; what it made must have as many rows
as the input, and the tables' rows must have the input's hash.
"""

import os
import shutil
import statistics
import sys

import pyarrow.parquet as pq
from deletes import COMPACT, compaction_python, fingerprint  # and the folder above in sys.path
from measure import peak_mb, timed
from pyiceberg.catalog.rest import RestCatalog
from pyiceberg.catalog.sql import SqlCatalog
from spark_months import restore
from splice import DUCKDB, lineitem, peer_python, splice_command, split
from tests.services.servers import Servers
from tests.services.set_up import set_up

PARQUET_CONCAT = "60.1.0"
PYICEBERG = """
import sys
from pyiceberg.catalog.sql import SqlCatalog
table = SqlCatalog("lake", uri=sys.argv[1], warehouse=sys.argv[2]).load_table("db.li")
table.overwrite(table.scan().to_arrow())
"""


def parquet_concat(data):
    """Built from its crate once; None where there is no Rust."""
    program = data / "concat/bin/parquet-concat"
    if not program.exists() and shutil.which("cargo"):
        set_up("cargo", "install", "-q", f"parquet@{PARQUET_CONCAT}", "--features", "cli", "--bin", "parquet-concat",
               "--root", data / "concat")
    return program if program.exists() else None


def make_table(folder, files, schema):
    """An Iceberg table of these files, with the catalog at `folder`/work as both PyIceberg and firn name it."""
    if (folder / ".done").exists():
        return
    shutil.rmtree(folder, ignore_errors=True)
    (folder / "work").mkdir(parents=True)
    catalog = SqlCatalog("lake", uri=f"sqlite:///{folder}/work/catalog.db", warehouse=f"file://{folder}/work/warehouse")
    catalog.create_namespace("db")
    table = catalog.create_table("db.li", schema, properties={"write.target-file-size-bytes": "536870912"})
    table.add_files([str(path) for path in files], check_duplicate_files=False)
    shutil.copytree(folder / "work", folder / "pristine")
    (folder / ".done").touch()


def of_table(table):
    paths = [task.file.file_path.removeprefix("file://") for task in table.scan().plan_files()]
    metas = [pq.read_metadata(path) for path in paths]
    names = ", ".join(f"'{path}'" for path in paths)
    return {"bytes": sum(os.path.getsize(path) for path in paths), "files": len(paths),
            "row_groups": sum(meta.num_row_groups for meta in metas), "print": fingerprint(f"read_parquet([{names}])")}


def of_file(path):
    meta = pq.read_metadata(path)
    return {"bytes": path.stat().st_size, "files": 1, "row_groups": meta.num_row_groups, "print": (meta.num_rows, None)}


class Rows:
    """One tool each method: the command's figures and what it made."""

    def __init__(self, firn, data, folder, inputs):
        self.firn, self.data, self.folder, self.out = firn, data, folder, data / "out.parquet"
        self.source, self.inputs = inputs[0].parent, [str(path) for path in inputs]
        self.uri, self.warehouse = f"sqlite:///{folder}/work/catalog.db", f"file://{folder}/work/warehouse"
        os.environ.update({"PYICEBERG_CATALOG__LAKE__TYPE": "sql", "PYICEBERG_CATALOG__LAKE__URI": self.uri,
                           "PYICEBERG_CATALOG__LAKE__WAREHOUSE": self.warehouse})

    def to_file(self, measure, command):
        self.out.unlink(missing_ok=True)
        os.sync()
        measured = measure(command)
        made = of_file(self.out)
        self.out.unlink()
        return measured, made

    def to_table(self, measure, command):
        restore(self.folder)
        os.sync()
        measured = measure(command)
        return measured, of_table(SqlCatalog("lake", uri=self.uri, warehouse=self.warehouse).load_table("db.li"))

    def duckdb(self, measure):
        return self.to_file(measure, [str(peer_python(self.data)), "-c", DUCKDB, str(self.source), str(self.out)])

    def concat(self, measure):
        return self.to_file(measure, [str(parquet_concat(self.data)), str(self.out), *self.inputs])

    def splice(self, measure):
        return self.to_file(measure, splice_command(self.firn, self.inputs, self.out))

    def optimize(self, measure):
        return self.to_table(measure, [str(self.firn), "optimize", "--quiet", "--threads", "2", "lake.db.li"])

    def pyiceberg(self, measure):
        return self.to_table(measure, [sys.executable, "-c", PYICEBERG, self.uri, self.warehouse])

    def compaction(self, measure):
        restore(self.folder)
        start = SqlCatalog("lake", uri=self.uri, warehouse=self.warehouse).load_table("db.li").metadata_location
        servers = Servers(self.folder / "rest")
        shutil.rmtree(self.folder / "rest", ignore_errors=True)
        (self.folder / "rest").mkdir()
        try:
            uri = servers.start_rest()["FIRN_TEST_REST_URI"]
            catalog = RestCatalog("served", uri=uri)
            catalog.create_namespace("db")
            catalog.register_table("db.li", start)
            os.sync()
            measured = measure([str(compaction_python(self.data)), "-c", COMPACT, uri, self.warehouse, "db.li"])
            return measured, of_table(catalog.load_table("db.li"))
        finally:
            servers.stop()


def peers_bench(firn, data, runs, results):
    for count in (100, 2000):
        inputs = sorted(split(data, "lineitem", count, lineitem).glob("*.parquet"))
        folder = data / f"peers_{count}"
        make_table(folder, inputs, pq.read_schema(inputs[0]))
        rows = Rows(firn, data, folder, inputs)
        tools = {"DuckDB COPY": rows.duckdb, "parquet-concat": rows.concat, "PyIceberg overwrite": rows.pyiceberg,
                 "iceberg-compaction": rows.compaction, "firn splice": rows.splice, "firn optimize": rows.optimize}
        if parquet_concat(data) is None:
            del tools["parquet-concat"]
            print("  parquet-concat: there is no Rust to build it with")
        measured = {name: [] for name in tools}
        for _ in range(runs):
            for name, tool in tools.items():
                measured[name].append(tool(timed))
        expected = fingerprint(f"read_parquet('{inputs[0].parent}/*.parquet')")
        print(f"\nlineitem in {count:,} files, whole processes, {runs} runs, medians")
        print(f"  {'tool':22}{'CPU s':>8}{'/DuckDB':>9}{'wall s':>8}{'MB':>8}{'RSS MB':>8}{'files':>7}{'groups':>8}")
        for name, some in measured.items():
            for _, made in some:
                if made["print"] not in (expected, (expected[0], None)):
                    raise RuntimeError(f"{name}: other rows: {made['print']}, not {expected}")
            row = {"cpu": statistics.median(m["cpu"] for m, _ in some), "wall": statistics.median(m["wall"] for m, _ in some),
                   "cpu_ratio": statistics.median(m["cpu"] / b["cpu"] for (m, _), (b, _) in zip(some, measured["DuckDB COPY"])),
                   "rss_mb": tools[name](peak_mb)[0]} | {key: some[0][1][key] for key in ("bytes", "files", "row_groups")}
            results[f"peers/{count}/{name}"] = row
            print(f"  {name:22}{row['cpu']:>8.2f}{row['cpu_ratio']:>9.3f}{row['wall']:>8.2f}{row['bytes'] / 1e6:>8.1f}"
                  f"{row['rss_mb']:>8.0f}{row['files']:>7}{row['row_groups']:>8}", flush=True)
