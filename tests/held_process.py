# SPDX-License-Identifier: Apache-2.0
"""A process of the tests that is held still, so that others can change the world meanwhile."""

import signal
import time
from pathlib import Path


def hold(process, seconds=60):
    """Stops a `Popen` and returns when it stands still, or has ended.

    A signal is only on its way when `kill` returns: one thread hears of it and tells the others, and until then they
    go on; on a busy machine that is long enough to read what the test writes next.
    """
    process.send_signal(signal.SIGSTOP)
    until = time.monotonic() + seconds
    while process.poll() is None and not all(state in "TtZX" for state in thread_states(process.pid)):
        assert time.monotonic() < until, f"process {process.pid} did not stop: {thread_states(process.pid)}"
        time.sleep(0.0005)


def let_go(process):
    process.send_signal(signal.SIGCONT)


def thread_states(pid):
    states = []
    for stat in Path(f"/proc/{pid}/task").glob("*/stat"):
        try:
            states.append(stat.read_text().rpartition(") ")[2][0])
        except (FileNotFoundError, ProcessLookupError):  # the thread has ended meanwhile
            continue
    return states
