# SPDX-License-Identifier: Apache-2.0
"""An HTTP proxy in front of a REST catalog that spoils commits in chosen ways.

    with FaultProxy(upstream, ["drop_after", "pass"]) as proxy: ... proxy.url ...

Each commit (POST of a table, not of a scan or of metrics) takes the next fault of the list; after the list all pass.

drop_before       connection closed, nothing forwarded         drop_after     forwarded, then closed
before:STATUS     this answer, nothing forwarded               after:STATUS   forwarded, then this answer
garble            forwarded, half of the answer is returned    late:SECONDS   closed at once, forwarded later
twice             forwarded twice, the second answer returned
"""

import re
import threading
import time

from .local_http import HttpProxy

COMMIT = re.compile(r"/namespaces/[^/]+/tables/[^/]+$")


class FaultProxy(HttpProxy):
    def __init__(self, upstream, faults):
        super().__init__(upstream)
        self.faults = list(faults)
        self.commits = []  # (fault, status of the catalog or None)
        self.late = []

    def __exit__(self, *arguments):
        for thread in self.late:
            thread.join()
        super().__exit__(*arguments)

    def next_fault(self, handler):
        if handler.command != "POST" or not COMMIT.search(handler.path.split("?")[0]):
            return None
        with self.lock:
            return self.faults.pop(0) if self.faults else "pass"

    def handle(self, handler):
        body = self.body_of(handler)
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
            self.hang_up(handler)
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
