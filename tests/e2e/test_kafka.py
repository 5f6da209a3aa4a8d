# SPDX-License-Identifier: Apache-2.0
"""`firn serve` learns of commits from a topic of a real Kafka broker."""

import json
import os
import time
import uuid

import pyarrow as pa
import pytest
from pyiceberg.catalog.sql import SqlCatalog

from tests.services.kafka_broker import KafkaBroker

from .service import Service

kafka = pytest.importorskip("confluent_kafka", reason="confluent-kafka is not installed")
admin = pytest.importorskip("confluent_kafka.admin")
pytestmark = pytest.mark.skipif("FIRN_TEST_KAFKA_JARS" not in os.environ,
                                reason="no Kafka broker (FIRN_TEST_KAFKA_JARS)")

TOPIC = "table-events"
SECONDS = 30  # within which an event has led to a look; the sweep comes after an hour
HUGE = 24 << 20


class Lake:
    def __init__(self, folder):
        folder.mkdir()
        self.uri, self.warehouse = f"sqlite:///{folder}/catalog.db", f"file://{folder}/warehouse"
        self.catalog = SqlCatalog("lake", uri=self.uri, warehouse=self.warehouse)
        self.catalog.create_namespace("db")
        self.environment = dict(os.environ, PYICEBERG_CATALOG__LAKE__URI=self.uri, PYICEBERG_CATALOG__LAKE__TYPE="sql",
                                PYICEBERG_CATALOG__LAKE__WAREHOUSE=self.warehouse, HOME=str(folder))

    def make(self, name):
        self.catalog.create_table(f"db.{name}", schema=pa.schema([("id", pa.int64())]))
        return self.commit(name)

    def commit(self, name):
        table = self.catalog.load_table(f"db.{name}")
        table.append(pa.table({"id": pa.array(range(10), pa.int64())}))
        return str(table.current_snapshot().snapshot_id)


def make_topic(broker):
    client = admin.AdminClient({"bootstrap.servers": broker.address})
    for future in client.create_topics([admin.NewTopic(TOPIC, num_partitions=3, replication_factor=1)]).values():
        future.result(60)


class Topic:
    def __init__(self, broker):
        self.producer = kafka.Producer({"bootstrap.servers": broker.address, "message.max.bytes": 2 * HUGE,
                                        "log_level": 0})

    def send(self, value, headers=None, **options):
        value = value if isinstance(value, (bytes, type(None))) else json.dumps(value).encode()
        failed = []
        self.producer.produce(TOPIC, value, headers=headers,
                              on_delivery=lambda error, _: error and failed.append(error), **options)
        assert self.producer.flush(60) == 0 and not failed, failed


def serve(folder, lake, broker, *arguments):
    return Service(folder, lake.environment, "--catalog", "lake", "--sweep-interval", "1h", "--debounce", "50ms",
                   "--shadow", "--kafka", broker.address, "--kafka-topic", TOPIC, *arguments)


def metrics(service):
    lines = service.call("/metrics")[1].splitlines()
    return {line.split(" ")[0]: float(line.split(" ")[1]) for line in lines if line.startswith("firn_kafka")}


def wait_until_it_reads(service):
    service.wait(lambda: metrics(service)["firn_kafka_partitions"] == 3)
    time.sleep(1)  # the places in the topic are asked for after that


def sees(service, name, snapshot, seconds=SECONDS):
    start = time.time()
    service.wait(lambda: str(service.table(f"lake/db.{name}")["last_snapshot_id"]) == snapshot, seconds)
    return time.time() - start


def has_looked_at(service, *names):
    def known():
        found = {item["name"] for item in service.get("/tables")["items"] if item["last_looked_ms"]}
        return {f"db.{name}" for name in names} <= found
    service.wait(known)


@pytest.fixture(scope="module")
def broker(tmp_path_factory):
    with KafkaBroker(tmp_path_factory.mktemp("kafka"), message_max_bytes=2 * HUGE) as started:
        make_topic(started)
        yield started


