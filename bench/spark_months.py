# SPDX-License-Identifier: Apache-2.0
"""Spark writes lineitem as 30 appends into 84 months (2,500 files of about 65 kB); rewrite_data_files against firn.

Both work on copies of the same table in a SQLite catalog that both read. Spark's figure is the CPU of the JVM during the
CALL alone, once cold (first action of the session) and then warm; firn's is the whole process.
"""

import os
import shutil
import statistics
import subprocess
import sys
import time
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))
from tests.services.set_up import set_up  # noqa: E402

PYSPARK = "4.1.4"
CATALOGS = {"months": "j", "deletes": "lake"}  # by table; the name stands in the catalog's rows
JARS = ["org.apache.iceberg:iceberg-spark-runtime-4.1_2.13:1.12.0", "org.xerial:sqlite-jdbc:3.54.1.0"]
DELETE_OPTIONS = ", options => map('delete-file-threshold', '1', 'remove-dangling-deletes', 'true')"


def setup(folder):
    """A Python environment with Spark, and the jars; kept between runs."""
    python = folder / "spark/venv/bin/python"
    if not python.exists():
        set_up(sys.executable, "-m", "venv", folder / "spark/venv")
        set_up(python, "-m", "pip", "install", "-q", f"pyspark=={PYSPARK}")
    jars = folder / "spark/jars"
    for artifact in JARS:
        _, name, version = artifact.split(":")
        if not (jars / f"{name}-{version}.jar").exists():
            set_up("mvn", "-q", "-B", "dependency:copy", f"-Dartifact={artifact}", f"-DoutputDirectory={jars}")
    return python, jars


def session(warehouse, database, jars, name="j"):
    """Runs inside Spark's own environment."""
    from pyspark.sql import SparkSession
    paths = ",".join(str(p) for p in Path(jars).glob("*.jar"))
    catalog = f"spark.sql.catalog.{name}"
    return (SparkSession.builder.master("local[2]").appName("bench").config("spark.jars", paths)
            .config("spark.driver.extraClassPath", paths.replace(",", ":")).config("spark.driver.memory", "6g")
            .config("spark.ui.enabled", "false").config("spark.driver.bindAddress", "127.0.0.1")
            .config("spark.sql.extensions", "org.apache.iceberg.spark.extensions.IcebergSparkSessionExtensions")
            .config(catalog, "org.apache.iceberg.spark.SparkCatalog").config(f"{catalog}.type", "jdbc")
            .config(f"{catalog}.uri", f"jdbc:sqlite:{database}").config(f"{catalog}.jdbc.schema-version", "V1")
            .config(f"{catalog}.warehouse", warehouse).getOrCreate())


def make(warehouse, database, jars, source):
    spark = session(warehouse, database, jars)
    rows = spark.read.parquet(source)
    rows.createOrReplaceTempView("source")
    columns = ", ".join(f"{f.name} {f.dataType.simpleString()}" for f in rows.schema.fields)
    spark.sql("CREATE NAMESPACE IF NOT EXISTS j.db")
    spark.sql(f"CREATE TABLE j.db.months ({columns}) USING iceberg PARTITIONED BY (months(l_shipdate)) TBLPROPERTIES "
              "('format-version'='2', 'write.distribution-mode'='none', 'write.spark.fanout.enabled'='true', "
              "'write.target-file-size-bytes'='134217728')")
    for number in range(30):
        spark.sql(f"SELECT * FROM source WHERE pmod(l_orderkey, 30) = {number}").coalesce(1).writeTo("j.db.months").append()


def jvm_cpu(pid):
    fields = Path(f"/proc/{pid}/stat").read_text().rsplit(")", 1)[1].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


