# SPDX-License-Identifier: Apache-2.0
"""Runs in an environment with Spark: statements a line on standard input, one line of JSON as the answer to each.

Arguments: the JAR of Iceberg, the metastore's URI, the warehouse. The catalog is named lake.
"""

import json
import os
import sys

from pyspark.sql import SparkSession


def main():
    jar, uri, warehouse = sys.argv[1:]
    answers = os.fdopen(os.dup(1), "w")
    os.dup2(2, 1)
    spark = (SparkSession.builder.master("local[1]").config("spark.ui.enabled", "false")
             .config("spark.ui.showConsoleProgress", "false").config("spark.driver.bindAddress", "127.0.0.1")
             .config("spark.driver.memory", "1g").config("spark.jars", jar)
             .config("spark.sql.extensions", "org.apache.iceberg.spark.extensions.IcebergSparkSessionExtensions")
             .config("spark.sql.catalog.lake", "org.apache.iceberg.spark.SparkCatalog")
             .config("spark.sql.catalog.lake.type", "hive").config("spark.sql.catalog.lake.uri", uri)
             .config("spark.sql.catalog.lake.cache-enabled", "false")
             .config("spark.sql.catalog.lake.warehouse", warehouse).getOrCreate())
    print(json.dumps("ready"), file=answers, flush=True)
    for line in sys.stdin:
        try:
            answer = [list(row) for row in spark.sql(line).collect()]
        except Exception as error:  # whatever Spark throws is the answer
            answer = {"error": str(error)[:2000]}
        print(json.dumps(answer), file=answers, flush=True)


main()
