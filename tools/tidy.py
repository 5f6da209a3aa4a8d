#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Checks the structure of the tree: layers, sizes, names, headers, documents. Part of the tests.

    tools/tidy.py [--root DIR]

Prints one line a finding, `path:line: rule: message`, and exits 1 if there is any.
"""

import argparse
import re
import subprocess
import sys
from pathlib import Path

# A folder may include only what stands before it, and itself.
LAYERS = ["base", "format", "splice", "iceberg", "ports", "observe", "orient", "decide", "simulate", "act", "ingest",
          "service", "api", "cli"]
# Narrower than the order: splice knows Parquet alone; the pure stages know neither the outside world nor each other's
# insides, only the value header of the stage before.
ALLOWED = {
    "splice": ["base", "format/parquet/", "splice"],
    "orient": ["base", "format/json/", "iceberg", "observe/facts.h", "observe/delete_facts.h", "observe/change.h",
               "orient"],
    "decide": ["base", "format/json/", "iceberg", "observe/facts.h", "observe/delete_facts.h", "observe/change.h",
               "orient", "decide"],
    "simulate": ["base", "format/json/", "iceberg", "observe/facts.h", "observe/delete_facts.h", "observe/change.h",
                 "orient", "decide", "simulate"],
}
PURE_FOLDERS = ["orient", "decide", "simulate"]
IMPURE_HEADERS = ["<random>", "<thread>", "<fstream>", "<iostream>", "<mutex>", "<chrono>", "<filesystem>"]
# Heavy headers stay behind one adapter each.
ADAPTERS_ONLY = ["arrow/", "parquet/", "nlohmann/", "curl/", "sqlite3.h", "libpq", "CLI/", "yaml-cpp/", "librdkafka/"]
BANNED_WORDS = re.compile(r"(?:^|_)(?:util|utils|helper|helpers|common|misc|manager|impl)(?:_|\.|$)")
BANNED_TYPES = re.compile(r"\b(?:class|struct)\s+\w*(?:Util|Utils|Helper|Helpers|Common|Manager|Impl)\b")
FUNCTION_LINES_MAX = 70
SOURCE_LINES_MAX = 400
HEADER_LINES_MAX = 300
COLUMNS_MAX = 120
BLOB_BYTES_MAX = 1 << 20
HEADER_WORDS = ["Guarantees:", "Threads:"]
NOT_FUNCTIONS = re.compile(r"^\s*(?:if|for|while|switch|do|else|class|struct|enum|union|namespace|extern|return|case|"
                           r"default|try|catch|\}|#|//)\b|^\s*[}#/]")


def tracked(root):
    out = subprocess.run(["git", "ls-files", "--cached", "--others", "--exclude-standard"], cwd=root,
                         capture_output=True, text=True, check=True).stdout
    return [p for p in out.splitlines() if (root / p).is_file()]


def folder_of(path):
    parts = path.split("/")
    return parts[1] if parts[0] == "src" and len(parts) > 2 else None


def check_includes(path, lines):
    folder = folder_of(path)
    test = path.endswith(("_test.cc", "_fuzz.cc", "_bench.cc"))
    for number, line in enumerate(lines, 1):
        match = re.match(r'\s*#\s*include\s+(?:"([^"]+)"|(<[^>]+>))', line)
        if not match:
            continue
        quoted, system = match.groups()
        if quoted:
            if folder is None:
                continue
            target = quoted.split("/")[0]
            if target not in LAYERS:
                yield number, "include", f'"{quoted}" is not a folder of src/'
            elif folder in ALLOWED and not any(
                    quoted.startswith(a if a.endswith((".h", "/")) else a + "/") for a in ALLOWED[folder]):
                yield number, "layer", f'{folder}/ may not include "{quoted}"'
            elif LAYERS.index(target) > LAYERS.index(folder):
                yield number, "layer", f'{folder}/ stands above {target}/ and may not include "{quoted}"'
        elif system:
            name = system[1:-1]
            if path.endswith(".h") and any(name.startswith(p) for p in ADAPTERS_ONLY):
                yield number, "heavy", f"{system} in a header: keep it behind its adapter's .cc"
            if folder in PURE_FOLDERS and system in IMPURE_HEADERS and not test:
                yield number, "pure", f"{folder}/ may not include {system}"


def check_sizes(path, lines):
    limit = HEADER_LINES_MAX if path.endswith(".h") else SOURCE_LINES_MAX
    if len(lines) > limit:
        yield len(lines), "size", f"{len(lines)} lines, more than {limit}"
    for number, line in enumerate(lines, 1):
        if len(line) > COLUMNS_MAX and "http" not in line:
            yield number, "columns", f"{len(line)} columns, more than {COLUMNS_MAX}"
    yield from check_functions(lines)


def check_functions(lines):
    """In formatted code a function ends at the first line that starts with `}` at the function's own indentation."""
    index = 0
    while index < len(lines):
        line = lines[index]
        if line.rstrip().endswith("{") and "(" in signature(lines, index) and not NOT_FUNCTIONS.match(
                first_line(lines, index)):
            start = index
            indent = len(first_line(lines, index)) - len(first_line(lines, index).lstrip())
            if indent <= 4:
                end = index + 1
                while end < len(lines) and not re.match(" " * indent + r"\}", lines[end]):
                    end += 1
                length = end - start + 1
                if length > FUNCTION_LINES_MAX:
                    yield start + 1, "function", f"{length} lines, more than {FUNCTION_LINES_MAX}"
                index = end
        index += 1


