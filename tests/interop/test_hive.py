# SPDX-License-Identifier: Apache-2.0
"""Real Hive Metastores of versions 3 and 4, shared with PyIceberg, with and without faults around their calls."""

import os
import subprocess
import time

import pyarrow as pa
import pytest

pytest.importorskip("thrift", reason="thrift is not installed")

from hive_metastore import ttypes  # noqa: E402

from tests.services.hive import Hive  # noqa: E402
from tests.services.hive_proxy import HiveProxy  # noqa: E402

from . import shared_table  # noqa: E402
from .conftest import BINARY  # noqa: E402
from .rows import by_duckdb, by_pyiceberg  # noqa: E402
from .shared_table import check_outcome, check_rows, race, replaces  # noqa: E402

ALTER = "alter_table_with_environment_context"
LOCK_SECONDS = 8
WITHOUT_LOCKS = {"PYICEBERG_CATALOG__LAKE__ICEBERG__ENGINE__HIVE__LOCK_ENABLED": "false"}


def served(tmp_path_factory, version):
    server = None
    try:
        server = Hive(tmp_path_factory.mktemp(f"hive{version}"), version=version, lock_seconds=LOCK_SECONDS)
        server.start()
        yield server
    except RuntimeError as error:
        pytest.skip(f"no Hive Metastore {version}: {error}")
    finally:
        if server:
            server.stop()


@pytest.fixture(scope="module")
def hive3(tmp_path_factory):
    yield from served(tmp_path_factory, 3)


@pytest.fixture(scope="module")
def hive4(tmp_path_factory):
    yield from served(tmp_path_factory, 4)


@pytest.fixture(params=["hive3", "hive4"])
def hive(request):
    return request.getfixturevalue(request.param)


def catalog_of(uri):
    from pyiceberg.catalog.hive import HiveCatalog
    # It waits for locks as long as they last.
    catalog = HiveCatalog("lake", **{"uri": uri, "lock-check-max-wait-time": "2", "lock-check-retries": "20"})
    connect = catalog._client._client

    def connect_to_any():
        """Version 4 has no get_table any more, which PyIceberg calls."""
        client = connect()
        client.get_table = lambda dbname, tbl_name: client.get_table_req(
            ttypes.GetTableRequest(dbName=dbname, tblName=tbl_name)).table
        return client
    catalog._client._client = connect_to_any
    return catalog


def make_table(hive, appends=6):
    catalog = catalog_of(hive.uri)
    return catalog, shared_table.make_table(catalog, appends)


def environment_of(uri, **more):
    return dict(os.environ, PYICEBERG_CATALOG__LAKE__TYPE="hive", PYICEBERG_CATALOG__LAKE__URI=uri, **more)


def command_of(name):
    return [BINARY, "optimize", f"lake.{name}", "--quiet"]


def optimize(uri, name, **more):
    return subprocess.run(command_of(name), capture_output=True, text=True, env=environment_of(uri, **more), timeout=300)


def waiting(milliseconds):
    return {"PYICEBERG_CATALOG__LAKE__ICEBERG__HIVE__LOCK_TIMEOUT_MS": str(milliseconds)}


def entry_of(catalog, name):
    with catalog._client as client:
        return client.get_table(*name.split("."))


def change_entry(catalog, name, change):
    entry = entry_of(catalog, name)
    change(entry)
    with catalog._client as client:
        client.alter_table_with_environment_context(*name.split("."), entry, ttypes.EnvironmentContext(
            properties={"DO_NOT_UPDATE_STATS": "true"}))


def never_again(catalog, name):
    """One attempt, so that the test need not wait for all that others would take."""
    with catalog.load_table(name).transaction() as change:
        change.set_properties({"commit.retry.num-retries": "0"})


def locks_of(catalog, name):
    database, table = name.split(".")
    with catalog._client as client:
        return client.show_locks(ttypes.ShowLocksRequest(dbname=database, tablename=table, isExtended=False)).locks


def take_lock(catalog, name):
    database, table = name.split(".")
    part = ttypes.LockComponent(type=ttypes.LockType.EXCLUSIVE, level=ttypes.LockLevel.TABLE, dbname=database,
                                tablename=table)
    with catalog._client as client:
        return client.lock(ttypes.LockRequest(component=[part], user="somebody", hostname="elsewhere"))


def metadata_files(table):
    folder = table.location().removeprefix("file://").removeprefix("file:") + "/metadata"
    return sorted(f for f in os.listdir(folder) if f.endswith(".metadata.json"))


