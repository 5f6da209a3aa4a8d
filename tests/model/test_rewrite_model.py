# SPDX-License-Identifier: Apache-2.0
"""rewrite_deletes.pml, checked by Spin: right with all guards, and wrong as soon as any one of them is taken away."""

import shutil
import subprocess
from pathlib import Path

import pytest

MODEL = Path(__file__).parent / "rewrite_deletes.pml"
GUARDS = ["INPUTS_LIVE", "REBASE", "SEQUENCE_UPPER", "SEQUENCE_LOWER", "SURVIVING_FILES", "ADDED_FILES", "ALL_SCANNED"]
KINDS = {"position delete files": [], "deletion vectors": ["-DDV"]}

pytestmark = pytest.mark.skipif(not shutil.which("spin"), reason="spin is not installed")


def check(folder, flags):
    """Spin's verdict: its words on errors, and the number of states it stored."""
    subprocess.run(["spin", "-a", *flags, str(MODEL)], cwd=folder, check=True, capture_output=True)
    subprocess.run(["gcc", "-O2", "-w", "-DSAFETY", "-DCOLLAPSE", "-DVECTORSZ=2048", "-DMEMLIM=2000", "-o", "pan", "pan.c"],
                   cwd=folder, check=True)
    out = subprocess.run(["./pan", "-m100000"], cwd=folder, capture_output=True, text=True, check=False).stdout
    assert "Search not completed" not in out or "assertion violated" in out, out
    states = next(int(line.split()[0]) for line in out.splitlines() if line.strip().endswith("states, stored"))
    return "errors: 0" in out, "assertion violated ((" in out, states


@pytest.mark.parametrize("kind", KINDS)
def test_all_guards_no_row_is_lost_doubled_or_revived(tmp_path, kind):
    good, _, states = check(tmp_path, ["-DSTATEMENTS=3", *KINDS[kind]])
    assert good
    assert states > 100_000  # the search was not cut short by a model that cannot move


@pytest.mark.parametrize("guard", GUARDS)
@pytest.mark.parametrize("kind", KINDS)
def test_without_one_guard_rows_are_wrong(tmp_path, kind, guard):
    good, rows_wrong, _ = check(tmp_path, ["-DSTATEMENTS=4", f"-DNO_{guard}", *KINDS[kind]])
    assert not good and rows_wrong


def test_without_fresh_vectors_a_deleted_row_comes_back(tmp_path):
    good, rows_wrong, _ = check(tmp_path, ["-DSTATEMENTS=4", "-DNO_FRESH_VECTOR", "-DDV"])
    assert not good and rows_wrong
