# SPDX-License-Identifier: Apache-2.0
"""`firn serve` asks a catalog for its policies, and keeps to them."""

import os
import time
import uuid

import pyarrow as pa
import pytest
from pyiceberg.catalog.rest import RestCatalog

from tests.services.polaris_proxy import PolarisProxy, policy

from .service import Service

URI = os.environ.get("FIRN_TEST_REST_URI")
pytestmark = pytest.mark.skipif(not URI, reason="no REST catalog (FIRN_TEST_REST_URI)")


@pytest.fixture
def polaris():
    with PolarisProxy(URI) as proxy:
        yield proxy


def make_table(properties=None):
    catalog = RestCatalog("rest", uri=URI)
    namespace = f"p{uuid.uuid4().hex[:8]}"
    catalog.create_namespace(namespace)
    table = catalog.create_table(f"{namespace}.t", schema=pa.schema([("id", pa.int64())]), properties=properties or {})
    for i in range(8):
        table.append(pa.table({"id": [i]}))
    return catalog, f"{namespace}.t"


def serve(folder, polaris, sweep="1s", **settings):
    """In shadow: decisions are enough, and tables of other tests in the same catalog are left alone."""
    variables = {f"PYICEBERG_CATALOG__LAKE__{key.upper()}": value for key, value in settings.items()}
    environment = dict(os.environ, HOME=str(folder), PYICEBERG_CATALOG__LAKE__URI=polaris.url,
                       PYICEBERG_CATALOG__LAKE__TYPE="rest", PYICEBERG_CATALOG__LAKE__CREDENTIAL="firn:s3cret", **variables)
    return Service(folder, environment, "--catalog", "lake", "--debounce", "50ms", "--sweep-interval", sweep, "--shadow")


def setting(service, name, key):
    rows = [row for row in service.table(f"lake/{name}")["settings"] if row["key"] == key]
    return (rows[0]["value"], rows[0]["source"]) if rows else None


def runs(service, name):
    status, answer = service.call(f"/api/v1/decisions?table=lake/{name}&limit=200")
    assert status in (200, 404), answer
    # No look has found the table yet.
    return [] if status == 404 else [decision for decision in answer["items"] if decision["kind"] == "run"]


def test_aPolicyForbids_thenAllows(tmp_path, polaris):
    _, name = make_table()
    polaris.policies = [policy("pause", {"enable": False})]
    with serve(tmp_path, polaris) as service:
        service.wait(lambda: service.call(f"/api/v1/tables/lake%2F{name}")[0] == 200
                     and setting(service, name, "enabled") == ("false", "Polaris policy `pause`"))
        service.wait(lambda: polaris.asked.count(tuple(name.split("."))) >= 3)
        assert runs(service, name) == []
        shown = [row for row in service.get("/policies")["items"] if row["scope"] == "catalog lake"]
        assert shown[0]["source"] == "polaris"
        assert ("enabled", "false") in [(row["key"], row["value"]) for row in shown[0]["settings"]]
        polaris.policies = [policy("pause", {"enable": False}), policy("nightly", {
            "enable": True, "target_file_size_bytes": 33554432, "config": {"firn.priority": 3, "other": "x"}},
            inherited=False, namespace=name.split(".")[:1])]
        service.wait(lambda: runs(service, name))
        assert setting(service, name, "target-file-size-bytes") == ("33554432", "Polaris policy `nightly`")
        assert setting(service, name, "priority") == ("3", "Polaris policy `nightly`")
        service.stop()
    assert "s3cret" not in (tmp_path / "serve.log").read_text()


def test_whenTheEndpointFails_theLastAnswerStays(tmp_path, polaris):
    _, name = make_table()
    polaris.policies = [policy("pause", {"enable": False})]
    with serve(tmp_path, polaris) as service:
        service.wait(lambda: service.call(f"/api/v1/tables/lake%2F{name}")[0] == 200 and setting(service, name, "enabled"))
        polaris.status = 503
        service.wait(lambda: "an earlier answer" in setting(service, name, "enabled")[1])
        assert setting(service, name, "enabled")[0] == "false" and runs(service, name) == []
        before = len(polaris.asked)
        time.sleep(3)
        assert len(polaris.asked) - before <= 2, "the wait grows"
    assert "its policies cannot be read" in (tmp_path / "serve.log").read_text()


def test_aCatalogThatDoesNotListTheEndpoint_isNotAsked(tmp_path, polaris):
    _, name = make_table()
    polaris.policies, polaris.lists_endpoint = [policy("pause", {"enable": False})], False
    with serve(tmp_path, polaris) as service:
        service.wait(lambda: runs(service, name))
        assert polaris.asked == []
        service.stop()


def test_thePropertyDecides(tmp_path, polaris):
    _, name = make_table()
    polaris.policies = [policy("pause", {"enable": False})]
    with serve(tmp_path, polaris, **{"firn.polaris-policies": "false"}) as service:
        service.wait(lambda: runs(service, name))
        assert polaris.asked == []
        service.stop()


def test_a404IsNotAskedAgain(tmp_path, polaris):
    _, name = make_table()
    polaris.status, polaris.lists_endpoint = 404, False
    with serve(tmp_path, polaris, **{"firn.polaris-policies": "true"}) as service:
        service.wait(lambda: runs(service, name))
        time.sleep(2)
        assert len(polaris.asked) == 1
        service.stop()


def test_a404OfAnEndpointThatIsListed_isNoAnswer(tmp_path, polaris):
    _, name = make_table()
    polaris.status = 404  # of a proxy in front
    with serve(tmp_path, polaris) as service:
        service.wait(lambda: service.call(f"/api/v1/tables/lake%2F{name}")[0] == 200
                     and "is not known" in (service.table(f"lake/{name}")["state_reason"] or ""))
        assert runs(service, name) == []
        polaris.status = 200
        service.wait(lambda: runs(service, name))
        service.stop()
