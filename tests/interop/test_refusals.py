# SPDX-License-Identifier: Apache-2.0
"""What firn must not touch, and what must not crash it: an exit code, a message, nothing written."""

import json
import os
import random
import shutil
import zlib
from pathlib import Path

import pyarrow as pa
import pytest

from .conftest import BINARY

# Exit codes of docs/errors.md.
CORRUPT, UNSUPPORTED, NOT_FOUND, USAGE, PARTLY = 4, 5, 3, 2, 11


@pytest.fixture
def small(lake):
    table = lake.catalog.create_table("db.t", schema=pa.schema([("id", pa.int64()), ("text", pa.string())]))
    for append in range(6):
        table.append(pa.table({"id": range(append * 10, append * 10 + 10), "text": ["x"] * 10}))
    return lake


def metadata_file(lake):
    return Path(lake.load("db.t").metadata_location.removeprefix("file://"))


def listing(lake):
    return sorted((str(p), p.stat().st_size) for p in Path(lake.folder).rglob("*") if p.is_file())


def edit(path, change):
    tree = json.loads(path.read_text())
    change(tree)
    path.write_text(json.dumps(tree))


REFUSED = {
    "format version 4": (lambda t: t.update({"format-version": 4}), UNSUPPORTED),
    "encryption keys": (lambda t: t.update({"format-version": 3, "next-row-id": 0, "encryption-keys": [
        {"key-id": "k", "encrypted-key-metadata": "YQ=="}]}), UNSUPPORTED),
    "unknown type": (lambda t: t["schemas"][0]["fields"][1].update({"type": "hologram"}), UNSUPPORTED),
    "current schema missing": (lambda t: t.update({"current-schema-id": 99}), CORRUPT),
    "ref to a missing snapshot": (lambda t: t["refs"]["main"].update({"snapshot-id": 1}), CORRUPT),
    "no location": (lambda t: t.pop("location"), CORRUPT),
    "snapshots are text": (lambda t: t.update({"snapshots": "many"}), CORRUPT),
}


@pytest.mark.parametrize("case", REFUSED)
def test_metadataThatIsNotUnderstood_isRefusedBeforeAnyWrite(small, case):
    change, code = REFUSED[case]
    edit(metadata_file(small), change)
    before = listing(small)
    done = small.firn("optimize", "lake.db.t", expect=code)
    assert listing(small) == before
    assert "db.t" in done.stderr


def test_tableThatDoesNotExist_isNamed(small):
    done = small.firn("health", "lake.db.absent", expect=NOT_FOUND)
    assert "absent" in done.stderr


def test_missingDataFile_isNamedAndStaysInTheTable(small):
    victim = small.files("db.t")[2].file_path
    Path(victim.removeprefix("file://")).unlink()
    done = small.firn("optimize", "lake.db.t", expect=PARTLY)
    assert victim in done.stdout
    left = [file.file_path for file in small.files("db.t")]
    assert len(left) == 2 and victim in left, "the others are merged, the missing file is still asked for"


@pytest.mark.parametrize("kind", ["truncated", "bit flipped", "empty", "other text"])
@pytest.mark.parametrize("what", ["data", "manifest", "manifest list", "metadata"])
def test_damagedFile_isAnErrorThatNamesIt(small, kind, what):
    seed = zlib.crc32(f"{kind} {what}".encode()) ^ int(os.environ.get("FIRN_TEST_SEED", "0"))
    print(f"seed {seed}")
    rng = random.Random(seed)
    table = small.load("db.t")
    path = {"data": lambda: small.files("db.t")[0].file_path,
            "manifest": lambda: table.inspect.manifests()["path"][0].as_py(),
            "manifest list": lambda: table.current_snapshot().manifest_list,
            "metadata": lambda: table.metadata_location}[what]()
    path = Path(path.removeprefix("file://"))
    good = path.read_bytes()
    for _ in range(6):
        bad = bytearray(good)
        if kind == "truncated":
            bad = bad[:rng.randrange(1, len(bad))]
        elif kind == "bit flipped":
            for _ in range(3):
                bad[rng.randrange(len(bad))] ^= 1 << rng.randrange(8)
        else:
            bad = b"" if kind == "empty" else b"no such format\n" * 20
        path.write_bytes(bytes(bad))
        done = small.firn_any("optimize", "lake.db.t", "--dry-run" if what == "metadata" else "--quiet")
        assert 0 <= done.returncode <= 11, f"killed by a signal: {done.returncode}\n{done.stderr}"
        if done.returncode not in (0, PARTLY):
            assert done.stderr.strip()
        if kind != "bit flipped":
            assert done.returncode == PARTLY if what == "data" else done.returncode in (CORRUPT, UNSUPPORTED)
            assert path.name in (done.stdout if what == "data" else done.stderr)
        path.write_bytes(good)
        if done.returncode in (0, PARTLY) and what != "metadata":
            break  # a harmless bit, or the other files were merged: the table has changed


def test_readOnlyStorage_isSaid(small):
    if os.geteuid() == 0:
        pytest.skip("root writes anywhere")
    data = Path(small.folder) / "warehouse/db/t/data"
    data.chmod(0o500)
    try:
        done = small.firn_any("optimize", "lake.db.t", "--quiet")
        assert done.returncode in (USAGE, PARTLY)
    finally:
        data.chmod(0o700)


def test_unknownOption_isUsage(small):
    small.firn("optimize", "lake.db.t", "--no-such-option", expect=USAGE)
    small.firn("fly", expect=USAGE)


def test_unknownFirnProperty_isNamed(small):
    table = small.load("db.t")
    with table.transaction() as transaction:
        transaction.set_properties({"firn.target-file-sise-bytes": "1000"})
    done = small.firn("plan", "lake.db.t", expect=USAGE)
    assert "firn.target-file-sise-bytes" in done.stderr


def test_movedTable_isReadThroughMap(small, tmp_path_factory):
    moved = tmp_path_factory.mktemp("moved")
    metadata = metadata_file(small)
    root = metadata.parent.parent
    shutil.copytree(root, moved / "t")
    shutil.rmtree(root)
    new = moved / "t/metadata" / metadata.name
    done = small.firn("health", new, "--map", f"file://{root}={moved}/t", "--json")
    assert json.loads(done.stdout)["facts"]["data_files"] == 6


def test_movedTable_isNotWrittenThroughMap_andRefusedBeforeAnyWork(small, tmp_path_factory):
    moved = tmp_path_factory.mktemp("moved")
    root = metadata_file(small).parent.parent
    shutil.copytree(root, moved / "t")
    before = listing(small)
    done = small.firn("optimize", "lake.db.t", "--map", f"file://{root}={moved}/t", expect=UNSUPPORTED)
    assert "is read through the rule" in done.stderr
    assert listing(small) == before
    assert sorted(p.name for p in (moved / "t").rglob("*")) == sorted(p.name for p in root.rglob("*"))


def test_metadataFile_isOnlyRead_andRefusedBeforeAnyWork(small):
    before = listing(small)
    done = small.firn("optimize", metadata_file(small), expect=UNSUPPORTED)
    assert "can only be read" in done.stderr
    assert listing(small) == before


def test_binaryExists():
    assert os.access(BINARY, os.X_OK)
