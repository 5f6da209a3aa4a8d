# SPDX-License-Identifier: Apache-2.0
"""One real Kafka broker on loopback, in KRaft mode, that a test can kill and start again. Needs FIRN_TEST_KAFKA_JARS.

    with KafkaBroker(folder) as broker: ... broker.address ...
"""

import os
import subprocess
from pathlib import Path

from .java_program import java_program
from .loopback import free_port, wait_for_port

CLUSTER = "MkU3OEVBNTcwNTJENDM2Qg"


def kafka_jars():
    return java_program("kafka", Path(__file__).parent / "kafka/pom.xml")


class KafkaBroker:
    def __init__(self, folder, message_max_bytes=1 << 20):
        self.folder = Path(folder)
        self.folder.mkdir(parents=True, exist_ok=True)
        self.port, controller = free_port(), free_port()
        self.address = f"127.0.0.1:{self.port}"
        self.process = None
        self.properties = self.folder / "server.properties"
        settings = {
            "process.roles": "broker,controller",
            "node.id": 1,
            "controller.quorum.voters": f"1@127.0.0.1:{controller}",
            "listeners": f"PLAINTEXT://{self.address},CONTROLLER://127.0.0.1:{controller}",
            "advertised.listeners": f"PLAINTEXT://{self.address}",
            "controller.listener.names": "CONTROLLER",
            "listener.security.protocol.map": "CONTROLLER:PLAINTEXT,PLAINTEXT:PLAINTEXT",
            "inter.broker.listener.name": "PLAINTEXT",
            "log.dirs": self.folder / "data",
            "num.partitions": 1,
            "offsets.topic.replication.factor": 1,
            "offsets.topic.num.partitions": 1,
            "transaction.state.log.replication.factor": 1,
            "transaction.state.log.min.isr": 1,
            "share.coordinator.state.topic.replication.factor": 1,
            "share.coordinator.state.topic.min.isr": 1,
            "group.initial.rebalance.delay.ms": 0,
            "message.max.bytes": message_max_bytes,
        }
        self.properties.write_text("".join(f"{key}={value}\n" for key, value in settings.items()))

    def java(self, *arguments):
        return ["java", "-Xmx512m", "-cp", f"{os.environ['FIRN_TEST_KAFKA_JARS']}/*", *map(str, arguments)]

    def start(self, seconds=120):
        """Returns when it answers; what it stored before is there again."""
        log = open(self.folder / "kafka.log", "ab")
        subprocess.run(self.java("kafka.tools.StorageTool", "format", "-t", CLUSTER, "-c", self.properties,
                                 "--ignore-formatted"), check=True, stdout=log, stderr=log, stdin=subprocess.DEVNULL)
        self.process = subprocess.Popen(self.java("kafka.Kafka", self.properties), stdout=log, stderr=log,
                                        stdin=subprocess.DEVNULL, cwd=self.folder, env=dict(os.environ))
        if not wait_for_port(self.port, self.process, seconds):
            raise RuntimeError("Kafka did not start: " + (self.folder / "kafka.log").read_text()[-2000:])
        return self

    def kill(self):
        self.process.kill()
        self.process.wait()

    def __enter__(self):
        return self.start()

    def __exit__(self, *_):
        if self.process is not None and self.process.poll() is None:
            self.kill()
