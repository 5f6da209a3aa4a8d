# SPDX-License-Identifier: Apache-2.0
"""A Hive Metastore shared with Spark, whose catalog is Iceberg's Java HiveCatalog. Runs with FIRN_TEST_SPARK=1, because
Spark is 400 MB.
"""

import json
import os
import random
import subprocess
import threading
from collections import Counter

import pytest

if not os.environ.get("FIRN_TEST_SPARK"):
    pytest.skip("runs with FIRN_TEST_SPARK=1 only", allow_module_level=True)
pytest.importorskip("thrift", reason="thrift is not installed")

import pyarrow as pa  # noqa: E402
from pyiceberg.exceptions import CommitFailedException  # noqa: E402

from tests.differential.spark import python  # noqa: E402
from tests.services.hive import Hive  # noqa: E402
from tests.services.loopback import CACHE  # noqa: E402
from tests.services.set_up import set_up  # noqa: E402

from .rows import by_duckdb  # noqa: E402
from .test_hive import catalog_of, command_of, entry_of, environment_of, optimize, replaces  # noqa: E402

ICEBERG = "org.apache.iceberg:iceberg-spark-runtime-4.1_2.13:1.12.0"


def iceberg_jar():
    _, name, version = ICEBERG.split(":")
    jar = CACHE / "iceberg-spark" / f"{name}-{version}.jar"
    if not jar.exists():
        set_up("mvn", "-q", "-B", "dependency:copy", f"-Dartifact={ICEBERG}", f"-DoutputDirectory={jar.parent}")
    return jar


class Spark:
    def __init__(self, uri, warehouse, log):
        script = os.path.join(os.path.dirname(__file__), "../services/spark_sql.py")
        self.process = subprocess.Popen([python(), script, iceberg_jar(), uri, f"file://{warehouse}"], text=True,
                                        stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=log,
                                        env=dict(os.environ, SPARK_LOCAL_IP="127.0.0.1"))
        assert json.loads(self.process.stdout.readline()) == "ready"

    def ask(self, statement):
        self.process.stdin.write(statement + "\n")
        self.process.stdin.flush()
        return json.loads(self.process.stdout.readline())

    def sql(self, statement):
        answer = self.ask(statement)
        assert not isinstance(answer, dict), answer
        return answer

    def rows(self, name):
        return Counter(tuple(row) for row in self.sql(f"SELECT id, text FROM lake.{name}"))


@pytest.fixture(scope="module")
def hive(tmp_path_factory):
    try:
        server = Hive(tmp_path_factory.mktemp("hive"), version=3)
        server.start()
    except RuntimeError as error:
        pytest.skip(f"no Hive Metastore: {error}")
    yield server
    server.stop()


@pytest.fixture(scope="module")
def spark(hive, tmp_path_factory):
    folder = tmp_path_factory.mktemp("spark")
    with open(folder / "spark.log", "wb") as log:
        session = Spark(hive.uri, folder / "warehouse", log)
    yield session
    session.process.stdin.close()
    session.process.wait(60)


def make_table(spark, inserts):
    database = f"n{random.randrange(10**9)}"
    spark.sql(f"CREATE NAMESPACE lake.{database}")
    spark.sql(f"CREATE TABLE lake.{database}.t (id bigint, text string) USING iceberg")
    for insert in range(inserts):
        spark.sql(f"INSERT INTO lake.{database}.t VALUES ({insert}, 'a'), ({insert + 100}, 'b')")
    return f"{database}.t"


def parameters_of_java(catalog, spark, name):
    """What Java itself writes into the entry for the state that the table is in."""
    spark.sql(f"ALTER TABLE lake.{name} SET TBLPROPERTIES ('touched' = 'yes')")
    return entry_of(catalog, name).parameters


def test_optimize_tableOfSpark_entryIsWhatJavaWouldWrite(hive, spark):
    name = make_table(spark, 6)
    catalog = catalog_of(hive.uri)
    rows = spark.rows(name)
    done = optimize(hive.uri, name)
    assert done.returncode == 0, done.stderr
    assert spark.rows(name) == rows
    assert len(spark.sql(f"SELECT file_path FROM lake.{name}.files")) == 1
    ours = entry_of(catalog, name).parameters
    javas = parameters_of_java(catalog, spark, name)
    for parameters in (ours, javas):
        # Members of JSON have no order.
        parameters["current-snapshot-summary"] = json.loads(parameters["current-snapshot-summary"])
    moves = {"metadata_location", "previous_metadata_location", "touched"}
    assert {k: v for k, v in ours.items() if k not in moves} == {k: v for k, v in javas.items() if k not in moves}
    spark.sql(f"INSERT INTO lake.{name} VALUES (1000, 'z')")
    assert spark.rows(name) == rows + Counter([(1000, "z")])


def append_by_spark(spark, name, ids):
    for number in ids:
        while True:
            answer = spark.ask(f"INSERT INTO lake.{name} VALUES ({number}, 's')")
            if isinstance(answer, list):
                break
            assert "CommitFailedException" in answer["error"], answer  # others were first, four times


def append_by_pyiceberg(uri, name, ids):
    catalog = catalog_of(uri)
    for number in ids:
        while True:
            try:
                catalog.load_table(name).append(pa.table({"id": [number], "text": ["p"]}))
                break
            except CommitFailedException:
                pass


def test_sparkAndPyIcebergAgainstOptimizers_nothingLostOrDoubled(hive, spark):
    name = make_table(spark, 1)
    catalog = catalog_of(hive.uri)
    rows = spark.rows(name)
    writers = [threading.Thread(target=append_by_pyiceberg, args=(hive.uri, name, range(5000, 5010))),
               threading.Thread(target=append_by_spark, args=(spark, name, range(2000, 2020)))]
    for writer in writers:
        writer.start()
    ends = []
    while any(writer.is_alive() for writer in writers):
        run = subprocess.run(command_of(name), env=environment_of(hive.uri), capture_output=True, text=True, timeout=300)
        ends.append(run.returncode)
        assert run.returncode in (0, 6, 8, 11), run.stderr
    for writer in writers:
        writer.join()
    expected = rows + Counter((i, "s") for i in range(2000, 2020)) + Counter((i, "p") for i in range(5000, 5010))
    assert spark.rows(name) == expected
    table = catalog.load_table(name)
    assert sum(by_duckdb(table.metadata_location).values()) == sum(expected.values())
    assert replaces(table), "at least one run optimized among them"