def first_index(lines, index):
    """Goes up from a `{` to the first line of its declaration."""
    top = index
    while top > 0 and top > index - 8:
        above = lines[top - 1].strip()
        if not above or above.endswith((";", "}", "{", ":", ">")) or above.startswith(("//", "#", "template")):
            break
        top -= 1
    return top


def first_line(lines, index):
    return lines[first_index(lines, index)]


def signature(lines, index):
    return " ".join(lines[first_index(lines, index):index + 1])


def check_text(path, lines):
    name = path.rsplit("/", 1)[-1]
    if BANNED_WORDS.search(name):
        yield 1, "name", f"{name}: say what it is for instead"
    if not lines or not any("SPDX-License-Identifier: Apache-2.0" in line for line in lines[:3]):
        yield 1, "licence", "the SPDX line is missing"
    if path.endswith((".h", ".cc")):
        for number, line in enumerate(lines, 1):
            if BANNED_TYPES.search(line):
                yield number, "name", "a type name with util, helper, common, manager or impl"
            if re.search(r"\b(?:TODO|FIXME|XXX)\b", line):
                yield number, "unfinished", "finish it, or refuse it with an error and say so in docs/feature-status.md"
    if path.startswith("src/") and path.endswith(".h"):
        opening = "\n".join(line for line in lines[:60] if line.startswith("//"))
        for word in HEADER_WORDS:
            if word not in opening:
                yield 1, "opening", f'the header does not open with what it does: "{word}" is missing'
        if not any(line.startswith("#pragma once") for line in lines):
            yield 1, "opening", "#pragma once is missing"


def check_targets(root, paths):
    """Every folder with sources has its firn_folder line; every test folder its CMakeLists."""
    text = (root / "src/CMakeLists.txt").read_text()
    folders = {folder_of(p) for p in paths if p.startswith("src/") and p.endswith(".cc")} - {None}
    for folder in sorted(folders):
        if not re.search(rf"firn_folder\({folder}\b", text):
            yield "src/CMakeLists.txt", 1, "target", f"src/{folder}/ is in no target"
    for path in paths:
        if path.startswith("tests/") and path.endswith(".cc"):
            if not any((root / parent / "CMakeLists.txt").is_file() for parent in Path(path).parents):
                yield path, 1, "target", "no CMakeLists.txt beside or above it"


def check_documents(root, paths):
    known = set(paths) | {str(parent) for p in paths for parent in Path(p).parents}
    for path in paths:
        if not path.endswith(".md"):
            continue
        for number, line in enumerate((root / path).read_text().splitlines(), 1):
            for name in re.findall(r"`((?:src|docs|tests|tools|bench|cmake|web|actors)/[\w./-]*\w/?)`", line):
                if name.rstrip("/") not in known:
                    yield path, number, "document", f"{name} does not exist"
            for name in re.findall(r"\]\(([\w./-]+)(?:#[\w-]*)?\)", line):
                if not name.startswith("http") and not (root / Path(path).parent / name).exists():
                    yield path, number, "document", f"the link {name} leads nowhere"


def findings(root):
    paths = tracked(root)
    for path in paths:
        size = (root / path).stat().st_size
        if size > BLOB_BYTES_MAX:
            yield path, 1, "blob", f"{size} bytes, more than {BLOB_BYTES_MAX}"
        if path.endswith((".h", ".cc", ".py", ".sh")) or path in ("x", ".ci/run") or path.endswith("CMakeLists.txt"):
            lines = (root / path).read_text().splitlines()
            for finding in check_text(path, lines):
                yield path, *finding
            if path.endswith((".h", ".cc")):
                for check in (check_includes, check_sizes):
                    for finding in check(path, lines):
                        yield path, *finding
    yield from check_targets(root, paths)
    yield from check_documents(root, paths)


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--root", type=Path, default=Path(__file__).resolve().parent.parent)
    root = parser.parse_args().root
    count = 0
    for path, line, rule, message in findings(root):
        print(f"{path}:{line}: {rule}: {message}")
        count += 1
    print(f"tidy: {count} findings")
    return 1 if count else 0


if __name__ == "__main__":
    sys.exit(main())
