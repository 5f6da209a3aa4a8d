# SPDX-License-Identifier: Apache-2.0
"""Many Parquet files into one: firn's three efforts beside DuckDB, pyarrow and a plain copy; and scans of what they made."""

import functools
import itertools
import json
import os
import shutil
import statistics
import subprocess
import sys
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
from measure import peak_mb, timed
from titles import TITLES

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))
from tests.services.set_up import set_up  # noqa: E402

DUCKDB_VERSION = "2.0.1"
FLIGHTS = "vega-datasets@3.2.1"  # data/flights-3m.parquet: 3,000,000 real flights, BSD-3
DUCKDB = """
import duckdb, sys
c = duckdb.connect(config={'threads': 2})
c.execute(f"COPY (SELECT * FROM read_parquet('{sys.argv[1]}/*.parquet')) TO '{sys.argv[2]}' "
          "(FORMAT parquet, COMPRESSION zstd, ROW_GROUP_SIZE 1048576)")
"""
DUCKDB_WRITER = """
import duckdb, sys
c = duckdb.connect(config={'threads': 1, 'preserve_insertion_order': True})
for k in range(int(sys.argv[3])):
    rows, count = int(sys.argv[4]), int(sys.argv[3])
    begin, end = rows * k // count, rows * (k + 1) // count
    c.execute(f"COPY (SELECT * EXCLUDE file_row_number FROM read_parquet('{sys.argv[1]}', file_row_number=true) "
              f"WHERE file_row_number >= {begin} AND file_row_number < {end}) TO '{sys.argv[2]}/part-{k:05d}.parquet' "
              "(FORMAT parquet, COMPRESSION zstd)")
"""
PYARROW = """
import sys, pyarrow.dataset as ds, pyarrow.parquet as pq
d = ds.dataset(sys.argv[1], format='parquet')
with pq.ParquetWriter(sys.argv[2], d.schema, compression='zstd', compression_level=3,
                      store_decimal_as_integer=True) as w:
    rows, batches = 0, []
    import pyarrow as pa
    for batch in d.to_batches():
        batches.append(batch); rows += batch.num_rows
        if rows >= 1 << 20:
            w.write_table(pa.Table.from_batches(batches), row_group_size=1 << 20); rows, batches = 0, []
    if batches: w.write_table(pa.Table.from_batches(batches), row_group_size=1 << 20)
"""
COPY = "import shutil, sys, os, glob\n" \
       "with open(sys.argv[2], 'wb') as out:\n" \
       "    for path in sorted(glob.glob(sys.argv[1] + '/*.parquet')):\n" \
       "        with open(path, 'rb') as one: shutil.copyfileobj(one, out, 1 << 20)\n" \
       "    out.flush(); os.fsync(out.fileno())\n"
SCANS = {
    "full": "SELECT count(*), {sums} FROM t",
    "selective": "SELECT count(*), max(l_comment) FROM t WHERE l_shipdate BETWEEN DATE '1994-03-01' AND DATE '1994-03-14' "
                 "AND l_partkey < 20000",
}
SCAN_DUCKDB = """
import duckdb, sys
c = duckdb.connect(config={'threads': 1})
c.execute(f"CREATE VIEW t AS SELECT * FROM read_parquet('{sys.argv[1]}')")
for _ in range(3): c.execute(sys.argv[2]).fetchall()
"""
SCAN_PYARROW = """
import pyarrow as pa, pyarrow.dataset as ds, pyarrow.compute as pc, sys, datetime
pa.set_cpu_count(1)
t = ds.dataset(sys.argv[1], format='parquet')
rule = None
if sys.argv[2] == 'selective':
    rule = (pc.field('l_shipdate') >= datetime.date(1994, 3, 1)) & (pc.field('l_shipdate') <= datetime.date(1994, 3, 14)) & (pc.field('l_partkey') < 20000)
for _ in range(3): t.to_table(filter=rule, use_threads=False)
"""


def peer_python(data):
    """The newest DuckDB, apart from the one that the tests use."""
    python = data / "peers/bin/python"
    if not python.exists():
        set_up(sys.executable, "-m", "venv", data / "peers")
        set_up(python, "-m", "pip", "install", "-q", f"duckdb=={DUCKDB_VERSION}")
    return python


def lineitem(data):
    """The table as pyarrow sees it, with Iceberg's field ids."""
    data.mkdir(parents=True, exist_ok=True)
    source = data / "lineitem.parquet"
    if not source.exists():
        set_up(Path(sys.executable).with_name("tpchgen-cli"), "parquet", "-s", "1", "--tables=lineitem", "-o", data)
    return with_ids(pq.read_table(source))


