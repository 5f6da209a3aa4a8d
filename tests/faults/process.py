# SPDX-License-Identifier: Apache-2.0
"""firn as a process whose largest resident memory is known when it ends."""

import os
import subprocess
import sys
import time
from dataclasses import dataclass

from tests.interop.conftest import BINARY

# A process has at least the peak of the one that started it: so a small one stands between.
LAUNCHER = """
import os, sys
pid = os.fork()
if pid == 0:
    os.execv(sys.argv[2], sys.argv[2:])
note = os.open(sys.argv[1], os.O_WRONLY | os.O_CREAT, 0o600)
os.write(note, f"{pid}\\n".encode())
_, status, usage = os.wait4(pid, 0)
os.write(note, f"{os.waitstatus_to_exitcode(status)} {usage.ru_maxrss}\\n".encode())
"""


@dataclass
class Ended:
    exit: int
    peak: int  # bytes
    out: str
    err: str
    seconds: float


class Firn:
    def __init__(self, folder, words, environment):
        self.note = folder / "note"
        self.note.unlink(missing_ok=True)
        self.words = [str(word) for word in words]
        self.outputs = [open(folder / name, "w+b") for name in ("out", "err")]
        self.launcher = subprocess.Popen([sys.executable, "-S", "-E", "-c", LAUNCHER, str(self.note), BINARY, *self.words],
                                         stdin=subprocess.DEVNULL, stdout=self.outputs[0], stderr=self.outputs[1],
                                         env=environment)
        while not (lines := self.noted()):
            assert self.launcher.poll() is None, "the launcher has ended"
            time.sleep(0.001)
        self.pid = int(lines[0])
        self.began = time.monotonic()

    def noted(self):
        text = self.note.read_text() if self.note.exists() else ""
        return text.split("\n")[:-1]

    def has_ended(self):
        return self.launcher.poll() is not None

    def signal(self, number):
        """Only while the launcher has not ended is the number certainly that of firn."""
        if len(self.noted()) == 1:
            try:
                os.kill(self.pid, number)
            except ProcessLookupError:
                pass

    def sleep_until(self, moment):
        """Seconds since the start, or until the end."""
        while (left := self.began + moment - time.monotonic()) > 0 and not self.has_ended():
            time.sleep(min(left, 0.002))

    def wait(self, seconds=150):
        try:
            self.launcher.wait(seconds)
        except subprocess.TimeoutExpired:
            self.signal(6)
            self.launcher.wait()
            raise AssertionError(f"firn {' '.join(self.words)} has not ended after {seconds} s") from None
        seconds = time.monotonic() - self.began
        code, peak = self.noted()[1].split()
        texts = []
        for output in self.outputs:
            output.seek(0)
            texts.append(output.read().decode(errors="replace"))
            output.close()
        return Ended(int(code), int(peak) * 1024, *texts, seconds)
