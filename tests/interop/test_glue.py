# SPDX-License-Identifier: Apache-2.0
"""AWS Glue, as moto emulates it and a door checks it, shared with PyIceberg, with and without faults on the way."""

import os
import subprocess

import pyarrow as pa
import pytest

pytest.importorskip("botocore", reason="botocore is not installed")

from tests.services.glue import ACCESS_KEY, REGION, SECRET_KEY, Glue  # noqa: E402
from tests.services.local_http import HttpProxy  # noqa: E402

from .conftest import BINARY  # noqa: E402
from .rows import by_pyiceberg  # noqa: E402
from .shared_table import check_outcome, check_rows, make_table, race  # noqa: E402


@pytest.fixture(scope="module")
def glue(tmp_path_factory):
    try:
        server = Glue(tmp_path_factory.mktemp("glue"))
    except RuntimeError as error:
        pytest.skip(f"no Glue: {error}")
    with server:
        yield server


def catalog_of(url, folder):
    from pyiceberg.catalog.glue import GlueCatalog
    return GlueCatalog("lake", **{"glue.endpoint": url, "glue.region": REGION, "glue.access-key-id": ACCESS_KEY,
                                  "glue.secret-access-key": SECRET_KEY, "warehouse": f"file://{folder}/warehouse"})


def make_catalog_and_table(glue, folder, appends=6):
    catalog = catalog_of(glue.url, folder)
    return catalog, make_table(catalog, appends)


def environment_of(url, **more):
    made = {k: v for k, v in os.environ.items() if not k.startswith("AWS_")}
    made.update({"PYICEBERG_CATALOG__LAKE__TYPE": "glue", "PYICEBERG_CATALOG__LAKE__GLUE__ENDPOINT": url,
                 "PYICEBERG_CATALOG__LAKE__GLUE__REGION": REGION,
                 "PYICEBERG_CATALOG__LAKE__GLUE__ACCESS_KEY_ID": ACCESS_KEY,
                 "PYICEBERG_CATALOG__LAKE__GLUE__SECRET_ACCESS_KEY": SECRET_KEY, **more})
    return made


def optimize(url, name, **more):
    return subprocess.run([BINARY, "optimize", f"lake.{name}", "--quiet"], capture_output=True, text=True,
                          env=environment_of(url, **more), timeout=300)


def entry_of(catalog, name):
    database, table = name.split(".")
    return catalog.glue.get_table(DatabaseName=database, Name=table)["Table"]


def test_optimize_tableOfPyIceberg_keepsRowsAndTheRestOfItsEntry(glue, tmp_path):
    catalog, name = make_catalog_and_table(glue, tmp_path)
    rows = by_pyiceberg(catalog.load_table(name))
    before = entry_of(catalog, name)
    done = optimize(glue.url, name)
    assert done.returncode == 0, done.stderr
    assert glue.refused == []
    table = check_rows(catalog, name, rows)
    assert len(table.inspect.files()) == 1
    after = entry_of(catalog, name)
    assert after["Parameters"]["previous_metadata_location"] == before["Parameters"]["metadata_location"]
    changed = {"metadata_location", "previous_metadata_location"}
    assert {k: v for k, v in after["Parameters"].items() if k not in changed} == \
        {k: v for k, v in before["Parameters"].items() if k not in changed}
    for member in ("StorageDescriptor", "TableType", "Name"):
        assert after.get(member) == before.get(member), member
    table.append(pa.table({"id": [1000], "text": ["y"]}))
    assert sum(by_pyiceberg(catalog.load_table(name)).values()) == sum(rows.values()) + 1


def test_staleVersion_isRefusedByTheDoor(glue, tmp_path):
    """Otherwise the races below prove nothing."""
    catalog, name = make_catalog_and_table(glue, tmp_path, appends=1)
    entry = entry_of(catalog, name)
    catalog.load_table(name).append(pa.table({"id": [1], "text": ["a"]}))
    with pytest.raises(Exception, match="ConcurrentModificationException"):
        catalog.glue.update_table(DatabaseName=entry["DatabaseName"], VersionId=entry["VersionId"],
                                  TableInput={"Name": "t", "Parameters": entry["Parameters"]})


