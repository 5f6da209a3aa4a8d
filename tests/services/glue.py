# SPDX-License-Identifier: Apache-2.0
"""AWS Glue as moto emulates it, behind a door that does what moto leaves out.

    with Glue(folder) as glue: ... glue.url, glue.keys ...       RuntimeError: moto is not installed

The door checks every signature with botocore, and it refuses an UpdateTable whose VersionId is not the table's with
ConcurrentModificationException, as Glue does: moto takes them all. One update at a time passes.

faults: what happens to the next UpdateTables: "pass", "drop_before", "drop_after" (connection closed before or after
it was done), "after:500", "before:500", "late:S" (closed at once, done S seconds later).
"""

import importlib.util
import json
import subprocess
import sys
import threading
import time
from pathlib import Path

from .loopback import free_port, wait_for_url
from .signature_proxy import SignatureProxy

REGION = "eu-west-1"
ACCESS_KEY, SECRET_KEY = "AKIDEXAMPLE", "wJalrXUtnFEMI/K7MDENG+bPxRfiCYEXAMPLEKEY"


class Glue(SignatureProxy):
    def __init__(self, folder, faults=()):
        if not importlib.util.find_spec("moto") or not importlib.util.find_spec("flask_cors"):
            raise RuntimeError("moto and flask-cors are not installed")
        self.folder = Path(folder)
        self.folder.mkdir(parents=True, exist_ok=True)
        port = free_port()
        with open(self.folder / "moto.log", "wb") as log:
            self.process = subprocess.Popen([sys.executable, "-m", "moto.server", "-H", "127.0.0.1", "-p", str(port)],
                                            stdout=log, stderr=log, stdin=subprocess.DEVNULL)
        upstream = f"http://127.0.0.1:{port}"
        if not wait_for_url(f"{upstream}/moto-api/data.json", self.process):
            self.process.kill()
            raise RuntimeError("moto does not start")
        super().__init__(upstream, {ACCESS_KEY: (SECRET_KEY, None)}, REGION, "glue")
        self.faults = list(faults)
        self.updates = []  # (fault, status)
        self.updating = threading.Lock()
        self.late = []

    def __exit__(self, *arguments):
        for thread in self.late:
            thread.join()
        super().__exit__(*arguments)
        self.process.terminate()
        self.process.wait()

    def start(self):
        self.__enter__()

    def stop(self):
        self.__exit__()

    def answer(self, method, path, headers, body):
        target = next((v for k, v in headers.items() if k.lower() == "x-amz-target"), "")
        if target != "AWSGlue.UpdateTable":
            return self.forward(method, path, headers, body)
        fault = self.faults.pop(0) if self.faults else "pass"
        kind, _, argument = fault.partition(":")
        status = None
        if kind == "late":
            thread = threading.Thread(target=self.update_late, args=(float(argument), method, path, headers, body))
            self.late.append(thread)
            thread.start()
        elif kind not in ("drop_before", "before"):
            status, answer_headers, payload = self.update(method, path, headers, body)
        self.updates.append((fault, status))
        if kind in ("drop_before", "drop_after", "late"):
            raise ConnectionAbortedError
        if kind in ("before", "after"):
            return self.refusal(int(argument), "InternalServiceException", "injected")
        return status, answer_headers, payload

    def update_late(self, seconds, *call):
        time.sleep(seconds)
        self.updates.append(("done late", self.update(*call)[0]))

    def update(self, method, path, headers, body):
        wanted = json.loads(body)
        with self.updating:
            question = json.dumps({"DatabaseName": wanted["DatabaseName"], "Name": wanted["TableInput"]["Name"]}).encode()
            asking = {k: "AWSGlue.GetTable" if k.lower() == "x-amz-target" else v for k, v in headers.items()}
            status, _, payload = self.forward(method, path, asking, question)
            if status == 200 and "VersionId" in wanted:
                current = json.loads(payload)["Table"]["VersionId"]
                if current != wanted["VersionId"]:
                    return self.refusal(400, "ConcurrentModificationException",
                                        f"version {wanted['VersionId']} is not {current}")
            return self.forward(method, path, headers, body)

    @staticmethod
    def refusal(status, kind, text):
        return (status, [("Content-Type", "application/x-amz-json-1.1")],
                json.dumps({"__type": kind, "Message": text}).encode())
