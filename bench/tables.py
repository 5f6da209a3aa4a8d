#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""The tables of bench/results/merging.md and planning.md from the figures of `bench/run.py --json`.

    bench/tables.py FILE... [--into bench/results/merging]

Figures of later files take the place of earlier ones. With --into, NAME.json gets them all, and what stands in NAME.md behind the
line "<!-- tables -->" is replaced; without, the tables are printed.
"""

import argparse
import json
from pathlib import Path

from titles import TITLES

MARK = "<!-- tables -->\n"
COLUMNS = [
    ("CPU s", "cpu", "{:.2f}"), ("/ DuckDB", "cpu_ratio", "{:.3f}"), ("wall s", "wall", "{:.2f}"),
    ("/ DuckDB", "wall_ratio", "{:.3f}"), ("MB", "bytes", "{:.1f}"), ("/ DuckDB", "size_ratio", "{:.3f}"),
    ("RSS MB", "rss_mb", "{:.0f}"), ("files", "files", "{:d}"), ("row groups", "row_groups", "{:d}"),
]
EFFORTS = ("fast", "balanced", "dense")


def text(row, key, form):
    if row.get(key) is None:
        return ""
    return form.format(row[key] / 1e6 if key == "bytes" else row[key])


def set_table(rows):
    columns = [column for column in COLUMNS if any(column[1] in row for row in rows.values())]
    lines = ["| tool | " + " | ".join(head for head, _, _ in columns) + " |", "|---" * (len(columns) + 1) + "|"]
    lines += [f"| {name} | " + " | ".join(text(row, key, form) for _, key, form in columns) + " |" for name, row in rows.items()]
    return lines


def tier_lines(figures, prefix):
    for effort in EFFORTS:
        if tiers := figures.get(f"{prefix}/tiers/{effort}"):
            yield f"Bytes per tier, {effort}: " + ", ".join(f"{t} {n / 1e6:.1f} MB" for t, n in tiers.items()) + ".  "


def scan_table(figures, prefix):
    scans = sorted({tuple(key[len(prefix) + 1:].split("/")[:2]) for key in figures if key.startswith(prefix + "/")})
    if not scans:
        return
    yield from ("", "CPU of scans on one thread, against that of DuckDB's own file:", "")
    yield from ("| scan | reader | " + " | ".join(EFFORTS) + " |", "|---|---|---|---|---|")
    for scan, reader in scans:
        ratios = [figures.get(f"{prefix}/{scan}/{reader}/{effort}", {}).get("ratio") for effort in EFFORTS]
        yield f"| {scan} | {reader} | " + " | ".join("" if ratio is None else f"{ratio:.2f}" for ratio in ratios) + " |"


def planning(figures):
    rows = {key.removeprefix("planning/"): row for key, row in figures.items() if key.startswith("planning/")}
    inside = {name: row for name, row in rows.items() if row.get("items_per_second")}
    if inside:
        yield from ("## Inside of one process, one core", "", "| case | million entries or files a second |", "|---|---|")
        yield from (f"| {name} | {row['items_per_second'] / 1e6:.2f} |" for name, row in inside.items())
        yield ""
    if whole := {name: row for name, row in rows.items() if "peak_mb" in row}:
        yield from ("## Whole processes, on local tables", "", "| table and command | seconds | CPU s | peak MB |", "|---|---|---|---|")
        yield from (f"| {name.replace('/', ': ', 1)} | {row['seconds']:.2f} | {row['cpu']:.2f} | {row['peak_mb']:.0f} |"
                    for name, row in whole.items())
        yield ""


def sections(figures):
    for prefix, title in TITLES.items():
        rows = {key[len(prefix) + 1:]: row for key, row in figures.items()
                if key.startswith(prefix + "/") and "/tiers/" not in key and "/scans/" not in key}
        if not rows:
            continue
        yield from (f"## {title}", "", *set_table(rows), "")
        yield from tier_lines(figures, prefix)
        yield from scan_table(figures, "scans" if prefix == "splice/2000" else prefix + "/scans")
        yield ""
    yield from planning(figures)
    if months := figures.get("spark/months"):
        yield from ("## 2,500 files of 65 kB in 84 months, written by Spark", "",
                    f"CPU of Spark's `rewrite_data_files`, the call alone: {months['spark_cold_cpu']:.1f} s cold, "
                    f"{months['spark_warm_cpu']:.1f} s warm. `firn optimize`, the whole process: {months['firn_cpu']:.2f} s, "
                    f"{months['ratio_to_cold']:.3f} and {months['ratio_to_warm']:.3f} of it.", "")
    if "s3/requests" in figures:
        seen = figures["s3/requests"]
        times = {name: figures[f"s3/{name}"]["seconds"] for name in ("firn optimize", "copy to a folder", "copy in the bucket")}
        yield from ("## 2,500 objects of 50 kB in SeaweedFS", "",
                    f"{seen['gets_per_input']:.3f} GET and {seen['heads_of_inputs']} HEAD an input. `firn optimize`, whole process: "
                    f"{times['firn optimize']:.2f} s; pyarrow copying the same objects to a folder, 32 at a time: "
                    f"{times['copy to a folder']:.2f} s; copying them inside of the bucket: {times['copy in the bucket']:.2f} s.", "")
    if "s3/large, with copies inside" in figures:
        yield from large_objects({name: figures[f"s3/large, {name}"] for name in
                                  ("with copies inside", "without", "firn splice", "read and write")})


def large_objects(seen):
    yield from ("## 4 objects of 60 MB in SeaweedFS into one", "",
                "Bytes that pass through firn, of those of the inputs (the finished object is read once, to be verified):", "",
                "| row groups copied by | read | written | copied inside |", "|---|---|---|---|")
    for name, who in (("with copies inside", "the store"), ("without", "firn, as the store cannot")):
        yield f"| {who} | {seen[name]['read']:.2f} | {seen[name]['written']:.2f} | {seen[name]['copied']:.2f} |"
    yield from ("", ", ".join(f"{name}: {seen[name]['seconds']:.2f} s, CPU {seen[name]['cpu']:.2f} s"
                              for name in ("firn splice", "read and write")) +
                " (pyarrow; the server itself works on the same two cores).", "")


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("files", nargs="+", type=Path)
    parser.add_argument("--into", type=Path)
    args = parser.parse_args()
    figures = {}
    for path in args.files:
        figures |= json.loads(path.read_text())
    lines = list(sections(figures))
    once = [line for i, line in enumerate(lines) if line or not i or lines[i - 1]]  # no two empty lines
    tables = "\n".join(once).rstrip() + "\n"
    if args.into is None:
        print(tables)
        return
    args.into.with_suffix(".json").write_text(json.dumps(figures, indent=1) + "\n")
    page = args.into.with_suffix(".md")
    head, mark, _ = page.read_text().partition(MARK)
    if not mark:
        raise SystemExit(f"{page}: no line {MARK.strip()}")
    page.write_text(head + MARK + "\n" + tables)


if __name__ == "__main__":
    main()
