# SPDX-License-Identifier: Apache-2.0
"""An HTTP proxy in front of a REST catalog that spoils commits in chosen ways.

    with FaultProxy(upstream, ["drop_after", "pass"]) as proxy: ... proxy.url ...

Each commit (POST of a table, not of a scan or of metrics) takes the next fault of the list; after the list all pass.

drop_before       connection closed, nothing forwarded         drop_after     forwarded, then closed
before:STATUS     this answer, nothing forwarded               after:STATUS   forwarded, then this answer
garble            forwarded, half of the answer is returned    late:SECONDS   closed at once, forwarded later
twice             forwarded twice, the second answer returned
"""

import http.client
import re
import threading
import time
import urllib.parse
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

COMMIT = re.compile(r"/namespaces/[^/]+/tables/[^/]+$")
SKIPPED_HEADERS = {"transfer-encoding", "connection", "content-length", "keep-alive"}


class FaultProxy:
    def __init__(self, upstream, faults):
        self.upstream = urllib.parse.urlsplit(upstream)
        self.faults = list(faults)
        self.commits = []  # (fault, status of the catalog or None)
        self.lock = threading.Lock()
        self.late = []
        proxy = self

        class Handler(BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1"

            def handle_any(self):
                proxy.handle(self)

            do_GET = do_POST = do_HEAD = do_DELETE = do_PUT = handle_any

            def log_message(self, *_):
                pass

        self.server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self.server.daemon_threads = True
        self.url = f"http://127.0.0.1:{self.server.server_port}"

    def __enter__(self):
        threading.Thread(target=self.server.serve_forever, daemon=True).start()
        return self

    def __exit__(self, *_):
        for thread in self.late:
            thread.join()
        self.server.shutdown()
        self.server.server_close()

    def forward(self, method, path, headers, body):
        connection = http.client.HTTPConnection(self.upstream.hostname, self.upstream.port, timeout=60)
        kept = {k: v for k, v in headers.items() if k.lower() not in {"host", "connection", "accept-encoding"}}
        connection.request(method, path, body, kept)
        answer = connection.getresponse()
        payload = answer.read()
        connection.close()
        return answer.status, answer.getheaders(), payload

    def next_fault(self, handler):
        if handler.command != "POST" or not COMMIT.search(handler.path.split("?")[0]):
            return None
        with self.lock:
            return self.faults.pop(0) if self.faults else "pass"

    def handle(self, handler):
        body = handler.rfile.read(int(handler.headers.get("Content-Length") or 0))
        fault = self.next_fault(handler)
        call = (handler.command, handler.path, dict(handler.headers), body)
        kind, _, argument = (fault or "pass").partition(":")
        status = None
        if kind == "late":
            thread = threading.Thread(target=self.forward_late, args=(float(argument), call))
            self.late.append(thread)
            thread.start()
        elif kind not in ("drop_before", "before"):
            if kind == "twice":
                self.forward(*call)
            status, headers, payload = self.forward(*call)
        if fault:
            with self.lock:
                self.commits.append((fault, status))
        if kind in ("drop_before", "drop_after", "late"):
            handler.close_connection = True
            handler.connection.close()
        elif kind in ("before", "after"):
            text = b'{"error":{"message":"injected","type":"Injected","code":%d}}' % int(argument)
            self.reply(handler, int(argument), [("Content-Type", "application/json")], text)
        elif kind == "garble":
            self.reply(handler, 200, headers, payload[:len(payload) // 2])
        else:
            self.reply(handler, status, headers, payload)

    def forward_late(self, seconds, call):
        time.sleep(seconds)
        status, _, _ = self.forward(*call)
        with self.lock:
            self.commits.append(("forwarded late", status))

    def reply(self, handler, status, headers, payload):
        handler.send_response(status)
        for name, value in headers:
            if name.lower() not in SKIPPED_HEADERS:
                handler.send_header(name, value)
        handler.send_header("Content-Length", str(len(payload)))
        handler.end_headers()
        if handler.command != "HEAD":
            handler.wfile.write(payload)
