# SPDX-License-Identifier: Apache-2.0
"""An HTTP proxy in front of an S3 server that counts requests, and can be a store that knows no conditions.

    with S3Proxy(endpoint, access_key, secret_key, strips_conditions=True) as proxy: ... proxy.url, proxy.requests ...

The header If-None-Match is part of the signature, so a request that loses it is signed anew.
"""

import datetime
import hashlib
import hmac
import http.client
import threading
import urllib.parse
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer


def signed(method, path, host, body, access_key, secret_key, region="us-east-1"):
    """Headers of a request to S3 without a query, by AWS Signature Version 4."""
    now = datetime.datetime.now(datetime.timezone.utc).strftime("%Y%m%dT%H%M%SZ")
    digest = hashlib.sha256(body).hexdigest()
    headers = {"host": host, "x-amz-content-sha256": digest, "x-amz-date": now}
    names = ";".join(sorted(headers))
    canonical = "\n".join([method, path, "", *(f"{name}:{headers[name]}" for name in sorted(headers)), "", names, digest])
    scope = f"{now[:8]}/{region}/s3/aws4_request"
    key = f"AWS4{secret_key}".encode()
    for part in (now[:8], region, "s3", "aws4_request",
                 f"AWS4-HMAC-SHA256\n{now}\n{scope}\n{hashlib.sha256(canonical.encode()).hexdigest()}"):
        key = hmac.new(key, part.encode(), hashlib.sha256).digest()
    return {**headers, "Authorization": f"AWS4-HMAC-SHA256 Credential={access_key}/{scope}, SignedHeaders={names}, "
                                        f"Signature={key.hex()}"}


class S3Proxy:
    def __init__(self, upstream, access_key, secret_key, strips_conditions=False):
        self.upstream = urllib.parse.urlsplit(upstream)
        self.keys = (access_key, secret_key)
        self.strips_conditions = strips_conditions
        self.requests = []  # (method, path with query)
        self.lock = threading.Lock()
        self.connections = threading.local()
        proxy = self

        class Handler(BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1"
            disable_nagle_algorithm = True

            def handle_any(self):
                proxy.handle(self)

            do_GET = do_POST = do_HEAD = do_DELETE = do_PUT = handle_any

            def log_message(self, *_):
                pass

        class Server(ThreadingHTTPServer):
            daemon_threads = True
            request_queue_size = 128

        self.server = Server(("127.0.0.1", 0), Handler)
        self.url = f"http://127.0.0.1:{self.server.server_port}"

    def __enter__(self):
        threading.Thread(target=self.server.serve_forever, daemon=True).start()
        return self

    def __exit__(self, *_):
        self.server.shutdown()
        self.server.server_close()

    def count(self, method):
        return sum(1 for name, _ in self.requests if name == method)

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

    def handle(self, handler):
        body = self.body_of(handler)
        with self.lock:
            self.requests.append((handler.command, handler.path))
        headers = {name: value for name, value in handler.headers.items() 
                   if name.lower() not in {"connection", "expect", "transfer-encoding"}}
        if self.strips_conditions and handler.headers.get("If-None-Match"):
            headers = signed(handler.command, handler.path, handler.headers["Host"], body, *self.keys)
        connection = http.client.HTTPConnection(self.upstream.hostname, self.upstream.port, timeout=60)
        connection.putrequest(handler.command, handler.path, skip_host=True, skip_accept_encoding=True)
        for name, value in headers.items():
            if name.lower() != "content-length":
                connection.putheader(name, value)
        connection.putheader("Content-Length", str(len(body)))
        connection.endheaders(body)
        answer = connection.getresponse()
        payload = answer.read()
        connection.close()
        handler.send_response_only(answer.status)
        length = answer.getheader("Content-Length") if handler.command == "HEAD" else str(len(payload))
        for name, value in answer.getheaders():
            if name.lower() not in {"transfer-encoding", "connection", "content-length", "keep-alive"}:
                handler.send_header(name, value)
        handler.send_header("Content-Length", length or "0")
        handler.end_headers()
        if handler.command != "HEAD":
            handler.wfile.write(payload)
