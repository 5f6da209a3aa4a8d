# SPDX-License-Identifier: Apache-2.0
"""Iceberg's REST catalog behind a door that checks AWS signatures with botocore."""

import os
import subprocess

import pytest

pytest.importorskip("botocore", reason="botocore is not installed")

from tests.services.signature_proxy import SignatureProxy  # noqa: E402

from .conftest import BINARY  # noqa: E402
from .rows import by_pyiceberg  # noqa: E402
from .shared_table import check_rows, replaces  # noqa: E402
from .test_rest import URI, make_catalog_and_table  # noqa: E402

pytestmark = pytest.mark.skipif(not URI, reason="no REST catalog (FIRN_TEST_REST_URI)")
KEYS = {"AKIDEXAMPLE": ("wJalrXUtnFEMI/K7MDENG+bPxRfiCYEXAMPLEKEY", "session/token+1==")}


def run(uri, command, name, **properties):
    environment = {"PYICEBERG_CATALOG__R__URI": uri, "PYICEBERG_CATALOG__R__TYPE": "rest"}
    for key, value in {"rest.sigv4-enabled": "true", "rest.signing-region": "eu-west-1", **properties}.items():
        environment[f"PYICEBERG_CATALOG__R__{key.upper().replace('.', '__').replace('-', '_')}"] = value
    inherited = {k: v for k, v in os.environ.items() if not k.startswith("AWS_")}
    return subprocess.run([BINARY, command, f"r.{name}", "--quiet"], capture_output=True, text=True,
                          env={**inherited, **environment}, timeout=300)


def static_keys(secret=None):
    key, (right, token) = next(iter(KEYS.items()))
    return {"rest.access-key-id": key, "rest.secret-access-key": secret or right, "rest.session-token": token}


def test_optimize_signed_keepsRows():
    catalog, name = make_catalog_and_table()
    rows = by_pyiceberg(catalog.load_table(name))
    with SignatureProxy(URI, KEYS, "eu-west-1", "execute-api") as proxy:
        done = run(proxy.url, "optimize", name, **static_keys())
        assert proxy.refused == []
        assert proxy.passed >= 3, "config, load and commit"
    assert done.returncode == 0, done.stderr
    assert len(replaces(check_rows(catalog, name, rows))) == 1


def test_pyicebergPassesTheSameDoor():
    """So the door asks for what others send, too."""
    from pyiceberg.catalog.rest import RestCatalog
    catalog, name = make_catalog_and_table(appends=1)
    key, (secret, token) = next(iter(KEYS.items()))
    with SignatureProxy(URI, KEYS, "eu-west-1", "execute-api") as proxy:
        signed = RestCatalog("r", **{"uri": proxy.url, "rest.sigv4-enabled": "true", "rest.signing-region": "eu-west-1",
                                     "client.access-key-id": key, "client.secret-access-key": secret,
                                     "client.session-token": token, "client.region": "eu-west-1"})
        assert signed.load_table(name).metadata_location == catalog.load_table(name).metadata_location
        assert proxy.refused == []


@pytest.mark.parametrize("change", [{"rest.signing-region": "us-east-1"}, {"rest.signing-name": "glue"},
                                    {"rest.secret-access-key": "hunter2"}, {"rest.session-token": "other"}])
def test_wrongSignature_isRefusedAndNothingChanges(change):
    catalog, name = make_catalog_and_table(appends=2)
    before = catalog.load_table(name).metadata_location
    with SignatureProxy(URI, KEYS, "eu-west-1", "execute-api") as proxy:
        done = run(proxy.url, "optimize", name, **{**static_keys(), **change})
        assert proxy.passed == 0 and proxy.refused
    assert done.returncode == 2, done.stderr
    assert "403" in done.stderr and "hunter2" not in done.stderr
    assert catalog.load_table(name).metadata_location == before
