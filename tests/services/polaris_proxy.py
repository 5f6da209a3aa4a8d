# SPDX-License-Identifier: Apache-2.0
"""A REST catalog with the policies of Apache Polaris: OAuth, a prefix, and `applicable-policies` in front of another.

    with PolarisProxy(upstream) as polaris: polaris.policies = [policy("nightly", {"enable": False})] ...

`status` other than 200 is what the policies' endpoint answers; `asked` are the tables that it was asked for.
"""

import json
import urllib.parse

from .fault_proxy import FaultProxy

ENDPOINT = "GET /polaris/v1/{prefix}/applicable-policies"
TOKEN = "granted-by-the-catalog"


def policy(name, content, kind="system.data-compaction", inherited=True, namespace=()):
    return {"policy-type": kind, "inheritable": True, "name": name, "version": 0, "inherited": inherited,
            "namespace": list(namespace), "content": json.dumps({"version": "2025-02-03", **content})}


class PolarisProxy(FaultProxy):
    prefix = "lake"

    def __init__(self, upstream):
        super().__init__(upstream, [])
        self.policies, self.status, self.lists_endpoint = [], 200, True
        self.asked = []  # (namespace, table)

    def handle(self, handler):
        path, _, query = handler.path.partition("?")
        if path.endswith("/v1/oauth/tokens"):
            self.body_of(handler)
            return self.reply_json(handler, 200, {"access_token": TOKEN, "token_type": "bearer", "expires_in": 3600})
        if path == "/v1/config":
            _, _, payload = self.forward("GET", handler.path, {}, b"")
            config = json.loads(payload)
            config.setdefault("overrides", {})["prefix"] = self.prefix
            if self.lists_endpoint:
                config["endpoints"] = [*(config.get("endpoints") or []), ENDPOINT]
            return self.reply_json(handler, 200, config)
        if path == f"/polaris/v1/{self.prefix}/applicable-policies":
            if handler.headers.get("Authorization") != f"Bearer {TOKEN}":
                return self.reply_json(handler, 401, {"error": {"message": "no token", "type": "X", "code": 401}})
            asked = dict(urllib.parse.parse_qsl(query))
            with self.lock:
                self.asked.append((asked["namespace"], asked["target-name"]))
            if self.status != 200:
                error = {"message": "injected", "type": "Injected", "code": self.status}
                return self.reply_json(handler, self.status, {"error": error})
            return self.reply_json(handler, 200, {"applicable-policies": self.policies, "next-page-token": None})
        handler.path = handler.path.replace(f"/v1/{self.prefix}/", "/v1/", 1)
        return super().handle(handler)
