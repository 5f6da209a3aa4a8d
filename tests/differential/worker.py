# SPDX-License-Identifier: Apache-2.0
"""Cases run in a process of their own: a reader that crashes or hangs is a wrong result, not the end of the run.

`python -m tests.differential.worker` takes a JSON request a line ({"case", "seed", "folder", "go", "spark", "efforts"}) and answers
with {"tiers", "text"} or {"wrong"}.
"""

import json
import os
import select
import signal
import subprocess
import sys
import traceback
from pathlib import Path

from . import steps

ROOT = Path(__file__).resolve().parent.parent.parent
SECONDS = 300  # of a case


class Worker:
    """A process that is started anew when it has died. One thread."""

    def __init__(self):
        self.process = None

    def run(self, request):
        if self.process is None:
            paths = [str(ROOT), *filter(None, [os.environ.get("PYTHONPATH")])]
            self.process = subprocess.Popen([sys.executable, "-m", "tests.differential.worker"], stdin=subprocess.PIPE,
                                            stdout=subprocess.PIPE, text=True,
                                            env=dict(os.environ, PYTHONPATH=":".join(paths)))
        self.process.stdin.write(json.dumps(request) + "\n")
        self.process.stdin.flush()
        answers = select.select([self.process.stdout], [], [], SECONDS)[0]
        line = self.process.stdout.readline() if answers else ""
        if line:
            return json.loads(line)
        code = self.stop()
        step = steps.last(request["folder"])
        return {"wrong": f"the process ended with {code} while {step}" if answers else f"{SECONDS} seconds of {step}"}

    def stop(self):
        """The exit code; a process that does not end by itself is killed."""
        if self.process is None:
            return None
        process, self.process = self.process, None
        process.stdin.close()
        try:
            return process.wait(10)
        except subprocess.TimeoutExpired:
            process.kill()
            return process.wait()


def crash(_seed, folder, _programs, _efforts):
    """What a reader's segmentation fault looks like: to see that it is reported."""
    steps.begin(folder, "a case that crashes")
    os.kill(os.getpid(), signal.SIGSEGV)


def talk(_seed, _folder, _programs, _efforts):
    """What a set-up in the middle of a case looks like: to see that it is not taken for an answer."""
    subprocess.run(["echo", "[INFO] Downloading"], check=True)
    print("half done", flush=True)
    return {}, "said"


def main():
    from . import cases, table_cases, tables
    # Whatever else is printed, by a library or by a program that is started here, is no answer.
    answers, programs = os.fdopen(os.dup(1), "w"), None
    os.dup2(2, 1)
    for line in sys.stdin:
        request = json.loads(line)
        case = {"splice": cases.splice_case, "table": table_cases.table_case, "crash": crash, "talk": talk}[request["case"]]
        programs = programs or tables.Programs(request["go"], request.get("spark"))
        programs.unread.clear()
        try:
            tiers, text = case(request["seed"], Path(request["folder"]), programs, request["efforts"])
            answer = {"tiers": tiers, "text": text, "unread": dict(programs.unread)}
        except cases.Wrong as wrong:
            answer = {"wrong": str(wrong)}
        except Exception:  # of a writer or of this program: reported with the seed all the same
            answer = {"wrong": f"{steps.last(request['folder'])}: {traceback.format_exc(limit=-3)[-1500:]}"}
        answers.write(json.dumps(answer) + "\n")
        answers.flush()


if __name__ == "__main__":
    main()
