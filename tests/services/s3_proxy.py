# SPDX-License-Identifier: Apache-2.0
"""An HTTP proxy in front of an S3 server that counts requests, and can be a store that knows no conditions.

    with S3Proxy(endpoint, access_key, secret_key, strips_conditions=True) as proxy: ... proxy.url, proxy.requests ...

The keys in `ended` are refused as AWS refuses a session whose token has ended.
The header If-None-Match is part of the signature, so a request that loses it is signed anew.
"""

import datetime
import hashlib
import hmac

from .local_http import HttpProxy


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


class S3Proxy(HttpProxy):
    withheld = {"connection", "expect"}

    def __init__(self, upstream, access_key, secret_key, strips_conditions=False):
        super().__init__(upstream)
        self.keys = (access_key, secret_key)
        self.strips_conditions = strips_conditions
        self.requests = []  # (method, path with query)
        self.ended = set()

    def count(self, method):
        return sum(1 for name, _ in self.requests if name == method)

    def handle(self, handler):
        body = self.body_of(handler)
        with self.lock:
            self.requests.append((handler.command, handler.path))
        if any(f"Credential={key}/" in handler.headers.get("Authorization", "") for key in self.ended):
            error = b"<Error><Code>ExpiredToken</Code><Message>The provided token has expired.</Message></Error>"
            self.reply(handler, 400, [("Content-Type", "application/xml")], error)
            return
        headers = dict(handler.headers)
        if self.strips_conditions and handler.headers.get("If-None-Match"):
            headers = signed(handler.command, handler.path, handler.headers["Host"], body, *self.keys)
        self.reply(handler, *self.forward(handler.command, handler.path, headers, body))