def test_optimize_tableOfPyIceberg_keepsRowsAndTheRestOfItsEntry(hive):
    catalog, name = make_table(hive)

    def decorate(entry):
        entry.owner, entry.retention = "somebody", 17
        entry.parameters.update({"comment": "ours", "numRows": "3"})
        entry.sd.cols[0].comment = "a comment of Hive"
        entry.sd.serdeInfo.parameters = {"serialization.format": "1"}
    change_entry(catalog, name, decorate)
    rows = by_pyiceberg(catalog.load_table(name))
    before = entry_of(catalog, name)
    done = optimize(hive.uri, name)
    assert done.returncode == 0, done.stderr
    table = check_rows(catalog, name, rows)
    assert len(table.inspect.files()) == 1
    after = entry_of(catalog, name)
    assert after.parameters["previous_metadata_location"] == before.parameters["metadata_location"]
    assert after.parameters["numRows"] == "60"
    # What repeats the metadata follows it; the rest of the parameters is as it was.
    follows = {"metadata_location", "previous_metadata_location", "numFiles", "numRows", "totalSize"}
    assert {k: v for k, v in after.parameters.items() if k not in follows} == \
        {k: v for k, v in before.parameters.items() if k not in follows}
    before.parameters = after.parameters = None
    assert after == before
    assert locks_of(catalog, name) == []
    table.append(pa.table({"id": [1000], "text": ["y"]}))
    assert sum(by_pyiceberg(catalog.load_table(name)).values()) == sum(rows.values()) + 1


# Call, its fault, and the exit codes that the run may end with. A change that is lost without a trace is sent again when
# the lock that protects it has ended.
@pytest.mark.parametrize("method,fault,ends", [
    (ALTER, "cut_before", {0, 7}), (ALTER, "cut_half", {0, 7}), (ALTER, "cut_after", {0}), (ALTER, "late:1", {0}),
    (ALTER, "late:5", {0, 7}), ("lock", "cut_before", {0}), ("lock", "cut_after", {0}), ("lock", "late:1", {0}),
    ("unlock", "cut_before", {0}), ("unlock", "cut_after", {0}), ("check_lock", "cut_after", {0}),
    ("get_table_req", "cut_after", {8}), ("get_table_req", "pass cut_after", {0})])
def test_connectionIsCut_theTableSaysWhatBecameOfIt(hive, method, fault, ends):
    catalog, name = make_table(hive)
    rows = by_pyiceberg(catalog.load_table(name))
    with HiveProxy(hive.port, {method: fault.split()}) as proxy:
        done = optimize(proxy.uri, name)
    assert proxy.taken[:len(fault.split())] == [(method, each) for each in fault.split()]
    check_outcome(catalog, name, rows, done, ends, lambda: optimize(hive.uri, name))


def test_changeIsAnsweredWithAnError_lockIsFreeAtOnce(hive3):
    catalog, name = make_table(hive3)
    rows = by_pyiceberg(catalog.load_table(name))
    with HiveProxy(hive3.port, {ALTER: ["refuse"], "unlock": []}) as proxy:
        done = optimize(proxy.uri, name, **waiting(0))
    assert done.returncode == 0, done.stderr
    assert [fault for method, fault in proxy.taken if method == ALTER] == ["refuse", "pass"]
    assert len(check_rows(catalog, name, rows).inspect.files()) == 1


class RefusesWhatWasDone(HiveProxy):
    """As a server that repeats a change after a fault of its database, and reads that fail after it."""

    def __init__(self, port, blind_reads):
        super().__init__(port, {})
        self.blind_reads, self.has_changed = blind_reads, False

    def next_fault(self, method):
        with self.lock:
            if method == ALTER and not self.has_changed:
                self.has_changed = True
                return "refuse_after"
            if method == "get_table_req" and self.has_changed and self.blind_reads > 0:
                self.blind_reads -= 1
                return "cut_before"
            return "pass"

    def spoil(self, fault, message, client, server, replies):
        if fault != "refuse_after":
            return super().spoil(fault, message, client, server, replies)
        server.sendall(message)
        replies.message()
        second_field, first_field = b"\x0c\x00\x02", b"\x0c\x00\x01"  # MetaException, InvalidOperationException
        client.sendall(self.refusal(message).replace(second_field, first_field, 1))
        return False


