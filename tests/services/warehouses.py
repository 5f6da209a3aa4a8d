# SPDX-License-Identifier: Apache-2.0
"""A REST catalog with several warehouses that vends S3 credentials which end: PyIceberg's SQL catalogs behind HTTP.

    with Warehouses({"red": catalog, "blue": catalog}, vend) as server: ... server.url ...

/v1/config names a prefix for each warehouse. vend() returns the credentials of one answer, or None for none at all.
with_endpoint says whether .../credentials is there; without it they come with the table only. server.calls lists
(method, path) without queries.
"""

import json
import re
import urllib.parse

from pyiceberg.exceptions import CommitFailedException, NoSuchTableError
from pyiceberg.table import CommitTableRequest

from .local_http import LocalServer

TABLE = "/v1/{prefix}/namespaces/{namespace}/tables/{table}"


class Warehouses(LocalServer):
    def __init__(self, catalogs, vend=lambda: None, with_endpoint=True):
        super().__init__()
        self.catalogs, self.vend, self.with_endpoint = catalogs, vend, with_endpoint
        self.calls = []

    def handle(self, handler):
        body = self.body_of(handler)
        url = urllib.parse.urlsplit(handler.path)
        with self.lock:  # SQLite connections and the order of commits
            self.calls.append((handler.command, url.path))
            status, answer = self.answer(handler.command, url.path, urllib.parse.parse_qs(url.query), body)
        self.reply_json(handler, status, answer)

    @staticmethod
    def error(status, kind, text):
        return status, {"error": {"message": text, "type": kind, "code": status}}

    def answer(self, method, path, query, body):
        if path == "/v1/config":
            warehouse = query.get("warehouse", ["(none)"])[0]
            if warehouse not in self.catalogs:
                return self.error(404, "NotFoundException", f"no warehouse {warehouse}")
            endpoints = [f"GET {TABLE}", f"POST {TABLE}"] + ([f"GET {TABLE}/credentials"] if self.with_endpoint else [])
            return 200, {"defaults": {}, "overrides": {"prefix": f"wh/{warehouse}"}, "endpoints": endpoints}
        found = re.fullmatch(r"/v1/wh/([^/]+)/namespaces(?:/([^/]+)/tables(?:/([^/]+)(/credentials)?)?)?", path)
        if not found or found[1] not in self.catalogs:
            return self.error(404, "NotFoundException", path)
        catalog, namespace, table, credentials = self.catalogs[found[1]], found[2], found[3], found[4]
        if not namespace:
            return 200, {"namespaces": [list(name) for name in catalog.list_namespaces()] if not query.get("parent") else []}
        if not table:
            return 200, {"identifiers": [{"namespace": list(n[:-1]), "name": n[-1]} for n in catalog.list_tables(namespace)]}
        try:
            loaded = catalog.load_table(f"{namespace}.{table}")
        except NoSuchTableError as error:
            return self.error(404, "NoSuchTableException", str(error))
        if credentials and not self.with_endpoint:
            return self.error(404, "NotFoundException", path)
        if credentials:
            return 200, self.vended(loaded)
        if method == "GET":
            return 200, {"metadata-location": loaded.metadata_location, "config": {}, **self.vended(loaded),
                         "metadata": json.loads(loaded.metadata.model_dump_json(by_alias=True, exclude_none=True))}
        request = CommitTableRequest.model_validate_json(body)
        try:
            done = catalog.commit_table(loaded, request.requirements, request.updates)
        except CommitFailedException as error:
            return self.error(409, "CommitFailedException", str(error))
        return 200, {"metadata-location": done.metadata_location,
                     "metadata": json.loads(done.metadata.model_dump_json(by_alias=True, exclude_none=True))}

    def vended(self, loaded):
        credentials = self.vend()
        if credentials is None:
            return {}
        bucket = "/".join(loaded.metadata.location.split("/")[:3])
        return {"storage-credentials": [{"prefix": bucket, "config": credentials}]}
