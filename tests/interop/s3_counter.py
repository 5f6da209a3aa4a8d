# SPDX-License-Identifier: Apache-2.0
"""A proxy before an S3 server that counts requests and delays them, so that those at the same time can be seen."""

import threading
import time
from collections import Counter
from http.client import HTTPConnection
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from urllib.parse import urlsplit


class S3Counter:
    """`requests`: (method, path) -> number; `most_at_once`: of requests that took `delay_seconds`."""

    def __init__(self, endpoint, delay_seconds=0.0):
        self.target = urlsplit(endpoint).netloc
        self.delay_seconds = delay_seconds
        self.requests = Counter()
        self.lock = threading.Lock()
        self.now = self.most_at_once = 0
        counter = self

        class Handler(BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1"

            def answer(self):
                counter.begin(self.command, urlsplit(self.path).path)
                try:
                    counter.forward(self)
                finally:
                    counter.end()

            do_GET = do_HEAD = do_PUT = do_POST = do_DELETE = answer

            def log_message(self, *_):
                pass

        self.server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self.server.daemon_threads = True
        threading.Thread(target=self.server.serve_forever, daemon=True).start()
        self.endpoint = f"http://127.0.0.1:{self.server.server_address[1]}"

    def begin(self, method, path):
        with self.lock:
            self.requests[method, path] += 1
            self.now += 1
            self.most_at_once = max(self.most_at_once, self.now)

    def end(self):
        with self.lock:
            self.now -= 1

    def forward(self, handler):
        time.sleep(self.delay_seconds)
        body = handler.rfile.read(int(handler.headers.get("Content-Length", 0)))
        backend = HTTPConnection(self.target, timeout=60)
        # The signature is about the host as the client named it.
        backend.request(handler.command, handler.path, body or None, dict(handler.headers))
        answer = backend.getresponse()
        content = answer.read()
        handler.send_response_only(answer.status)
        for name, value in answer.getheaders():
            if name.lower() not in ("transfer-encoding", "connection", "content-length"):
                handler.send_header(name, value)
        length = answer.getheader("Content-Length") if handler.command == "HEAD" else len(content)
        handler.send_header("Content-Length", str(length or 0))
        handler.end_headers()
        handler.wfile.write(content)
        backend.close()

    def close(self):
        self.server.shutdown()
        self.server.server_close()
