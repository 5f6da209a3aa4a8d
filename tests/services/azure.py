# SPDX-License-Identifier: Apache-2.0
"""Azure Blob Storage as Azurite emulates it, on loopback, with an account of our own and its key checked.

    with Azure(folder) as azure: ... azure.authority, azure.url ...          RuntimeError: Azurite is not installed

It has no hierarchical namespace: directories are names.
"""

import base64
import datetime
import hashlib
import hmac
import os
import shutil
import subprocess
import urllib.parse
import urllib.request
from pathlib import Path

from .loopback import CACHE, free_port, wait_for_url

ACCOUNT, CONTAINER = "firnlake", "lake"
KEY = base64.b64encode(hashlib.sha512(b"an account key of a test").digest()).decode()
VERSION = "2021-12-02"


def program():
    script = CACHE / "azurite/node_modules/azurite/dist/src/blob/main.js"
    node = shutil.which("node")
    if not node or not script.exists():
        raise RuntimeError("azurite is not installed")
    return [node, str(script)]


def account_sas(permissions="rwdlc", seconds=24 * 3600):
    """A shared access signature for the whole account, without the question mark."""
    end = (datetime.datetime.now(datetime.timezone.utc) + datetime.timedelta(seconds=seconds)).strftime("%Y-%m-%dT%H:%M:%SZ")
    signed = "\n".join([ACCOUNT, permissions, "b", "sco", "", end, "", "https,http", VERSION, "", ""])
    signature = base64.b64encode(hmac.new(base64.b64decode(KEY), signed.encode(), hashlib.sha256).digest()).decode()
    return urllib.parse.urlencode({"sv": VERSION, "ss": "b", "srt": "sco", "sp": permissions, "se": end,
                                   "spr": "https,http", "sig": signature})


class Azure:
    def __init__(self, folder):
        command = program()
        self.folder = Path(folder)
        self.folder.mkdir(parents=True, exist_ok=True)
        port = free_port()
        self.authority = f"127.0.0.1:{port}"
        self.url = f"http://{self.authority}/{ACCOUNT}"
        self.connection_string = f"DefaultEndpointsProtocol=http;AccountName={ACCOUNT};AccountKey={KEY};BlobEndpoint={self.url};"
        with open(self.folder / "azurite.log", "wb") as log:
            self.process = subprocess.Popen(
                [*command, "--blobHost", "127.0.0.1", "--blobPort", str(port), "--location", str(self.folder / "data"),
                 "--skipApiVersionCheck", "--disableTelemetry"],
                stdout=log, stderr=log, stdin=subprocess.DEVNULL, env=dict(os.environ, AZURITE_ACCOUNTS=f"{ACCOUNT}:{KEY}"))
        if not wait_for_url(self.url, self.process):
            self.stop()
            raise RuntimeError("azurite does not start")
        urllib.request.urlopen(urllib.request.Request(
            f"{self.url}/{CONTAINER}?restype=container&{account_sas()}", method="PUT", headers={"x-ms-version": VERSION},
            data=b"")).close()

    def stop(self):
        self.process.terminate()
        try:
            self.process.wait(10)
        except subprocess.TimeoutExpired:
            self.process.kill()
            self.process.wait()

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.stop()
