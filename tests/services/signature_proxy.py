# SPDX-License-Identifier: Apache-2.0
"""An HTTP proxy that lets only requests through whose AWS Signature Version 4 botocore computes as well.

    with SignatureProxy(upstream, keys, region="eu-west-1", service="execute-api") as proxy: ... proxy.url ...

keys: {access key id: (secret, session token or None)}. Others get 403. proxy.refused lists why, proxy.passed counts.
A subclass may answer instead of the upstream: see answer().
"""

import datetime
import hashlib
import threading
from unittest import mock

from botocore import auth, awsrequest, credentials

from .local_http import HttpProxy

LOCK = threading.Lock()


def expected(method, url, headers, body, keys, region, service, date):
    """The Authorization that botocore gives to exactly these headers at that time."""
    request = awsrequest.AWSRequest(method=method, url=url, headers=headers, data=body)
    signer = auth.SigV4Auth(credentials.Credentials(*keys), service, region)
    moment = datetime.datetime.strptime(date, "%Y%m%dT%H%M%SZ")
    with LOCK, mock.patch.object(auth, "get_current_datetime", lambda *_, **__: moment):
        signer.add_auth(request)
    return request.headers["Authorization"]


class SignatureProxy(HttpProxy):
    def __init__(self, upstream, keys, region, service):
        super().__init__(upstream)
        self.keys, self.region, self.service = keys, region, service
        self.refused = []
        self.passed = 0

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
        body = self.body_of(handler)
        fault = self.fault_of(handler, body)
        if fault:
            self.refused.append(f"{handler.command} {handler.path}: {fault}")
            self.reply_json(handler, 403, {"error": {"message": fault, "type": "ForbiddenException", "code": 403}})
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
