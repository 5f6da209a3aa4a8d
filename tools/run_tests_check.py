# SPDX-License-Identifier: Apache-2.0
"""What `./x test --only TEXT` keeps, and what it says where there is nothing."""

import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT))

from tools.run_tests import chosen  # noqa: E402

PROGRAMS = [("sim", ["/b/release/tests/sim_test"]), ("act", ["/b/release/src/act_test"])]


def test_a_python_file_is_found_by_its_folder_too():
    assert [path.name for path in chosen("interop/test_splice", PROGRAMS)[2]] == ["test_splice.py"]


def test_a_program_is_found_by_its_name_or_by_that_of_its_file():
    assert chosen("sim", PROGRAMS)[1] == PROGRAMS[:1]
    assert chosen("act_test", PROGRAMS)[1] == PROGRAMS[1:]


def test_without_a_text_everything_runs():
    checks, programs, files = chosen("", PROGRAMS)
    assert Path(__file__) in checks and programs == PROGRAMS and len(files) > 10


def test_nothing_that_matches_is_said_and_no_success(tmp_path):
    (tmp_path / "CTestTestfile.cmake").write_text("")
    done = subprocess.run([sys.executable, ROOT / "tools/run_tests.py", "--build", tmp_path, "--only", "nosuch"],
                          capture_output=True, text=True, timeout=60)
    assert done.returncode == 2 and 'no test has "nosuch"' in done.stderr, done