@pytest.mark.parametrize("blind_reads,ends", [(0, {0}), (1, {0}), (200, {7})])
def test_refusedAfterItWasDone_theFileStays(hive, blind_reads, ends):
    catalog, name = make_table(hive)
    rows = by_pyiceberg(catalog.load_table(name))
    with RefusesWhatWasDone(hive.port, blind_reads) as proxy:
        done = optimize(proxy.uri, name)
    assert proxy.has_changed
    check_outcome(catalog, name, rows, done, ends, lambda: optimize(hive.uri, name))
    assert locks_of(catalog, name) == []


def test_lateChange_overwritesNothing(hive):
    """Version 3 does not look at the condition of a change, so the lock has to stay; version 4 refuses what is late."""
    catalog, name = make_table(hive)
    rows = by_pyiceberg(catalog.load_table(name))
    with HiveProxy(hive.port, {ALTER: ["late:5"] + ["cut_before"] * 20}) as proxy:
        run = subprocess.Popen(command_of(name), env=environment_of(proxy.uri, **waiting(100)), stderr=subprocess.PIPE,
                               text=True)
        while not proxy.taken:
            time.sleep(0.05)
        # Waits for the lock, and then builds on the late change.
        catalog.load_table(name).append(pa.table({"id": [1000], "text": ["y"]}))
        error = run.communicate(timeout=120)[1]
    assert run.returncode in (0, 7), error
    table = catalog.load_table(name)
    assert sum(by_pyiceberg(table).values()) == sum(rows.values()) + 1
    assert by_duckdb(table.metadata_location) == by_pyiceberg(table)
    assert len(replaces(table)) == (1 if hive.version == 3 else 0)


def test_conditionOfTheChange_isNotLookedAtByVersion3(hive):
    """Otherwise the test above proves nothing."""
    catalog, name = make_table(hive, appends=1)
    entry = entry_of(catalog, name)
    entry.parameters["color"] = "blue"
    refused = False
    with catalog._client as client:
        try:
            client.alter_table_with_environment_context(*name.split("."), entry, ttypes.EnvironmentContext(properties={
                "expected_parameter_key": "metadata_location", "expected_parameter_value": "another"}))
        except ttypes.MetaException as error:
            refused = "The table has been modified. The parameter value for key" in error.message
    assert refused == (hive.version == 4)
    assert (entry_of(catalog, name).parameters.get("color") == "blue") == (hive.version == 3)


@pytest.mark.parametrize("fault", ["pass", "cut_before", "cut_after", "late:2", "late:5"])
def test_withoutLocks_theConditionDecides(hive4, fault):
    hive = hive4
    catalog, name = make_table(hive)
    rows = by_pyiceberg(catalog.load_table(name))
    with HiveProxy(hive.port, {ALTER: [fault], "lock": []}) as proxy:
        run = subprocess.Popen(command_of(name), env=environment_of(proxy.uri, **WITHOUT_LOCKS), stderr=subprocess.PIPE,
                               stdout=subprocess.DEVNULL, text=True)
        while not proxy.taken:
            time.sleep(0.05)
        if fault == "late:5":  # before the change comes
            catalog.load_table(name).append(pa.table({"id": [1000], "text": ["y"]}))
            rows = by_pyiceberg(catalog.load_table(name))
        error = run.communicate(timeout=120)[1]
    assert run.returncode in (0, 7), f"{run.returncode} {error}"
    assert "lock" not in {method for method, _ in proxy.taken} and "HIVE-26882" not in error
    assert len(replaces(check_rows(catalog, name, rows))) == 1


def test_withoutLocks_onAServerThatMayNotLookAtConditions_warns(hive3):
    catalog, name = make_table(hive3)
    with catalog.load_table(name).transaction() as change:
        change.set_properties({"engine.hive.lock-enabled": "false"})
    lock = take_lock(catalog, name)
    done = subprocess.run(command_of(name)[:-1], capture_output=True, text=True, env=environment_of(hive3.uri))
    assert done.returncode == 0 and "HIVE-26882" in done.stderr, done.stderr
    with catalog._client as client:
        client.unlock(ttypes.UnlockRequest(lockid=lock.lockid))


def hold(catalog, lock, run):
    """Keeps the lock alive until the run has ended."""
    while run.poll() is None:
        with catalog._client as client:
            client.check_lock(ttypes.CheckLockRequest(lockid=lock.lockid))
        yield
        time.sleep(0.3)


