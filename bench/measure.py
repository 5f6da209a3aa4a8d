# SPDX-License-Identifier: Apache-2.0
"""Time and memory of a process tree."""

import resource
import shlex
import subprocess
import sys
import time


def timed(command):
    """Wall, CPU and output of one process tree."""
    start, before = time.time(), resource.getrusage(resource.RUSAGE_CHILDREN)
    done = subprocess.run(["/usr/bin/env", "bash", "-c", f"exec {shlex.join(command)}"], capture_output=True, text=True)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    if done.returncode:
        raise RuntimeError(f"{command[:3]} failed: {done.stderr[-2000:]}")
    return {"wall": time.time() - start, "cpu": after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime,
            "output": done.stdout}


def peak_mb(command):
    """Peak resident memory of one more run (getrusage of all children only keeps the largest)."""
    script = ("import resource, subprocess, sys; subprocess.run(sys.argv[1:], check=True, stdout=subprocess.DEVNULL); "
              "print(resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss)")
    out = subprocess.run([sys.executable, "-c", script, *command], capture_output=True, text=True, check=True).stdout
    return int(out.split()[-1]) / 1024
