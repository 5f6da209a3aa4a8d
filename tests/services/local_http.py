# SPDX-License-Identifier: Apache-2.0
"""HTTP servers in a thread, and proxies, for tests: a subclass says in handle() what happens to a request.

    class Store(LocalServer):
        def handle(self, handler): self.reply(handler, 200, [], b"")

    with Store() as store: ... store.url ...

HttpProxy passes on what its subclass gives to forward().
"""

import http.client
import json
import ssl
import threading
import urllib.parse
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

# Of one connection, not of the message.
HOP_HEADERS = {"transfer-encoding", "connection", "content-length", "keep-alive"}


class LocalServer:
    def __init__(self, tls=None):
        """tls: files of the certificate and of its key."""
        self.lock = threading.Lock()
        owner = self

        class Handler(BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1"
            disable_nagle_algorithm = True

            def handle_any(self):
                owner.handle(self)

            do_GET = do_POST = do_HEAD = do_DELETE = do_PUT = handle_any

            def handle(self):
                try:
                    super().handle()
                except ConnectionError:
                    pass  # the other side has gone

            def log_message(self, *_):
                pass

        class Server(ThreadingHTTPServer):
            daemon_threads = True
            request_queue_size = 128

        self.server = Server(("127.0.0.1", 0), Handler)
        if tls:
            context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
            context.load_cert_chain(*tls)
            self.server.socket = context.wrap_socket(self.server.socket, server_side=True)
        self.url = f"http{'s' if tls else ''}://127.0.0.1:{self.server.server_port}"

    def __enter__(self):
        threading.Thread(target=self.server.serve_forever, daemon=True).start()
        return self

    def __exit__(self, *_):
        self.server.shutdown()
        self.server.server_close()

    def handle(self, handler):
        raise NotImplementedError

    @staticmethod
    def body_of(handler):
        if handler.headers.get("Transfer-Encoding", "").lower() != "chunked":
            return handler.rfile.read(int(handler.headers.get("Content-Length") or 0))
        body = b""
        while size := int(handler.rfile.readline().split(b";")[0], 16):
            body += handler.rfile.read(size)
            handler.rfile.readline()
        while handler.rfile.readline().strip():
            pass
        return body

    @staticmethod
    def reply(handler, status, headers, payload):
        """To HEAD the length of `headers` is told, if there is one."""
        length = str(len(payload))
        handler.send_response_only(status)
        for name, value in headers:
            if name.lower() not in HOP_HEADERS:
                handler.send_header(name, value)
            elif name.lower() == "content-length" and handler.command == "HEAD":
                length = value
        handler.send_header("Content-Length", length)
        handler.end_headers()
        if handler.command != "HEAD":
            handler.wfile.write(payload)

    def reply_json(self, handler, status, value):
        self.reply(handler, status, [("Content-Type", "application/json")], json.dumps(value).encode())

    @staticmethod
    def hang_up(handler):
        handler.close_connection = True
        handler.connection.close()


class HttpProxy(LocalServer):
    # Of the client's headers these stay behind. S3 signs the host as the client names it: that proxy keeps it.
    withheld = {"host", "connection", "accept-encoding", "expect"}

    def __init__(self, upstream):
        super().__init__()
        self.upstream = urllib.parse.urlsplit(upstream)

    def forward(self, method, path, headers, body):
        """(status, headers, body) of the upstream's answer."""
        connection = http.client.HTTPConnection(self.upstream.hostname, self.upstream.port, timeout=60)
        kept = {name: value for name, value in headers.items()
                if name.lower() not in self.withheld and name.lower() not in HOP_HEADERS}
        has_host = any(name.lower() == "host" for name in kept)
        connection.putrequest(method, path, skip_host=has_host, skip_accept_encoding=True)
        for name, value in kept.items():
            connection.putheader(name, value)
        connection.putheader("Content-Length", str(len(body or b"")))
        connection.endheaders(body or None)
        answer = connection.getresponse()
        payload = answer.read()
        connection.close()
        return answer.status, answer.getheaders(), payload