def test_othersHoldTheLock_nothingIsWrittenUntilItEnds(hive3):
    catalog, name = make_table(hive3)
    never_again(catalog, name)
    rows = by_pyiceberg(catalog.load_table(name))
    before = metadata_files(catalog.load_table(name))
    lock = take_lock(catalog, name)
    assert lock.state == ttypes.LockState.ACQUIRED
    run = subprocess.Popen(command_of(name), env=environment_of(hive3.uri, **waiting(300)), stdout=subprocess.PIPE,
                           stderr=subprocess.STDOUT, text=True)
    for _ in hold(catalog, lock, run):
        pass
    said = run.stdout.read()
    assert run.returncode == 8 and "hold the metastore's lock" in said, f"{run.returncode} {said}"
    assert metadata_files(catalog.load_table(name)) == before
    assert [held.lockid for held in locks_of(catalog, name)] == [lock.lockid], "what was asked for is taken back"
    # Its holder is heard of no more.
    done = optimize(hive3.uri, name)
    assert done.returncode == 0, done.stderr
    assert len(check_rows(catalog, name, rows).inspect.files()) == 1


def test_stoppedWhileItWaits_endsAtOnceAndLeavesNothing(hive3):
    catalog, name = make_table(hive3)
    before = metadata_files(catalog.load_table(name))
    lock = take_lock(catalog, name)
    run = subprocess.Popen(command_of(name), env=environment_of(hive3.uri), stdout=subprocess.DEVNULL,
                           stderr=subprocess.DEVNULL)
    stopped = None
    for _ in hold(catalog, lock, run):
        if stopped is None and len(locks_of(catalog, name)) == 2:
            run.terminate()
            stopped = time.time()
    assert run.returncode == 10
    assert time.time() - stopped < 10
    assert metadata_files(catalog.load_table(name)) == before
    assert [held.lockid for held in locks_of(catalog, name)] == [lock.lockid]


def test_killedUnderItsLock_othersGoOnWhenItEnds(hive3):
    catalog, name = make_table(hive3)
    rows = by_pyiceberg(catalog.load_table(name))
    with HiveProxy(hive3.port, {ALTER: ["silent"]}) as proxy:
        run = subprocess.Popen(command_of(name), env=environment_of(proxy.uri), stderr=subprocess.DEVNULL)
        while not proxy.taken:
            time.sleep(0.05)
        run.kill()
        run.wait()
    assert len(locks_of(catalog, name)) == 1
    done = optimize(hive3.uri, name)
    assert done.returncode == 0, done.stderr
    assert len(check_rows(catalog, name, rows).inspect.files()) == 1
    assert locks_of(catalog, name) == []


def test_appendersAgainstOptimizers_nothingLostOrDoubled(hive):
    name = race(catalog_of, (hive.uri,), environment_of(hive.uri), writers=3, appends=3)
    assert locks_of(catalog_of(hive.uri), name) == []


def test_severalServers_theNextOneIsAsked(hive3):
    catalog, name = make_table(hive3)
    done = optimize(f"thrift://127.0.0.1:1,{hive3.uri}", name)
    assert done.returncode == 0, done.stderr
    assert len(catalog.load_table(name).inspect.files()) == 1


def test_refusals_sayWhy(hive):
    catalog, name = make_table(hive, appends=1)
    database = name.split(".")[0]
    with catalog._client as client:
        entry = client.get_table(database, "t")
        entry.tableName, entry.parameters = "other", {"EXTERNAL": "TRUE"}
        client.create_table(entry)
    other = optimize(hive.uri, f"{database}.other")
    assert other.returncode == 5 and "table_type" in other.stderr, other.stderr
    missing = optimize(hive.uri, f"{database}.missing")
    assert missing.returncode == 3 and "missing" in missing.stderr, missing.stderr
    kerberos = optimize(hive.uri, name, **{"PYICEBERG_CATALOG__LAKE__HIVE__KERBEROS_AUTHENTICATION": "true"})
    assert kerberos.returncode == 5 and "hive.kerberos-authentication" in kerberos.stderr, kerberos.stderr
    away = optimize("thrift://127.0.0.1:1", name)
    assert away.returncode == 8 and "127.0.0.1:1" in away.stderr, away.stderr
    listed = subprocess.run([BINARY, "tables", "--catalog", "lake"], capture_output=True, text=True,
                            env=environment_of(hive.uri), timeout=60)
    assert name in listed.stdout and f"{database}.other" not in listed.stdout, listed.stdout + listed.stderr
    # Hive's names have one case.
    done = optimize(hive.uri, name.upper())
    assert done.returncode == 0, done.stderr
