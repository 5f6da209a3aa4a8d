# SPDX-License-Identifier: Apache-2.0
"""What ./x says about arguments, with nothing but Python and before anything is installed or built."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parent.parent
COMMANDS = ["build", "test", "ci", "sanitize", "lint", "fuzz", "demo", "bench", "clean"]


def look(*words):
    """Without the packages of this environment."""
    return subprocess.run([sys.executable, "-I", "-S", ROOT / "tools/arguments.py", *words], capture_output=True, text=True,
                          timeout=60)


@pytest.mark.parametrize("command", COMMANDS)
def test_each_command_gives_help(command):
    done = look(command, "--help")
    assert done.returncode == 100 and f"usage: ./x {command}" in done.stdout, done


@pytest.mark.parametrize("words", [
    "build relese", "build release frin", "build --fast", "test --quik", "test --quic", "test --only nosuch", "test --jobs 0",
    "ci --quik", "sanitize", "sanitize msan", "sanitize asan --only test_splice.py", "lint --fxi", "fuzz soon", "fuzz 0",
    "fuzz --only no_fuzz", "demo --appends 0", "demo --appends 2.5", "demo --scale 0", "demo --scale nan", "demo --commits -1",
    "demo --keep /dev/null", "bench nope", "bench --runs 0", "bench --json /nowhere/at/all", "clean everything"])
def test_what_makes_no_sense_is_refused_in_a_sentence(words):
    done = look(*words.split())
    assert done.returncode == 2 and f"./x {words.split()[0]}: error: " in done.stderr, done
    assert "Traceback" not in done.stderr


@pytest.mark.parametrize("words", [
    "build", "build release", "build dev firn act_test", "build simulate_test", "test --quick", "test --only interop/test_splice",
    "test --only sim", "ci --quick", "sanitize tsan --quick --only ports", "lint --fix --tidy", "fuzz 5", "fuzz --only rle_fuzz",
    "demo --scale 0.1 --appends 3 --commits 0 --stay", "bench splice s3 --runs 1", "bench", "clean"])
def test_what_makes_sense_is_let_through_in_silence(words):
    done = look(*words.split())
    assert (done.returncode, done.stdout, done.stderr) == (0, "", "")


def test_a_demo_replaces_nothing_that_no_demo_made(tmp_path):
    (tmp_path / "warehouse").mkdir()
    assert "no demo made" in look("demo", "--keep", str(tmp_path)).stderr
    (tmp_path / "firn.yaml").touch()
    assert look("demo", "--keep", str(tmp_path)).returncode == 0


@pytest.mark.parametrize("words, code", [(["test", "--help"], 0), (["test", "--quik"], 2), (["fuzz", "--help"], 0)])
def test_the_script_ends_before_it_installs(tmp_path, words, code):
    environment = dict(os.environ, HOME=str(tmp_path), FIRN_CACHE=str(tmp_path / "cache"))
    done = subprocess.run([ROOT / "x", *words], capture_output=True, text=True, timeout=60, env=environment)
    assert done.returncode == code and "installing" not in done.stdout, done
    assert list(tmp_path.iterdir()) == []
