# SPDX-License-Identifier: Apache-2.0
"""Each rule of tools/tidy.py finds the fault that it is there for: a small tree with one fault a case."""

import subprocess
import sys
from pathlib import Path

import pytest

TIDY = Path(__file__).with_name("tidy.py")
SPDX = "// SPDX-License-Identifier: Apache-2.0\n"
OPENING = SPDX + "// Does a thing.\n// Guarantees: yes.\n// Threads: any.\n#pragma once\n"
LONG_BODY = "void F() {\n" + "  G();\n" * 75 + "}\n"

CASES = [
    ("src/base/x.h", OPENING + '#include "act/outcome.h"\n', "layer"),
    ("src/splice/x.h", OPENING + '#include "format/avro/schema.h"\n', "layer"),
    ("src/decide/x.cc", SPDX + "#include <random>\n", "pure"),
    ("src/base/x.h", OPENING + "#include <nlohmann/json.hpp>\n", "heavy"),
    ("src/base/x.cc", SPDX + "int a;\n" * 450, "size"),
    ("src/base/x.cc", SPDX + LONG_BODY, "function"),
    ("src/base/x.cc", SPDX + "int a = " + "1 + " * 40 + "1;\n", "columns"),
    ("src/base/file_utils.cc", SPDX, "name"),
    ("src/base/x.cc", SPDX + "class FileManager {};\n", "name"),
    ("src/base/x.cc", "int a;\n", "licence"),
    ("src/base/x.cc", SPDX + "// TO" + "DO later\n", "unfinished"),
    ("src/base/x.h", SPDX + "#pragma once\n", "opening"),
    ("src/nowhere/x.cc", SPDX, "target"),
    ("README.md", "See `src/base/absent.h`.\n", "document"),
    ("README.md", "See [it](docs/absent.md).\n", "document"),
    ("data.bin", "0" * ((1 << 20) + 1), "blob"),
]


def run(tmp_path, files):
    subprocess.run(["git", "init", "-q"], cwd=tmp_path, check=True)
    for name, text in {"src/CMakeLists.txt": "# " + SPDX + "firn_folder(base)\nfirn_folder(splice)\nfirn_folder(decide)\n",
                       **files}.items():
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_text(text)
    return subprocess.run([sys.executable, str(TIDY), "--root", str(tmp_path)], capture_output=True, text=True)


@pytest.mark.parametrize("path,text,rule", CASES)
def test_fault_is_found(tmp_path, path, text, rule):
    done = run(tmp_path, {path: text})
    assert done.returncode == 1
    assert f": {rule}: " in done.stdout, done.stdout


def test_good_tree_has_no_findings(tmp_path):
    done = run(tmp_path, {"src/base/x.h": OPENING, "src/base/x.cc": SPDX + '#include "base/x.h"\n'})
    assert (done.returncode, done.stdout) == (0, "tidy: 0 findings\n")
