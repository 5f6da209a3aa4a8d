# SPDX-License-Identifier: Apache-2.0
"""The firn that is tested: FIRN_BINARY, or build/release/firn of this repository where that is not set."""

import os
import subprocess
from pathlib import Path

BUILT = Path(__file__).resolve().parent.parent / "build/release/firn"
BINARY = os.environ.get("FIRN_BINARY") or str(BUILT)


def why_not():
    """Why it cannot be run, for people; empty when it can. What runs it a thousand times asks first."""
    name = f"FIRN_BINARY={BINARY}" if os.environ.get("FIRN_BINARY") else f"FIRN_BINARY is not set, and {BINARY}"
    try:
        done = subprocess.run([BINARY, "--version"], stdin=subprocess.DEVNULL, capture_output=True, text=True, errors="replace",
                              timeout=60)
    except OSError as error:
        return f"{name}: {error.strerror}; ./x build makes build/release/firn"
    return "" if done.returncode == 0 else f"{name} ends with {done.returncode}: {done.stderr.strip()[-500:]}"
