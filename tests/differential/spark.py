# SPDX-License-Identifier: Apache-2.0
"""Spark, whose vectorized reader decodes pages with code of its own, and which writes the old layouts of lists and decimals.

It takes tables from, and gives them to, plain Parquet files of Arrow's.
"""

import os
import subprocess
import sys
from pathlib import Path

import pyarrow.parquet as pq

from tests.services.loopback import CACHE
from tests.services.set_up import set_up

from .parquet_mr import flag

PYSPARK = "4.1.4"


def python():
    """Of an environment with Spark below the cache folder, made once."""
    folder = CACHE / f"pyspark-{PYSPARK}"
    if not (folder / ".done").exists():
        set_up(sys.executable, "-m", "venv", folder)
        set_up(folder / "bin/pip", "install", "-q", "--disable-pip-version-check", f"pyspark=={PYSPARK}")
        (folder / ".done").touch()
    return folder / "bin/python"


class Spark:
    def __init__(self):
        self.process = subprocess.Popen([python(), Path(__file__).with_name("spark_session.py")], stdin=subprocess.PIPE,
                                        stdout=subprocess.PIPE, text=True, env=dict(os.environ, SPARK_LOCAL_IP="127.0.0.1"))

    def stop(self):
        self.process.stdin.close()
        self.process.wait()

    def copy(self, source, target, **options):
        pairs = [f"{name}={value}" for name, value in options.items()]
        self.process.stdin.write("\t".join([str(source), str(target), *pairs]) + "\n")
        self.process.stdin.flush()
        answer = self.process.stdout.readline().strip()
        if answer != "ok":
            raise RuntimeError(f"Spark: {answer}")

    def write_table(self, data, path, **options):
        source = f"{path}.source"
        pq.write_table(data, source, use_dictionary=False, compression="none", store_schema=False,
                       store_decimal_as_integer=True)
        self.copy(source, path, **options)
        os.unlink(source)

    def write(self, data, path, codec, rng, shape=None):
        legacy = shape or {}
        self.write_table(data, path, **{
            "compression": codec, "parquet.enable.dictionary": bool(flag(rng, 0.7)),
            "parquet.writer.version": "v2" if flag(rng, 0.6) else "v1", "parquet.page.size": rng.choice([1 << 10, 1 << 20]),
            "parquet.dictionary.page.size": rng.choice([256, 1 << 20]), "parquet.block.size": rng.choice([1 << 14, 1 << 27]),
            "parquet.page.row.count.limit": rng.choice([100, 20000]),
            "parquet.bloom.filter.enabled": bool(flag(rng, 0.3)), "parquet.bloom.filter.max.bytes": 1 << 12,
            "spark.sql.parquet.writeLegacyFormat": bool(legacy.get("old_lists")),
            "spark.sql.parquet.outputTimestampType": "INT96" if legacy.get("int96") else "TIMESTAMP_MICROS"})

    def read(self, path):
        copied = f"{path}.copied"
        try:
            self.copy(path, copied)
        except RuntimeError as error:
            if "Unsupported encoding: BYTE_STREAM_SPLIT" not in str(error):
                raise
            self.copy(path, copied, **{"spark.sql.parquet.enableVectorizedReader": False})
        data = pq.read_table(copied)
        os.unlink(copied)
        return data
