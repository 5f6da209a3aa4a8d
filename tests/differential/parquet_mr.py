# SPDX-License-Identifier: Apache-2.0
"""parquet-mr, the Parquet library of Spark, Flink, Hive and Trino, in one long-lived JVM (java/ParquetMr.java).

It takes tables from, and gives them to, plain Parquet files of Arrow's: both are other people's programs.
"""

import functools
import os
import shutil
import subprocess
from pathlib import Path

import pyarrow.parquet as pq

from tests.services.java_program import java_program

LAYOUTS = ["FIXED_LEN_BYTE_ARRAY", "BINARY", "INT64"]


def usable():
    """Where there is no Java the other writers and readers do without."""
    return all(map(shutil.which, ("java", "javac", "mvn")))


class ParquetMr:
    def __init__(self):
        here = Path(__file__).parent
        target = java_program("parquet-mr", here / "pom.xml", here / "java/ParquetMr.java")
        self.process = subprocess.Popen(["java", "-Xmx512m", "-XX:+UseSerialGC", "-cp", f"{target}/classes:{target}/*",
                                         "ParquetMr"], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)

    def ask(self, *words):
        self.process.stdin.write("\t".join(str(word) for word in words) + "\n")
        self.process.stdin.flush()
        answer = self.process.stdout.readline().strip()
        if not answer.startswith("ok "):
            raise RuntimeError(f"parquet-mr: {answer[:1500]}")
        return int(answer[3:])

    def write(self, data, path, codec, rng, shape=None):
        """`shape`: how columns are laid out where parquet-mr's users differ; see `random_shape`."""
        source = f"{path}.source"
        pq.write_table(data, source, use_dictionary=False, compression="none", store_schema=False,
                       store_decimal_as_integer=True)
        options = {"codec": codec.upper(), "v2": flag(rng, 0.6), "dictionary": flag(rng, 0.7), "split": flag(rng, 0.3),
                   "dictionary_page": rng.choice([256, 4096, 1 << 20]), "page": rng.choice([1 << 10, 1 << 16, 1 << 20]),
                   "page_rows": rng.choice([100, 20000]), "rows": rng.choice([700, 1 << 20]), "crc": flag(rng, 0.7),
                   "statistics": flag(rng, 0.9), "blooms": flag(rng, 0.3), "bloom_bytes": rng.choice([1 << 10, 1 << 20]),
                   "adaptive": flag(rng, 0.5), "check": rng.choice([1, 100]), **(shape or {})}
        self.ask("copy", source, path, *(f"{name}={value}" for name, value in options.items()))
        os.unlink(source)

    def read(self, path):
        copied = f"{path}.copied"
        self.ask("copy", path, copied)
        data = pq.read_table(copied)
        os.unlink(copied)
        return data

    def check_filters(self, path):
        """Rows are found by value as well through statistics, indexes, dictionaries and Bloom filters as without."""
        return self.ask("filter", path)


def flag(rng, share):
    return int(rng.random() < share)


def random_shape(rng):
    """INT96 timestamps, decimals in bytes, lists of two levels."""
    shape = {"int96": flag(rng, 0.5), "old_lists": flag(rng, 0.5)}
    if rng.random() < 0.6:
        shape["decimals"] = str(rng.choice(LAYOUTS))
        shape["decimal_bytes"] = int(rng.choice([6, 9, 16]))
    return shape


@functools.lru_cache(maxsize=1)
def shared(process):
    """Starting one takes longer than a small file. A fork must not use its parent's."""
    return ParquetMr()


def parquet_mr():
    return shared(os.getpid())
