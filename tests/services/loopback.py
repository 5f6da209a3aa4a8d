# SPDX-License-Identifier: Apache-2.0
"""What every server that is started on loopback needs: where its programs lie, a free port, and to be waited for."""

import os
import socket
import time
import urllib.error
import urllib.request
from pathlib import Path

CACHE = Path(os.environ.get("FIRN_CACHE", Path(os.environ.get("XDG_CACHE_HOME", Path.home() / ".cache")) / "firn"))


def free_port():
    with socket.socket() as s:
        s.bind(("127.0.0.1", 0))
        return s.getsockname()[1]


def wait_until(is_there, process, seconds):
    """Whether is_there() stops raising OSError in time, and before the process ends."""
    deadline = time.time() + seconds
    while time.time() < deadline and process.poll() is None:
        try:
            is_there()
            return True
        except OSError:
            time.sleep(0.2)
    return False


def wait_for_url(url, process, seconds=60):
    def ask():
        try:
            urllib.request.urlopen(url, timeout=2).close()
        except urllib.error.HTTPError:
            pass  # it answers
    return wait_until(ask, process, seconds)


def wait_for_port(port, process, seconds=60):
    return wait_until(lambda: socket.create_connection(("127.0.0.1", port), timeout=1).close(), process, seconds)
