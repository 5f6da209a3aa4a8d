# SPDX-License-Identifier: Apache-2.0
"""A proxy before an S3 server that counts requests and delays them, so that those at the same time can be seen."""

import time
from collections import Counter
from urllib.parse import urlsplit

from tests.services.local_http import HttpProxy


class S3Counter(HttpProxy):
    """`requests`: (method, path) -> number; `most_at_once`: of requests that took `delay_seconds`."""

    withheld = {"connection", "expect"}

    def __init__(self, endpoint, delay_seconds=0.0):
        super().__init__(endpoint)
        self.delay_seconds = delay_seconds
        self.requests = Counter()
        self.now = self.most_at_once = 0

    def handle(self, handler):
        self.begin(handler.command, urlsplit(handler.path).path)
        try:
            time.sleep(self.delay_seconds)
            self.reply(handler, *self.forward(handler.command, handler.path, handler.headers, self.body_of(handler)))
        finally:
            self.end()

    def begin(self, method, path):
        with self.lock:
            self.requests[method, path] += 1
            self.now += 1
            self.most_at_once = max(self.most_at_once, self.now)

    def end(self):
        with self.lock:
            self.now -= 1
