# SPDX-License-Identifier: Apache-2.0
"""An HTTP proxy that lets only requests through whose AWS Signature Version 4 botocore computes as well.

    with SignatureProxy(upstream, keys, region="eu-west-1", service="execute-api") as proxy: ... proxy.url ...

keys: {access key id: (secret, session token or None)}. Others get 403. proxy.refused lists why, proxy.passed counts.
A subclass may answer instead of the upstream: see answer().
"""

import datetime
import hashlib
import http.client
import threading
import urllib.parse
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from unittest import mock

from botocore import auth, awsrequest, credentials

SKIPPED_HEADERS = {"transfer-encoding", "connection", "content-length", "keep-alive"}
LOCK = threading.Lock()


def expected(method, url, headers, body, keys, region, service, date):
    """The Authorization that botocore gives to exactly these headers at that time."""
    request = awsrequest.AWSRequest(method=method, url=url, headers=headers, data=body)
    signer = auth.SigV4Auth(credentials.Credentials(*keys), service, region)
    moment = datetime.datetime.strptime(date, "%Y%m%dT%H%M%SZ")
    with LOCK, mock.patch.object(auth, "get_current_datetime", lambda *_, **__: moment):
        signer.add_auth(request)
    return request.headers["Authorization"]


class SignatureProxy:
    def __init__(self, upstream, keys, region, service):
        self.upstream = urllib.parse.urlsplit(upstream)
        self.keys, self.region, self.service = keys, region, service
        self.refused = []
        self.passed = 0
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
        self.server.shutdown()
        self.server.server_close()

    def fault_of(self, handler, body):
        """Why the signature is wrong; None if it is right."""
        given = handler.headers.get("Authorization", "")
        try:
            kind, rest = given.split(" ", 1)
            parts = dict(part.strip().split("=", 1) for part in rest.split(","))
            access_key, day, region, service, end = parts["Credential"].split("/")
        except (ValueError, KeyError):
            return f"no signature: {given[:20]}"
        if (kind, region, service, end) != ("AWS4-HMAC-SHA256", self.region, self.service, "aws4_request"):
            return f"scope {region} {service}"
        if access_key not in self.keys:
            return "unknown access key"
        secret, token = self.keys[access_key]
        if handler.headers.get("X-Amz-Security-Token") != token:
            return "session token"
        hashed = handler.headers.get("X-Amz-Content-SHA256")
        if hashed and hashed != hashlib.sha256(body).hexdigest():
            return "the body is not the one of its hash"
        names = parts["SignedHeaders"].split(";")
        if "host" not in names or "x-amz-date" not in names:
            return "host and date have to be signed"
        signed = {name: handler.headers[name] for name in names}
        date = handler.headers["X-Amz-Date"]
        late = abs((datetime.datetime.strptime(date, "%Y%m%dT%H%M%SZ").replace(tzinfo=datetime.timezone.utc)
                    - datetime.datetime.now(datetime.timezone.utc)).total_seconds())
        if late > 300 or day != date[:8]:
            return "the date"
        url = f"http://{handler.headers['Host']}{handler.path}"
        if expected(handler.command, url, signed, body, (access_key, secret, token), region, service, date) != given:
            return "the signature does not match"
        return None

    def handle(self, handler):
        body = handler.rfile.read(int(handler.headers.get("Content-Length") or 0))
        fault = self.fault_of(handler, body)
        if fault:
            self.refused.append(f"{handler.command} {handler.path}: {fault}")
            self.reply(handler, 403, [("Content-Type", "application/json")],
                       b'{"error":{"message":"%s","type":"ForbiddenException","code":403}}' % fault.encode())
            return
        self.passed += 1
        try:
            answer = self.answer(handler.command, handler.path, dict(handler.headers), body)
        except ConnectionAbortedError:  # no answer is wanted
            handler.close_connection = True
            return
        self.reply(handler, *answer)

    def answer(self, method, path, headers, body):
        return self.forward(method, path, headers, body)

    def forward(self, method, path, headers, body):
        connection = http.client.HTTPConnection(self.upstream.hostname, self.upstream.port, timeout=60)
        kept = {k: v for k, v in headers.items() if k.lower() not in {"host", "connection", "accept-encoding", "content-length"}}
        connection.request(method, path, body, kept)
        answer = connection.getresponse()
        payload = answer.read()
        connection.close()
        return answer.status, answer.getheaders(), payload

    @staticmethod
    def reply(handler, status, headers, payload):
        handler.send_response(status)
        for name, value in headers:
            if name.lower() not in SKIPPED_HEADERS:
                handler.send_header(name, value)
        handler.send_header("Content-Length", str(len(payload)))
        handler.end_headers()
        if handler.command != "HEAD":
            handler.wfile.write(payload)
