# SPDX-License-Identifier: Apache-2.0
"""Runs of many cases say at once that there is no firn to test, instead of a thousand failures."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
RUNS = ["tests.differential", "tests.schedules", "tests.faults", "tests.e2e.soak"]


def run(module, binary, *words):
    return subprocess.run([sys.executable, "-m", module, *words], cwd=ROOT, capture_output=True, text=True, timeout=120,
                          env=dict(os.environ, FIRN_BINARY=str(binary)))


@pytest.mark.parametrize("module", RUNS)
def test_a_program_that_is_not_there_is_said(module, tmp_path):
    done = run(module, tmp_path / "firn")
    assert done.returncode == 2 and "FIRN_BINARY=" in done.stderr and "No such file" in done.stderr, done


def test_a_program_that_does_not_start_is_said(tmp_path):
    program = tmp_path / "firn"
    program.write_text("#!/bin/sh\necho libarrow.so: cannot open shared object file >&2\nexit 127\n")
    program.chmod(0o755)
    done = run("tests.schedules", program)
    assert done.returncode == 2 and "ends with 127: libarrow.so: cannot open" in done.stderr, done


@pytest.mark.parametrize("module, words", [
    ("tests.differential", "--files /nowhere"), ("tests.schedules", "--seeds 9-1"), ("tests.faults", "--places moon")])
def test_what_makes_no_sense_is_refused(module, words):
    done = run(module, sys.executable, *words.split())
    assert done.returncode == 2 and "error: " in done.stderr and "Traceback" not in done.stderr, done
