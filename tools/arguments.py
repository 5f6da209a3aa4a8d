#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""What ./x asks before it installs or builds anything: do these arguments make sense?

    tools/arguments.py COMMAND [ARGUMENT...]

Each parser is the one that the command's own program uses. Exit status: 0 they do; 2 they do not, and why was said; 100
help was asked for and given. Needs nothing but Python: a fresh machine has nothing else.
"""

import argparse
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT))
sys.path.insert(0, str(ROOT / "tools/demo"))

from bench.options import bench_arguments  # noqa: E402
from tools import fuzz, lint, run_tests  # noqa: E402
from tools.demo.options import demo_arguments  # noqa: E402

PRESETS = ("release", "dev", "asan", "tsan", "fuzz")
HELP_WAS_GIVEN = 100


def build_arguments(words):
    parser = argparse.ArgumentParser(prog="./x build", allow_abbrev=False,
                                     description="Builds firn, or the targets that are named, into build/PRESET.")
    parser.add_argument("names", nargs="*", metavar="[PRESET] TARGET",
                        help=f"first one of {', '.join(PRESETS)} (default: release); then firn, act_test, sim_test, ...")
    names = parser.parse_args(words).names
    known = targets()
    for name in names[1:] if names and names[0] in PRESETS else names:
        if name not in known and not any(mark in name for mark in "/."):  # those are files, which CMake's build knows
            parser.error(f"'{name}' is neither a preset nor a target; presets: {', '.join(PRESETS)}; "
                         f"targets: {', '.join(sorted(known))}")


def targets():
    """As cmake/folder.cmake and the lists beside it name them."""
    folders = [path.name for path in (ROOT / "src").iterdir() if path.is_dir()]
    alone = [path.stem for kind in ("fuzz", "bench") for path in (ROOT / "src").rglob(f"*_{kind}.cc")]
    return {"all", "clean", "firn", "planning_table", "serve_fleet", *alone, *run_tests.programs(),
            *(f"firn_{name}" for name in folders)}


def no_arguments(command, description):
    def look(words):
        argparse.ArgumentParser(prog=f"./x {command}", description=description).parse_args(words)
    return look


COMMANDS = {
    "build": build_arguments,
    "test": lambda words: run_tests.arguments_of_tests(words, "./x test"),
    "ci": lambda words: run_tests.arguments_of_tests(words, "./x ci"),
    "sanitize": lambda words: run_tests.arguments_of_tests(words, "./x sanitize", ("asan", "tsan")),
    "lint": lambda words: lint.lint_arguments(words, "./x lint"),
    "fuzz": lambda words: fuzz.fuzz_arguments(words, "./x fuzz"),
    "demo": lambda words: demo_arguments(words, "./x demo"),
    "bench": lambda words: bench_arguments(words, "./x bench"),
    "clean": no_arguments("clean", "Removes build/."),
}


def main():
    try:
        COMMANDS[sys.argv[1]](sys.argv[2:])
    except SystemExit as end:
        return HELP_WAS_GIVEN if not end.code else end.code
    return 0


if __name__ == "__main__":
    sys.exit(main())