def flights(data):
    source = data / "package/data/flights-3m.parquet"
    if not source.exists():
        set_up("npm", "pack", "--silent", FLIGHTS, cwd=data)
        set_up("tar", "xzf", next(data.glob("vega-datasets-*.tgz")).name, "package/data/flights-3m.parquet", cwd=data)
    return with_ids(pq.read_table(source))


def with_ids(table):
    """Iceberg's field ids, level after level; text has one type."""
    number = itertools.count(1)

    def numbered(fields):
        ids = [{"PARQUET:field_id": str(next(number))} for _ in fields]
        return [pa.field(f.name, plain(f.type), metadata=i) for f, i in zip(fields, ids)]

    def plain(kind):
        if pa.types.is_string_view(kind) or pa.types.is_large_string(kind):
            return pa.string()
        if pa.types.is_struct(kind):
            return pa.struct(numbered(list(kind)))
        if pa.types.is_list(kind):
            return pa.list_(*numbered([kind.value_field]))
        if pa.types.is_map(kind):
            key, value = numbered([kind.key_field, kind.item_field])
            return pa.map_(key.with_nullable(False), value)
        return kind

    return table.cast(pa.schema(numbered(list(table.schema))))


def parts(table, count):
    return [table.slice(begin := table.num_rows * k // count, table.num_rows * (k + 1) // count - begin) for k in range(count)]


def split(data, name, count, source, write=None, **options):
    """`count` files of `source(data)`: by `write(table, path)`, by DuckDB, or by pyarrow with `options`."""
    folder = data / f"{name}_{count}"
    if (folder / ".done").exists():
        return folder
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir(parents=True)
    table = source(data)
    if options.pop("duckdb", False):
        whole = data / "whole.parquet"
        pq.write_table(table, whole, store_decimal_as_integer=True)
        subprocess.run([str(peer_python(data)), "-c", DUCKDB_WRITER, str(whole), str(folder), str(count),
                        str(table.num_rows)], check=True)
        whole.unlink()
    else:
        write = write or functools.partial(pq.write_table, compression="zstd", compression_level=3, store_decimal_as_integer=True,
                                           write_page_index=True, store_schema=False, **options)
        for k, part in enumerate(parts(table, count)):
            write(part, folder / f"part-{k:05d}.parquet")
    (folder / ".done").touch()
    return folder


def compare(key, tools, out, runs, results, check=None):
    """Each tool in turn, `runs` times; ratios to DuckDB of the same round. `check(name, out)` looks at what a tool made."""
    measured = {name: [] for name in tools}
    for run in range(runs):
        for name, command in tools.items():
            out.unlink(missing_ok=True)
            os.sync()
            measured[name].append(timed(command) | {"bytes": out.stat().st_size})
            if name != "copy":
                meta = pq.read_metadata(out)
                measured[name][-1].update(row_groups=meta.num_row_groups, rows=meta.num_rows)
                if check and run == 0:
                    check(name, out)
    base = measured["duckdb"]
    print(f"\n{TITLES[key]}, {runs} runs, medians")
    print(f"  {'tool':20}{'CPU s':>8}{'/DuckDB':>9}{'wall s':>8}{'/DuckDB':>9}{'MB':>8}{'/DuckDB':>9}{'RSS MB':>8}{'groups':>8}")
    for name, rows in measured.items():
        out.unlink(missing_ok=True)
        row = {key: statistics.median(r[key] for r in rows) for key in ("cpu", "wall", "bytes")}
        row["cpu_ratio"] = statistics.median(r["cpu"] / b["cpu"] for r, b in zip(rows, base))
        row["wall_ratio"] = statistics.median(r["wall"] / b["wall"] for r, b in zip(rows, base))
        row["size_ratio"] = row["bytes"] / statistics.median(b["bytes"] for b in base)
        row["rss_mb"] = peak_mb(tools[name])
        row["row_groups"] = rows[0].get("row_groups", 0)
        if name != "copy" and {r["rows"] for r in rows} != {base[0]["rows"]}:
            raise RuntimeError(f"{name}: another number of rows")
        results[f"{key}/{name}"] = row
        print(f"  {name:20}{row['cpu']:>8.2f}{row['cpu_ratio']:>9.3f}{row['wall']:>8.2f}{row['wall_ratio']:>9.3f}"
              f"{row['bytes'] / 1e6:>8.1f}{row['size_ratio']:>9.3f}{row['rss_mb']:>8.0f}{row['row_groups']:>8.0f}", flush=True)
    out.unlink(missing_ok=True)


def splice_command(firn, inputs, out, effort="balanced", threads=1):
    return [str(firn), "splice", "--quiet", "--effort", effort, "--threads", str(threads), *inputs, "-o", str(out)]


def tiers_of(firn, inputs, out, effort):
    out.unlink(missing_ok=True)
    report = subprocess.run([str(firn), "splice", "--json", "--effort", effort, *inputs, "-o", str(out)],
                            capture_output=True, text=True, check=True).stdout
    out.unlink(missing_ok=True)
    return {name: tier["bytes"] for name, tier in json.loads(report)["tiers"].items()}


def run_set(key, folder, firn, data, runs, results, pyarrow, concat=None, check=None):
    out, python = data / "out.parquet", str(peer_python(data))
    inputs = sorted(str(p) for p in folder.glob("*.parquet"))
    tools = {"copy": [sys.executable, "-c", COPY, str(folder), str(out)],
             "duckdb": [python, "-c", DUCKDB, str(folder), str(out)]}
    if pyarrow:
        tools["pyarrow"] = [sys.executable, "-c", PYARROW, str(folder), str(out)]
    if concat:
        tools["parquet-concat"] = [str(concat), str(out), *inputs]
    for effort in ("fast", "balanced", "dense"):
        tools[f"firn {effort}"] = splice_command(firn, inputs, out, effort)
    tools["firn, 2 threads"] = splice_command(firn, inputs, out, threads=2)
    compare(key, tools, out, runs, results, check)
    for effort in ("fast", "balanced", "dense"):
        results[f"{key}/tiers/{effort}"] = tiers_of(firn, inputs, out, effort)
        print(f"  bytes per tier, {effort}: " +
              ", ".join(f"{name} {count:,}" for name, count in results[f"{key}/tiers/{effort}"].items()))


def splice_bench(firn, data, runs, results):
    for count in (100, 2000):
        run_set(f"splice/{count}", split(data, "lineitem", count, lineitem), firn, data, runs, results, pyarrow=True)


def copyable_bench(firn, data, runs, results):
    """Files whose pages can stay as they are: without dictionaries, and as DuckDB writes them."""
    for key, folder in (
            ("lineitem-plain", split(data, "lineitem_plain", 100, lineitem, use_dictionary=False)),
            ("lineitem-duckdb", split(data, "lineitem_duckdb", 100, lineitem, duckdb=True)),
            ("flights-plain", split(data, "flights_plain", 30, flights, use_dictionary=False)),
            ("flights-duckdb", split(data, "flights_duckdb", 30, flights, duckdb=True))):
        run_set(f"copyable/{key}", folder, firn, data, runs, results, pyarrow=False)


def scan_outputs(key, title, folder, scans, firn, data, runs, results):
    """How quickly others read what was made, against what DuckDB made; one thread, CPU of three scans in one process."""
    python, made = str(peer_python(data)), {}
    inputs = sorted(str(p) for p in folder.glob("*.parquet"))
    for name in ("duckdb", "fast", "balanced", "dense"):
        made[name] = data / f"scan_{name}.parquet"
        made[name].unlink(missing_ok=True)
        timed([python, "-c", DUCKDB, str(folder), str(made[name])] if name == "duckdb"
              else splice_command(firn, inputs, made[name], name))
    sums = ", ".join(f'sum(hash("{c}"))' for c in pq.read_schema(made["duckdb"]).names)
    print(f"\nscans of {title}, one thread, {runs} runs, medians, CPU s (and share of the scan of DuckDB's own file)")
    for scan in scans:
        readers = {f"DuckDB {DUCKDB_VERSION}": [python, "-c", SCAN_DUCKDB, "{}", SCANS[scan].format(sums=sums)],
                   "pyarrow": [sys.executable, "-c", SCAN_PYARROW, "{}", scan]}
        for reader, command in readers.items():
            measured = {name: [] for name in made}
            for _ in range(runs):
                for name, path in made.items():
                    measured[name].append(timed([c.replace("{}", str(path)) for c in command])["cpu"])
            base = statistics.median(measured["duckdb"])
            for name, seconds in measured.items():
                results[f"{key}/{scan}/{reader}/{name}"] = {"cpu": statistics.median(seconds), "ratio": statistics.median(seconds) / base}
            print(f"  {scan:10} {reader:14} " + "  ".join(
                f"{name} {statistics.median(s):.2f} ({statistics.median(s) / base:.2f})" for name, s in measured.items()), flush=True)
    for path in made.values():
        path.unlink()


def scans_bench(firn, data, runs, results):
    scan_outputs("scans", "lineitem", split(data, "lineitem", 2000, lineitem), SCANS, firn, data, runs, results)
