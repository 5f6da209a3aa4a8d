# SPDX-License-Identifier: Apache-2.0
"""Runs in Spark's own Python environment (spark.py starts it): copies Parquet files with one session, a command a line.

    IN OUT key=value...    fields between tabs; `ok` or `error TEXT` is the answer
"""

import os
import shutil
import sys

from pyspark.sql import SparkSession

PLAIN = {"compression": "uncompressed", "parquet.enable.dictionary": "false", "parquet.writer.version": "v1"}
SESSION = {"spark.sql.parquet.writeLegacyFormat": "false", "spark.sql.parquet.outputTimestampType": "TIMESTAMP_MICROS",
           "spark.sql.parquet.enableVectorizedReader": "true"}


def copy(spark, source, target, options):
    for name, value in SESSION.items():
        spark.conf.set(name, options.pop(name, value))
    folder = f"{target}.folder"
    spark.read.parquet(source).write.options(**{**PLAIN, **options}).parquet(folder)
    parts = [name for name in os.listdir(folder) if name.startswith("part-")]
    if len(parts) != 1:
        raise ValueError(f"{len(parts)} files were written")
    os.replace(os.path.join(folder, parts[0]), target)
    shutil.rmtree(folder)


def main():
    answers = os.fdopen(os.dup(1), "w")
    os.dup2(2, 1)
    spark = (SparkSession.builder.master("local[1]").config("spark.ui.enabled", "false")
             .config("spark.ui.showConsoleProgress", "false")
             .config("spark.driver.bindAddress", "127.0.0.1").config("spark.driver.memory", "1g")
             .config("spark.sql.session.timeZone", "UTC").config("spark.sql.parquet.datetimeRebaseModeInWrite", "CORRECTED")
             .config("spark.sql.parquet.int96RebaseModeInWrite", "CORRECTED")
             .config("spark.sql.parquet.compression.codec", "uncompressed").getOrCreate())
    spark.sparkContext.setLogLevel("OFF")
    for line in sys.stdin:
        source, target, *pairs = line.rstrip("\n").split("\t")
        try:
            copy(spark, source, target, dict(pair.split("=", 1) for pair in pairs))
            answers.write("ok\n")
        except Exception as error:  # whatever Spark says goes to the one who asked
            shutil.rmtree(f"{target}.folder", ignore_errors=True)
            answers.write("error " + str(error).replace("\n", "|") + "\n")
        answers.flush()


if __name__ == "__main__":
    main()
