# SPDX-License-Identifier: Apache-2.0
"""What the sets of data are called, by the beginning of the keys of their figures; in the order of the tables."""

TITLES = {
    "splice/100": "lineitem (TPC-H, scale 1), 100 files of 1.8 MB into one",
    "splice/2000": "lineitem, 2,000 files of 110 kB into one",
    "peers/100": "The same 100 files, whole processes, and as Iceberg tables",
    "peers/2000": "The same 2,000 files, whole processes, and as Iceberg tables",
    "copyable/lineitem-plain": "lineitem without dictionaries, 100 files",
    "copyable/lineitem-duckdb": "lineitem written by DuckDB, 100 files",
    "copyable/flights-plain": "3 M real flights without dictionaries, 30 files",
    "copyable/flights-duckdb": "3 M real flights written by DuckDB, 30 files",
    "data/wide": "150 columns, 117 of them text, 80 files of 2 MB",
    "data/nested": "Structs, lists and maps, optional at all levels, 50 files of 1.3 MB",
    "data/lineitem-20": "lineitem, 20 files of 8 MB",
    "data/lineitem-spark": "lineitem written by Spark, 100 files",
    "data/lineitem-arrow-rs": "lineitem written by arrow-rs, 100 files",
    "data/lineitem-arrow-go": "lineitem written by arrow-go, 100 files",
}