def cloud_event(name):
    """Binary mode, as Lakekeeper publishes."""
    return [("ce_specversion", b"1.0"), ("ce_id", uuid.uuid4().hex.encode()), ("ce_source", b"uri:lakekeeper"),
            ("ce_type", b"updateTable"), ("ce_tabular-type", b"table"), ("ce_name", name.encode()),
            ("ce_namespace", b"db"), ("content-type", b"application/json")]


def test_events_ofEveryKind_areSeenAtOnce(tmp_path, broker):
    lake = Lake(tmp_path / "lake")
    names = ["webhook", "location", "report", "cloud"]
    for name in names:
        lake.make(name)
    topic = Topic(broker)
    with serve(tmp_path, lake, broker) as service:
        has_looked_at(service, *names)
        wait_until_it_reads(service)
        seen = {}

        def told(name, value, headers=None):
            snapshot = lake.commit(name)
            topic.send(value(snapshot) if callable(value) else value, headers)
            seen[name] = sees(service, name, snapshot)

        told("webhook", {"catalog": "lake", "table": "db.webhook"})
        told("location", {"location": lake.catalog.load_table("db.location").location()})
        told("report", lambda snapshot: {"report-type": "commit-report", "table-name": "spark_catalog.db.report",
                                         "snapshot-id": int(snapshot), "sequence-number": 2, "operation": "append",
                                         "metrics": {}})
        told("cloud", {"updates": []}, cloud_event("cloud"))
        counted = metrics(service)
        assert counted["firn_kafka_up"] == 1
        assert counted["firn_kafka_messages_total"] == 4
        assert counted["firn_kafka_events_total"] == 5, "of the report there are two readings"
        assert counted["firn_kafka_messages_malformed_total"] == 0
        assert service.get("/fleet")["snapshots_found_by_sweep_only"] == 0
        service.stop()
    print(f"\nseen after {', '.join(f'{name} {seconds:.2f} s' for name, seconds in seen.items())}")


def test_malformedAndHugeMessages_stopNothing(tmp_path, broker):
    lake = Lake(tmp_path / "lake")
    lake.make("t")
    topic = Topic(broker)
    with serve(tmp_path, lake, broker, "--kafka-group", "malformed") as service:
        has_looked_at(service, "t")
        wait_until_it_reads(service)
        for partition in range(3):
            for value in (b"", None, b"\xff\x00", b"{", b"[" * 100_000, {"no": "table"}, b"x" * HUGE):
                topic.send(value, partition=partition)
            topic.send({"Event": "s3:TestEvent"}, partition=partition)
            topic.send({"table": "db.t"}, [("ce_type", b"x" * (2 << 20))], partition=partition)
        service.wait(lambda: metrics(service)["firn_kafka_messages_total"] == 27)
        counted = metrics(service)
        assert counted["firn_kafka_messages_malformed_total"] == 24
        assert counted["firn_kafka_messages_ignored_total"] == 3
        snapshot = lake.commit("t")
        topic.send({"table": "db.t"}, partition=0)
        sees(service, "t", snapshot)
        resident = int(next(line.split()[1] for line in open(f"/proc/{service.process.pid}/status")
                            if line.startswith("VmHWM")))
        print(f"\nmost memory {resident / 1024:.0f} MiB")
        assert resident < 400 * 1024
        service.stop()
    log = (tmp_path / "serve.log").read_text()
    assert log.count("is skipped") == 1, "one line for all of them"