# Fault of the first update, and the exit codes that it may end with.
@pytest.mark.parametrize("fault,ends", [("pass", {0}), ("drop_before", {0, 7}), ("drop_after", {0}), ("after:500", {0}),
                                        ("before:500", {0, 7}), ("late:1", {0, 7})])
def test_answerIsLost_theTableSaysWhatBecameOfIt(glue, tmp_path, fault, ends):
    catalog, name = make_catalog_and_table(glue, tmp_path)
    rows = by_pyiceberg(catalog.load_table(name))
    glue.updates.clear()
    glue.faults[:] = [fault]
    done = optimize(glue.url, name)
    for thread in glue.late:
        thread.join()
    assert glue.updates[0][0] == fault
    check_outcome(catalog, name, rows, done, ends, lambda: optimize(glue.url, name))


class RefusesWhatWasDone(HttpProxy):
    """As a gateway that sends an update twice and hands on the second answer, and reads that fail after it."""
    withheld = HttpProxy.withheld - {"host"}  # it is signed

    def __init__(self, upstream, kind, blind_reads):
        super().__init__(upstream)
        self.kind, self.blind_reads, self.has_updated = kind, blind_reads, False

    def handle(self, handler):
        operation, body = handler.headers["X-Amz-Target"].split(".")[1], self.body_of(handler)
        if operation == "GetTable" and self.has_updated and self.blind_reads > 0:
            self.blind_reads -= 1
            return self.reply(handler, *Glue.refusal(400, self.kind, "injected"))
        answer = self.forward(handler.command, handler.path, handler.headers, body)
        if operation == "UpdateTable" and not self.has_updated:
            self.has_updated = True
            assert answer[0] == 200
            answer = Glue.refusal(400, self.kind, "injected")
        self.reply(handler, *answer)


# How many reads fail, and the exit codes that the run may end with. What is not found is not looked for again at once.
@pytest.mark.parametrize("kind,blind_reads,ends", [
    ("ThrottlingException", 0, {0}), ("ThrottlingException", 1, {0}), ("ThrottlingException", 200, {7}),
    ("ExpiredTokenException", 2, {0}), ("ExpiredTokenException", 200, {7}), ("AccessDeniedException", 0, {0}),
    ("ConcurrentModificationException", 1, {0}), ("EntityNotFoundException", 1, {0, 7})])
def test_refusedAfterItWasDone_theFileStays(glue, tmp_path, kind, blind_reads, ends):
    catalog, name = make_catalog_and_table(glue, tmp_path)
    rows = by_pyiceberg(catalog.load_table(name))
    with RefusesWhatWasDone(glue.url, kind, blind_reads) as proxy:
        done = optimize(proxy.url, name)
    assert proxy.has_updated
    check_outcome(catalog, name, rows, done, ends, lambda: optimize(glue.url, name))


def test_appendersAgainstOptimizers_nothingLostOrDoubled(glue, tmp_path):
    race(catalog_of, (glue.url, str(tmp_path)), environment_of(glue.url), writers=4, appends=5)


def test_refusals_sayWhy(glue, tmp_path):
    catalog, name = make_catalog_and_table(glue, tmp_path, appends=1)
    database = name.split(".")[0]
    catalog.glue.create_table(DatabaseName=database, TableInput={"Name": "hive", "Parameters": {"EXTERNAL": "TRUE"}})
    other = optimize(glue.url, f"{database}.hive")
    assert other.returncode == 5 and "table_type" in other.stderr, other.stderr
    missing = optimize(glue.url, f"{database}.missing")
    assert missing.returncode == 3 and "missing" in missing.stderr, missing.stderr
    wrong = optimize(glue.url, name, PYICEBERG_CATALOG__LAKE__GLUE__SECRET_ACCESS_KEY="hunter2")
    assert wrong.returncode == 2 and "hunter2" not in wrong.stderr, wrong.stderr
    listed = subprocess.run([BINARY, "tables", "--catalog", "lake"], capture_output=True, text=True,
                            env=environment_of(glue.url), timeout=60)
    assert f"{name}" in listed.stdout and f"{database}.hive" not in listed.stdout, listed.stdout + listed.stderr
