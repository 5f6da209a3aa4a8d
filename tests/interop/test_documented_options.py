# SPDX-License-Identifier: Apache-2.0
"""Every option of every `--help` is in docs/cli.md, in the part about its command or in one about several."""

import re
import subprocess
from pathlib import Path

from tests.program import BINARY

PARTS = re.split(r"^## ", (Path(__file__).resolve().parents[2] / "docs/cli.md").read_text(), flags=re.MULTILINE)


def help_of(*command):
    return subprocess.run([BINARY, *command, "--help"], capture_output=True, text=True, timeout=60, check=True).stdout


def commands():
    return re.findall(r"^  ([a-z-]+) {2,}[A-Z]", help_of().split("Subcommands:")[1].split("Exit codes:")[0], re.MULTILINE)


def options(text):
    return [name for names in re.findall(r"^  (-\S+)", text, re.MULTILINE) for name in names.split(",")]


def about(command):
    """The parts whose title names the command, and those whose title names no command's part of its own."""
    return "\n".join(part for part in PARTS if f"`firn {command}`" in (title := part.split("\n")[0]) or "`firn " not in title)


def test_every_option_is_described():
    assert len(commands()) >= 12
    missing = [f"firn {command} {option}" for command in commands() for option in options(help_of(command))
               if not re.search(rf"(?<![\w-]){option}(?![\w-])", about(command))]
    missing += [f"firn {option}" for option in options(help_of()) if not re.search(rf"(?<![\w-]){option}(?![\w-])", PARTS[0])]
    assert missing == []
