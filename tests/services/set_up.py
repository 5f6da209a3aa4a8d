# SPDX-License-Identifier: Apache-2.0
"""Runs what fetches or builds a program: pip, mvn, javac, cargo, go, npm.

What it prints goes nowhere while it succeeds: standard output may be where our own answers are read from. When it fails,
the error has the last of it.
"""

import shlex
import subprocess


def set_up(*command, cwd=None):
    """RuntimeError, with what the program said, when it fails; OSError when there is no such program."""
    words = [str(word) for word in command]
    done = subprocess.run(words, cwd=cwd, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
                          text=True, errors="replace")
    if done.returncode:
        raise RuntimeError(f"{shlex.join(words)} ended with {done.returncode}: {done.stdout.strip()[-3000:]}")
