#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""tidy, clang-format and, if asked, clang-tidy."""

import argparse
import shutil
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent


def sources():
    out = subprocess.run(["git", "ls-files", "*.cc", "*.h"], cwd=ROOT, capture_output=True, text=True,
                         check=True).stdout
    return [p for p in out.splitlines() if (ROOT / p).is_file()]


def lint_arguments(words=None, prog=None):
    parser = argparse.ArgumentParser(prog=prog, description=__doc__, allow_abbrev=False)
    parser.add_argument("--fix", action="store_true", help="format in place")
    parser.add_argument("--tidy", action="store_true", help="clang-tidy too (slow; needs build/release)")
    return parser.parse_args(words)


def main():
    args = lint_arguments()
    failed = subprocess.run([sys.executable, "tools/tidy.py"], cwd=ROOT).returncode != 0
    formatter = shutil.which("clang-format-19")
    if formatter:
        mode = ["-i"] if args.fix else ["--dry-run", "-Werror"]
        failed |= subprocess.run([formatter, *mode, *sources()], cwd=ROOT).returncode != 0
    else:
        print("lint: clang-format-19 is missing: apt-get install clang-format-19", file=sys.stderr)
        failed = True
    if args.tidy:
        files = [p for p in sources() if p.startswith("src/") and p.endswith(".cc")]
        # The commands of the build have warnings that only GCC knows.
        command = ["clang-tidy-19", "-p", "build/release", "--quiet", "--extra-arg=-Wno-unknown-warning-option"]
        failed |= subprocess.run([*command, *files], cwd=ROOT).returncode != 0
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