def test_flood_isBounded_andTheEndIsSeen(tmp_path, broker):
    """Fifty thousand messages that are not about tables, and a thousand hints."""
    lake = Lake(tmp_path / "lake")
    lake.make("t")
    topic = Topic(broker)
    with serve(tmp_path, lake, broker, "--kafka-group", "flood") as service:
        has_looked_at(service, "t")
        wait_until_it_reads(service)
        padding = "x" * 800
        for number in range(50_000):
            while True:
                try:
                    topic.producer.produce(TOPIC, json.dumps({"Event": "s3:TestEvent", "padding": padding}).encode())
                    break
                except BufferError:
                    topic.producer.poll(0.1)
            if number % 50 == 0:
                topic.producer.produce(TOPIC, json.dumps({"table": f"db.other{number}"}).encode())
        snapshot = lake.commit("t")
        for partition in range(3):
            topic.send({"table": "db.t"}, partition=partition)
        assert service.call("/health")[0] == 200
        seconds = sees(service, "t", snapshot, 120)
        service.wait(lambda: metrics(service)["firn_kafka_messages_total"] == 51_003, 120)
        resident = int(next(line.split()[1] for line in open(f"/proc/{service.process.pid}/status")
                            if line.startswith("VmHWM")))
        print(f"\nthe last hint was seen {seconds:.1f} s after the flood, most memory {resident / 1024:.0f} MiB")
        assert resident < 400 * 1024
        start = time.time()
        service.stop()
        assert time.time() - start < 10


def test_brokerKilled_andServiceRestarted_goOn(tmp_path):
    lake = Lake(tmp_path / "lake")
    lake.make("t")
    broker = KafkaBroker(tmp_path / "kafka", message_max_bytes=2 * HUGE)
    try:
        with serve(tmp_path, lake, broker) as service:  # nobody is there yet
            service.wait(lambda: service.call("/ready")[0] == 200)
            has_looked_at(service, "t")
            assert metrics(service)["firn_kafka_up"] == 0
            service.wait(lambda: "kafka: " in (tmp_path / "serve.log").read_text())
            broker.start()
            make_topic(broker)
            topic = Topic(broker)
            service.wait(lambda: metrics(service)["firn_kafka_partitions"] == 3, 90)
            time.sleep(1)
            snapshot = lake.commit("t")
            topic.send({"table": "db.t"})
            sees(service, "t", snapshot)

            broker.kill()
            service.wait(lambda: metrics(service)["firn_kafka_up"] == 0)
            assert service.call("/ready")[0] == 200, "events are hints"
            broker.start()
            service.wait(lambda: metrics(service)["firn_kafka_up"] == 1, 90)
            snapshot = lake.commit("t")
            topic = Topic(broker)
            topic.send({"table": "db.t"})
            sees(service, "t", snapshot, 90)
            service.stop()

        # What comes while the service is down is read when it is back: the group has its place.
        topic.send({"table": "db.while_down"})
        with serve(tmp_path, lake, broker) as service:
            service.wait(lambda: metrics(service)["firn_kafka_messages_total"] == 1, 90)
            service.kill()
        topic.send({"table": "db.after_kill"})
        with serve(tmp_path, lake, broker) as service:
            service.wait(lambda: metrics(service)["firn_kafka_messages_total"] >= 1, 90)
            broker.kill()
            start = time.time()
            service.stop()
            assert time.time() - start < 15, "also without a broker"
    finally:
        broker.__exit__()


def test_secretsOfTheSection_areNowhere(tmp_path):
    lake = Lake(tmp_path / "lake")
    lake.make("t")
    secret = "s3cr3t-" + uuid.uuid4().hex
    (tmp_path / "firn.yaml").write_text(f"""
firn:
  log-level: debug
  kafka:
    brokers: 127.0.0.1:1
    topics: [{TOPIC}]
    security.protocol: SASL_PLAINTEXT
    sasl: {{mechanisms: PLAIN, username: firn, password: {secret}}}
    debug: all
""")
    with Service(tmp_path, lake.environment, "--catalog", "lake", "--config", str(tmp_path / "firn.yaml")) as service:
        has_looked_at(service, "t")
        service.wait(lambda: "librdkafka" in (tmp_path / "serve.log").read_text())
        settings = service.get("/settings")
        assert "sasl.password" in str(settings)
        for path in ("/api/v1/settings", "/metrics", "/ready", "/api/v1/fleet"):
            assert secret not in str(service.call(path)[1]), path
        service.stop()
    assert secret not in (tmp_path / "serve.log").read_text()
