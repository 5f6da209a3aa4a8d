# SPDX-License-Identifier: Apache-2.0
"""firn serve as a process, and what its API says."""

import json
import re
import signal
import subprocess
import time
import urllib.error
import urllib.request
from urllib.parse import quote

from tests.program import BINARY


class Service:
    """`start()` and `kill()` as often as wanted: the state stays."""

    def __init__(self, folder, environment, *arguments):
        self.folder, self.environment, self.arguments = folder, environment, arguments
        self.process = self.address = None

    def start(self):
        self.log = open(self.folder / "serve.log", "ab")
        self.process = subprocess.Popen([BINARY, "serve", "--listen", "127.0.0.1:0", "--state", str(self.folder / "state.db"),
                                         *self.arguments], stdout=subprocess.PIPE, stderr=self.log, text=True,
                                        env=self.environment)
        line = self.process.stdout.readline()
        found = re.search(r"http://\S+/", line)
        assert found, f"no address: {line!r} {(self.folder / 'serve.log').read_text()[-2000:]}"
        self.address = found.group(0).rstrip("/")
        return self

    def kill(self):
        self.process.kill()
        self.process.wait()

    def stop(self):
        if self.process.poll() is None:
            self.process.send_signal(signal.SIGTERM)
        assert self.process.wait(timeout=60) == 0, (self.folder / "serve.log").read_text()[-2000:]

    def __enter__(self):
        return self.start()

    def __exit__(self, *_):
        if self.process.poll() is None:
            self.process.kill()
            self.process.wait()

    def call(self, path, body=None, headers=()):
        data = None if body is None else json.dumps(body).encode()
        request = urllib.request.Request(self.address + path, data, {"Content-Type": "application/json", **dict(headers)})
        try:
            with urllib.request.urlopen(request, timeout=30) as answer:
                text = answer.read().decode()
                return answer.status, json.loads(text) if text and text[0] in "{[" else text
        except urllib.error.HTTPError as error:
            return error.code, error.read().decode()

    def get(self, path):
        status, answer = self.call("/api/v1" + path)
        assert status == 200, answer
        return answer

    def table(self, name):
        return self.get("/tables/" + quote(name, safe=""))

    def wait(self, condition, seconds=60):
        deadline = time.time() + seconds
        while time.time() < deadline:
            value = condition()
            if value:
                return value
            assert self.process.poll() is None, (self.folder / "serve.log").read_text()[-2000:]
            time.sleep(0.2)
        state = {path: self.get(path) for path in ("/queue", "/jobs?limit=5", "/tables", "/decisions?limit=10")}
        raise AssertionError(f"not within {seconds} s: {json.dumps(state, indent=1)[:6000]} "
                             f"{(self.folder / 'serve.log').read_text()[-1000:]}")
