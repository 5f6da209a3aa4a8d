#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Runs all tests and ends with one line: `N passed, N failed` (`, N skipped` where some were).

Order: tools/tidy, the GoogleTest programs and fuzz replays that CMake registered, then the Python tests in tests/
(other people's readers and real servers). --quick leaves out what needs servers. --only keeps the programs
("sim", "sim_test") and the Python files ("interop/test_splice") whose path below the repository contains TEXT; where
there is none, it says so and ends with 2. --programs leaves out what is in Python. What was not run is said before the
last line.
"""

import argparse
import json
import os
import subprocess
import sys
import tempfile
import time
import xml.etree.ElementTree as ElementTree
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT))

from tools.argument_types import whole  # noqa: E402


class Tally:
    def __init__(self):
        self.passed = self.failed = self.skipped = 0
        self.skipping = []

    def add(self, name, passed, failed, skipped, seconds, output):
        self.passed += passed
        self.failed += failed
        self.skipped += skipped
        if skipped:
            self.skipping.append(f"{skipped} of {name}")
        word = "FAILED" if failed else "ok"
        print(f"{word:6} {name}: {passed} passed, {failed} failed, {skipped} skipped, {seconds:.1f} s", flush=True)
        if failed:
            print(output[-12000:], flush=True)


def registered(build):
    out = subprocess.run(["ctest", "--test-dir", str(build), "--show-only=json-v1"], capture_output=True, text=True,
                         check=True).stdout
    return [(test["name"], test["command"]) for test in json.loads(out)["tests"] if "command" in test]


def run_program(name, command, environment):
    """A GoogleTest program counts its cases; any other program counts as one."""
    start = time.time()
    with tempfile.TemporaryDirectory() as folder:
        report = Path(folder) / "report.json"
        is_gtest = command[0].endswith("_test")
        full = command + ([f"--gtest_output=json:{report}", "--gtest_brief=1"] if is_gtest else [])
        done = subprocess.run(full, capture_output=True, text=True, errors="replace", env=environment, cwd=ROOT)
        output = done.stdout + done.stderr
        seconds = time.time() - start
        if not is_gtest or not report.exists():
            good = done.returncode == 0 and not is_gtest
            return name, int(good), int(not good), 0, seconds, output
        result = json.loads(report.read_text())
        cases = [case for suite in result["testsuites"] for case in suite["testsuite"]]
        skipped = sum(case.get("result") in ("SKIPPED", "SUPPRESSED") for case in cases)
        failed = sum("failures" in case for case in cases)
        if done.returncode != 0 and failed == 0:
            failed = 1
        return name, len(cases) - skipped - failed, failed, skipped, seconds, output


def run_python(path, environment):
    start = time.time()
    with tempfile.TemporaryDirectory() as folder:
        report = Path(folder) / "report.xml"
        done = subprocess.run([sys.executable, "-m", "pytest", "-q", "-x", "--no-header", "-p", "no:cacheprovider",
                               f"--junitxml={report}", str(path)], capture_output=True, text=True, env=environment,
                              cwd=ROOT)
        seconds = time.time() - start
        name = str(path.relative_to(ROOT))
        output = done.stdout + done.stderr
        if not report.exists():
            return name, 0, 1, 0, seconds, output
        suite = ElementTree.parse(report).getroot().find("testsuite")
        total, skipped = int(suite.get("tests")), int(suite.get("skipped"))
        failed = int(suite.get("failures")) + int(suite.get("errors"))
        if done.returncode not in (0, 5) and failed == 0:
            failed = 1
        return name, total - skipped - failed, failed, skipped, seconds, output


def chosen(text, registered_programs):
    """Names of the checks of tools/, registered programs, and Python files, of those that hold `text`."""
    checks = [path for path in sorted((ROOT / "tools").glob("*_check.py")) if text in str(path.relative_to(ROOT))]
    kept = [(name, command) for name, command in registered_programs if text in name or text in Path(command[0]).name]
    files = [path for path in sorted((ROOT / "tests").glob("**/test_*.py")) if text in str(path.relative_to(ROOT))]
    return checks, kept, files


def programs():
    """Names of the test programs and fuzz replays, by their sources: known before anything is built."""
    src = ROOT / "src"
    return (sorted({f"{path.relative_to(src).parts[0]}_test" for path in src.rglob("*_test.cc")} | {"sim_test", "contract_test"})
            + sorted(path.stem for path in src.rglob("*_fuzz.cc")))


def no_test(text):
    return (f"no test has \"{text}\" in its path; there are: {', '.join(programs())}, tests/**/test_*.py and "
            "tools/*_check.py")


def arguments_of_tests(words=None, prog=None, presets=()):
    """`presets`: the first word is one of them, as ./x sanitize has it."""
    parser = argparse.ArgumentParser(prog=prog, description=__doc__, allow_abbrev=False,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    if presets:
        parser.add_argument("preset", choices=presets)
    parser.add_argument("--build", type=Path, default=ROOT / "build/release", help="folder of the programs (default: build/release)")
    parser.add_argument("--quick", action="store_true", help="without what needs servers and other engines")
    parser.add_argument("--programs", action="store_true", help="without what is in Python")
    parser.add_argument("--only", metavar="TEXT", default="", help="only programs and files whose path holds TEXT")
    parser.add_argument("--jobs", type=whole(1), default=os.cpu_count(), help="programs at a time (default: one a core)")
    args = parser.parse_args(words)
    checks, kept, files = chosen(args.only, [(name.removesuffix("_test"), [name]) for name in programs()])
    if not kept and (presets or args.programs or not checks + files):
        parser.error(no_test(args.only))
    return args


def main():
    args = arguments_of_tests()
    build = args.build.resolve()
    environment = dict(os.environ, FIRN_BINARY=str(build / "firn"), AWS_EC2_METADATA_DISABLED="true")
    tally = Tally()
    not_run = []
    checks, kept, files = chosen(args.only, registered(build))
    if args.programs:
        checks, files = [], []
    if not checks + kept + files:
        print(f"run_tests: {no_test(args.only)}", file=sys.stderr)
        return 2

    if args.programs:
        not_run.append("tests in Python (--programs)")
    elif args.only in "tidy":
        tally.add(*run_program("tidy", [sys.executable, "tools/tidy.py"], environment))
    for path in checks:
        tally.add(*run_python(path, environment))
    if not kept + files:
        print(f"{tally.passed} passed, {tally.failed} failed")
        return 1 if tally.failed else 0

    servers = None
    if args.quick:
        not_run.append("tests against catalogs, stores and databases that are servers, and the Kafka broker (--quick)")
    else:
        from tests.services.servers import Servers
        servers = Servers(build / "servers")
        environment.update(servers.start())
        not_run += servers.not_started
    try:
        with ThreadPoolExecutor(args.jobs) as pool:
            for result in pool.map(lambda item: run_program(item[0], item[1], environment), kept):
                tally.add(*result)
        for path in files:
            tally.add(*run_python(path, environment))
    finally:
        if servers:
            servers.stop()

    if tally.skipping:
        print("skipped, because they do not fit the adapter, the user or what is installed: " + ", ".join(tally.skipping))
    print("not run: " + "; ".join(not_run + ["fuzzing (./x fuzz)", "benchmarks (./x bench)", "clang-tidy (./x lint --tidy)"]))
    print(f"{tally.passed} passed, {tally.failed} failed" + (f", {tally.skipped} skipped" if tally.skipped else ""))
    return 1 if tally.failed or tally.passed == 0 else 0


if __name__ == "__main__":
    sys.exit(main())