def rewrite(warehouse, database, jars, runs, table, options=""):
    """Prints the CPU seconds of each call and the JVM's peak memory; the table is rolled back between the calls."""
    name = CATALOGS[table]
    spark = session(warehouse, database, jars, name)
    pid = spark.sparkContext._jvm.java.lang.ProcessHandle.current().pid()
    start = spark.sql(f"SELECT snapshot_id FROM {name}.db.{table}.refs WHERE name = 'main'").first()[0]
    for _ in range(runs + 1):
        before, started = jvm_cpu(pid), time.time()
        spark.sql(f"CALL {name}.system.rewrite_data_files(table => 'db.{table}'{options})").collect()
        print(f"cpu {jvm_cpu(pid) - before:.2f}\nwall {time.time() - started:.2f}", flush=True)
        spark.sql(f"CALL {name}.system.rollback_to_snapshot('db.{table}', {start})").collect()
    status = Path(f"/proc/{pid}/status").read_text()
    print(f"rss {int(status.split('VmHWM:')[1].split()[0]) / 1024:.0f}")


def spark_bench(firn, data, runs, results):
    from measure import timed
    from splice import lineitem
    lineitem(data)
    folder = data / "months"
    python, jars = setup(data)
    pristine = folder / "pristine"
    if not (folder / ".done").exists():
        shutil.rmtree(folder, ignore_errors=True)
        (folder / "work").mkdir(parents=True)
        run_in_spark(python, "make", folder, jars, str(data / "lineitem.parquet"))
        shutil.copytree(folder / "work", pristine)
        (folder / ".done").touch()

    restore(folder)
    out = run_in_spark(python, "rewrite", folder, jars, str(runs))
    spark_cpu = [float(line.split()[1]) for line in out.splitlines() if line.startswith("cpu ")]
    environment = {"PYICEBERG_CATALOG__J__TYPE": "sql", "PYICEBERG_CATALOG__J__URI": f"sqlite:///{folder}/work/catalog.db",
                   "PYICEBERG_CATALOG__J__WAREHOUSE": f"file://{folder}/work/warehouse"}
    os.environ.update(environment)
    firn_cpu = []
    for _ in range(runs):
        restore(folder)
        os.sync()
        firn_cpu.append(timed([str(firn), "optimize", "--quiet", "--threads", "2", "j.db.months"])["cpu"])
    row = {"spark_cold_cpu": spark_cpu[0], "spark_warm_cpu": statistics.median(spark_cpu[1:]),
           "firn_cpu": statistics.median(firn_cpu)}
    row["ratio_to_warm"] = row["firn_cpu"] / row["spark_warm_cpu"]
    row["ratio_to_cold"] = row["firn_cpu"] / row["spark_cold_cpu"]
    results["spark/months"] = row
    print(f"\n2,500 Spark-written files in 84 months, CPU s: Spark cold {row['spark_cold_cpu']:.1f}, warm "
          f"{row['spark_warm_cpu']:.1f}; firn {row['firn_cpu']:.2f}: {row['ratio_to_warm']:.3f} of the warm call, "
          f"{row['ratio_to_cold']:.3f} of the cold one")


def restore(folder):
    shutil.rmtree(folder / "work", ignore_errors=True)
    shutil.copytree(folder / "pristine", folder / "work")


def run_in_spark(python, what, folder, jars, argument):
    home = subprocess.run([str(python), "-c", "import os, pyspark; print(os.path.dirname(pyspark.__file__))"],
                          capture_output=True, text=True, check=True).stdout.strip()
    environment = dict(os.environ, SPARK_HOME=home, SPARK_LOCAL_IP="127.0.0.1")
    done = subprocess.run([str(python), __file__, what, str(folder / "work/warehouse"), str(folder / "work/catalog.db"),
                           str(jars), argument], capture_output=True, text=True, env=environment)
    if done.returncode:
        raise RuntimeError(f"Spark failed: {done.stderr[-3000:]}")
    return done.stdout


if __name__ == "__main__":
    action, warehouse_path, database_path, jar_folder, extra = sys.argv[1:]
    if action == "make":
        make(warehouse_path, database_path, jar_folder, extra)
    elif action == "rewrite-deletes":
        rewrite(warehouse_path, database_path, jar_folder, int(extra), "deletes", DELETE_OPTIONS)
    else:
        rewrite(warehouse_path, database_path, jar_folder, int(extra), "months")
