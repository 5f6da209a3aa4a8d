# SPDX-License-Identifier: Apache-2.0
"""`firn serve` with servers that speak TLS, and with servers that take connections and never answer."""

import os
import signal
import socket
import subprocess
import threading
import time

import pytest

from tests.services.local_http import LocalServer

from .service import BINARY, Service


class Catalog(LocalServer):
    """A REST catalog without tables. The paths `hanging` are not answered until answer_from_now_on()."""

    def __init__(self, hanging=(), tls=None, namespaces=()):
        super().__init__(tls)
        self.answers = {"/v1/config": {}, "/v1/namespaces": {"namespaces": [[name] for name in namespaces]}}
        self.hanging = hanging
        self.released = threading.Event()
        self.hangs = threading.Event()  # a request hangs
        self.paths = []

    def handle(self, handler):
        path = handler.path.split("?")[0]
        self.paths.append(path)
        if path in self.hanging and not self.released.is_set():
            self.hangs.set()
            self.released.wait(120)
        self.body_of(handler)
        self.reply_json(handler, 200 if path in self.answers else 404, self.answers.get(path, {}))

    def answer_from_now_on(self):
        self.released.set()

    def __exit__(self, *arguments):
        self.released.set()
        super().__exit__(*arguments)


def environment(folder, url, **more):
    names = {f"PYICEBERG_CATALOG__R__{name}": value for name, value in more.items()}
    return dict(os.environ, PYICEBERG_CATALOG__R__URI=url, PYICEBERG_CATALOG__R__TYPE="rest", HOME=str(folder), **names)


def serve(folder, catalog, *arguments, **more):
    return Service(folder, environment(folder, catalog.url, **more), "--catalog", "r", *arguments)


@pytest.fixture(name="certificate")
def make_certificate(tmp_path):
    made = [str(tmp_path / "cert.pem"), str(tmp_path / "key.pem")]
    subprocess.run(["openssl", "req", "-x509", "-newkey", "rsa:2048", "-nodes", "-days", "2", "-subj", "/CN=localhost",
                    "-addext", "subjectAltName=IP:127.0.0.1", "-out", made[0], "-keyout", made[1]],
                   check=True, capture_output=True)
    return made


@pytest.mark.parametrize("protocol", ["SSL", "SASL_SSL"])
def test_kafka_over_tls_with_the_systems_certificates(tmp_path, protocol):
    """What the library loads on its own is loaded when the client is made: no broker is needed to see it crash."""
    sasl = "    sasl: {mechanisms: PLAIN, username: u, password: p}\n" if protocol == "SASL_SSL" else ""
    settings = tmp_path / "firn.yaml"
    with socket.create_server(("127.0.0.1", 0)) as nobody, Catalog() as catalog:
        settings.write_text(f"firn:\n  kafka:\n    brokers: 127.0.0.1:{nobody.getsockname()[1]}\n    topics: [t]\n"
                            f"    security.protocol: {protocol}\n{sasl}")
        with serve(tmp_path, catalog, "--config", str(settings)) as service:
            assert service.call("/metrics")[1].count("\nfirn_kafka_up 0") == 1
            service.stop()


def test_catalog_over_tls(tmp_path, certificate):
    def tables(url, **more):
        return subprocess.run([BINARY, "tables", "--catalog", "r"], capture_output=True, text=True, timeout=60,
                              env=environment(tmp_path, url, **more))

    with Catalog(tls=certificate) as catalog:
        trusted = tables(catalog.url, SSL__CABUNDLE=certificate[0])
        assert trusted.returncode == 0, trusted.stderr
        assert "/v1/namespaces" in catalog.paths
        # The system's certificates do not know it: refused, not crashed.
        refused = tables(catalog.url)
        assert refused.returncode > 0 and "certificate" in refused.stderr, refused


def seconds_to_end(service, sent=signal.SIGTERM):
    begin = time.monotonic()
    service.process.send_signal(sent)
    assert service.process.wait(timeout=60) == 0
    return time.monotonic() - begin


@pytest.mark.parametrize("hanging", ["/v1/config", "/v1/namespaces", "/v1/namespaces/n/tables"])
def test_a_catalog_that_never_answers_holds_up_neither_start_nor_end(tmp_path, hanging):
    with Catalog(hanging=[hanging], namespaces=["n"]) as catalog:
        begin = time.monotonic()
        with serve(tmp_path, catalog) as service:
            assert time.monotonic() - begin < 8
            assert service.call("/health")[0] == 200
            assert catalog.hangs.wait(30)
            assert seconds_to_end(service) < 4


def test_a_token_server_that_never_answers_holds_up_neither_start_nor_end(tmp_path):
    with Catalog(hanging=["/token"]) as catalog:
        begin = time.monotonic()
        with serve(tmp_path, catalog, CREDENTIAL="u:p", OAUTH2_SERVER_URI=catalog.url + "/token") as service:
            assert time.monotonic() - begin < 8
            assert catalog.hangs.is_set()
            assert seconds_to_end(service) < 4


def test_a_catalog_that_answers_late_is_served_then(tmp_path):
    with Catalog(hanging=["/v1/config"]) as catalog:
        with serve(tmp_path, catalog, "--sweep-interval", "1s") as service:
            assert "/v1/namespaces" not in catalog.paths
            catalog.answer_from_now_on()
            service.wait(lambda: 'firn_catalog_up{catalog="r"} 1' in service.call("/metrics")[1])
            assert seconds_to_end(service) < 4


def test_a_hangup_is_a_wish_to_end_unless_it_is_ignored(tmp_path):
    before = signal.signal(signal.SIGHUP, signal.SIG_DFL)  # the tests themselves may run under nohup
    try:
        with Catalog() as catalog:
            with serve(tmp_path, catalog) as service:
                service.process.send_signal(signal.SIGHUP)  # as of a shell and of the terminal
                assert seconds_to_end(service, signal.SIGHUP) < 4
            signal.signal(signal.SIGHUP, signal.SIG_IGN)
            with serve(tmp_path, catalog) as service:
                service.process.send_signal(signal.SIGHUP)
                time.sleep(1)
                assert service.call("/health")[0] == 200
                service.stop()
    finally:
        signal.signal(signal.SIGHUP, before)
