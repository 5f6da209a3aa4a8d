# SPDX-License-Identifier: Apache-2.0
"""Random schedules: another engine's statements and firn's actions on one table, against a model of the rows.

The model knows statements, not files: which rows each ref must hold and, on v3, the lineage that each row must keep.
Only an equality delete needs to know where a row lies (its scope is a partition of a spec); that is read before it.
firn runs as a process, now and then as two at once; at random moments it is stopped, the other engine commits, and firn
goes on.
"""

import random
import sqlite3
import time
from collections import Counter

from ..held_process import hold, let_go
from . import plain_reader
from .plain_reader import DATA
from .plain_writer import Commit, Conflict, PlainTable

UID, KEY, CAT, TEXT = 1, 2, 3, 4
CATEGORIES = ["a", "b", None]


class Schedule:
    usual = {"optimize": 0.04, "rewrite-deletes": 0.04}  # seconds that a run takes on this machine just now

    def __init__(self, lake, name, version, seed, judge=None):
        self.lake, self.name, self.version, self.seed, self.judge = lake, name, version, seed, judge
        self.rng = random.Random(seed)
        self.has_nulls = self.rng.random() < 0.5
        self.table = PlainTable(str(lake.folder / "catalog.db"), *name.split("."))
        self.rows = {}      # of main: uid -> values by field id
        self.refs = {}      # tag or branch -> (snapshot id, rows)
        self.history = []   # snapshot id -> rows, of main's ancestors
        self.lineage = {}   # uid -> (row id, sequence number)
        self.next_uid = 0
        self.log, self.counts = [], Counter()
        self.commits = 0

    # statements of the other engine

    def new_rows(self, count, schema):
        rows, keys = [], [*range(6), *([None] if self.has_nulls else [])]
        for _ in range(count):
            values = {UID: self.next_uid, KEY: self.rng.choice(keys), CAT: self.rng.choice(CATEGORIES[:2 + self.has_nulls]),
                      TEXT: self.rng.choice(["", "x", f"text {self.next_uid}", "long " * 9])}
            for extra in schema["fields"]:
                if extra["id"] > TEXT:
                    values[extra["id"]] = self.rng.choice([None, self.next_uid])
            rows.append({f["id"]: values[f["id"]] for f in schema["fields"]})
            self.next_uid += 1
        return rows

    def append(self, commit):
        rows = self.new_rows(self.rng.randrange(1, 12), commit.schema)
        commit.add_rows(rows)
        commit.publish("append")
        return {**self.rows, **{r[UID]: r for r in rows}}

    def dead_by_keys(self, commit, ids, keys, partition):
        spec = commit.spec
        names = tuple(partition.values())
        dead = {tuple(key[i] for i in ids) for key in keys}
        return {row.values[UID] for row in commit.rows()
                if tuple(row.values.get(i) for i in ids) in dead
                and (not spec["fields"] or (row.entry.spec_id == spec["spec-id"] and row.entry.partition == names))}

    def equality(self, commit, with_rows):
        extras = [f["id"] for f in commit.schema["fields"] if f["id"] > TEXT and self.has_nulls]
        ids = self.rng.choice([[KEY], [KEY], [KEY, TEXT], [UID], *([KEY, i] for i in extras)])
        rows = self.new_rows(self.rng.randrange(1, 6), commit.schema) if with_rows else []
        if rows:
            ids = [KEY]
        some = rows or [r.values for r in commit.rows() if self.rng.random() < 0.3] or self.new_rows(1, commit.schema)
        left = dict(self.rows)
        for partition in {tuple(commit.partition_of(r).items()) for r in some}:
            keys = [r for r in some if tuple(commit.partition_of(r).items()) == partition]
            keys = list({tuple(k.get(i) for i in ids): {i: k.get(i) for i in ids} for k in keys}.values())
            for uid in self.dead_by_keys(commit, ids, keys, dict(partition)):
                left.pop(uid, None)
            commit.delete_equal(ids, keys, dict(partition))
        if rows:
            commit.add_rows(rows)
        commit.publish("overwrite" if rows else "delete")
        return {**left, **{r[UID]: r for r in rows}}

    def upsert(self, commit):
        return self.equality(commit, True)

    def delete_keys(self, commit):
        return self.equality(commit, False)

    def delete_rows(self, commit):
        """By position: files on v2, vectors on v3."""
        victims = [row for row in commit.rows() if self.rng.random() < self.rng.choice([0.05, 0.3, 0.9])]
        if not victims:
            return None
        by_file = {}
        for row in victims:
            by_file.setdefault(row.entry, []).append(row.position)
        pairs = list(by_file.items())
        if commit.version >= 3:
            commit.delete_by_vectors(pairs)
        else:
            commit.delete_positions(pairs)
        commit.publish("delete")
        return {uid: r for uid, r in self.rows.items() if uid not in {v.values[UID] for v in victims}}

    def overwrite(self, commit):
        """A whole file leaves, new rows come."""
        files = [entry for entry in commit.live() if entry.content == DATA]
        if not files:
            return None
        gone = self.rng.choice(files)
        dead = {row.values[UID] for row in commit.rows() if row.entry == gone}
        rows = self.new_rows(self.rng.randrange(0, 4), commit.schema)
        commit.remove_file(gone)
        if rows:
            commit.add_rows(rows)
        commit.publish("overwrite" if rows else "delete")
        return {**{uid: r for uid, r in self.rows.items() if uid not in dead}, **{r[UID]: r for r in rows}}

    def rollback(self, commit):
        if len(self.history) < 3:
            return None
        snapshot_id, rows = self.rng.choice(self.history[-4:-1])
        commit.point_main_at(snapshot_id)
        return rows

    def make_ref(self, commit):
        if not commit.head() or len(self.refs) > 3:
            return None
        kind, name = self.rng.choice(["tag", "branch"]), f"r{len(self.refs)}"
        commit.metadata["refs"][name] = {"snapshot-id": commit.head()["snapshot-id"], "type": kind}
        commit.swap()
        self.refs[name] = dict(self.rows)
        return self.rows

    def on_branch(self, commit):
        """A statement on a branch beside main."""
        names = [name for name in self.refs if commit.metadata["refs"][name]["type"] == "branch"]
        if not names:
            return None
        name, main = self.rng.choice(names), self.rows
        statement = self.rng.choice([self.append, self.upsert, self.delete_keys, self.delete_rows, self.overwrite])
        self.rows = self.refs[name]
        try:
            rows = statement(Commit(self.table, self.rng, name))
        finally:
            self.rows = main
        self.refs[name] = self.refs[name] if rows is None else rows
        return None if rows is None else main

    def change_column(self, commit):
        ids = commit.metadata["last-column-id"] + 1
        schema = {**commit.schema, "schema-id": max(s["schema-id"] for s in commit.metadata["schemas"]) + 1}
        how = self.rng.choice(["add", "drop", "rename", "promote"])
        extras = [f for f in schema["fields"] if f["id"] > TEXT]
        if how == "add" or not extras:
            new = {"id": ids, "name": f"c{ids}", "required": False, "type": self.rng.choice(["long", "int"])}
            if self.version >= 3 and self.rng.random() < 0.5:
                new.update({"initial-default": 3, "write-default": 3})
            schema["fields"] = [*schema["fields"], new]
            commit.metadata["last-column-id"] = ids
        elif how == "drop":
            dropped = self.rng.choice(extras)["id"]
            schema["fields"] = [f for f in schema["fields"] if f["id"] != dropped]
        elif how == "promote":
            schema["fields"] = [{**f, "type": "long"} if f["type"] == "int" else f for f in schema["fields"]]
        else:
            schema["fields"] = [{**f, "name": f"n{schema['schema-id']}_{f['id']}"} if f in extras else f
                                for f in schema["fields"]]
        commit.metadata["schemas"].append(schema)
        commit.metadata["current-schema-id"] = schema["schema-id"]
        commit.swap()
        return self.rows

    def change_spec(self, commit):
        specs = commit.metadata["partition-specs"]
        wanted = self.rng.choice([[], [(CAT, "cat")], [(KEY, "key")]])
        for spec in specs:
            if [(f["source-id"], f["name"]) for f in spec["fields"]] == wanted:
                commit.metadata["default-spec-id"] = spec["spec-id"]
                break
        else:
            last = max(999, commit.metadata.get("last-partition-id", 999))
            fields = [{"source-id": i, "field-id": last + 1, "name": n, "transform": "identity"} for i, n in wanted]
            commit.metadata["last-partition-id"] = last + len(fields)
            number = max(s["spec-id"] for s in specs) + 1
            specs.append({"spec-id": number, "fields": fields})
            commit.metadata["default-spec-id"] = number
        commit.swap()
        return self.rows

    def other_optimizer(self, commit):
        """Merges two files of the current spec as Java does: the starting sequence number is kept."""
        rows = commit.rows()
        files = [e for e in commit.live() if e.content == DATA and e.spec_id == commit.spec["spec-id"]]
        if len(files) < 2 or commit.version >= 3:
            return None
        chosen = self.rng.sample(files, 2)
        ids = [f["id"] for f in commit.schema["fields"]]
        kept = [{i: row.values.get(i) for i in ids} for row in rows if row.entry in chosen]
        for entry in chosen:
            commit.remove_file(entry)
        if kept:
            commit.add_rows(kept, sequence_number=commit.metadata["last-sequence-number"])
        commit.publish("replace")
        return self.rows

    STATEMENTS = [("append", 6), ("upsert", 4), ("delete_keys", 3), ("delete_rows", 5), ("overwrite", 1), ("rollback", 1),
                  ("make_ref", 1), ("on_branch", 2), ("change_column", 1), ("change_spec", 1), ("other_optimizer", 1)]

    def statement(self, names=None):
        """One commit, checked at once; again after a conflict, as an engine would."""
        weights = [(n, w) for n, w in self.STATEMENTS if names is None or n in names]
        what = self.rng.choices([n for n, _ in weights], [w for _, w in weights])[0]
        for _ in range(20):
            try:
                commit = Commit(self.table, self.rng)
                before = self.next_uid
                rows = getattr(self, what)(commit)
                if rows is None:
                    return
                self.rows = rows
                self.log.append(what)
                self.counts[what] += 1
                self.check()
                return
            except Conflict:
                self.next_uid = before
                self.counts["conflict"] += 1
        raise AssertionError("20 conflicts one after the other")

    # checks

    def check(self):
        location, metadata = self.table.current()
        schema = next(s for s in metadata["schemas"] if s["schema-id"] == metadata["current-schema-id"])
        ids = [f["id"] for f in schema["fields"]]
        self.commits += 1
        if metadata.get("current-snapshot-id") in (None, -1):
            assert not self.rows
            return
        missing, held = plain_reader.defaults(metadata), {}
        for name, rows in {"main": self.rows, **self.refs}.items():
            held[name] = [{**missing, **values} for values in rows.values()]
            found = plain_reader.scan(metadata, metadata["refs"][name]["snapshot-id"])
            self.compare(name, found, held[name], ids)
            for row in found if self.version >= 3 else []:
                known = self.lineage.setdefault(row.values[UID], (row.row_id, row.last_updated))
                assert row.row_id is not None and known == (row.row_id, row.last_updated), self.told(
                    f"{name}: lineage of row {row.values[UID]} was {known}, is {(row.row_id, row.last_updated)}")
        self.history.append((metadata["current-snapshot-id"], dict(self.rows)))
        if self.judge:
            self.judge(location, held, self.lineage)

    def told(self, what):
        return f"seed {self.seed}, v{self.version}: {what}; schedule: {' '.join(self.log)}"

    def compare(self, ref, found, rows, ids):
        have = Counter((row.values[UID], tuple(row.values.get(i) for i in ids)) for row in found)
        want = Counter((values[UID], tuple(values.get(i) for i in ids)) for values in rows)
        lost, extra = want - have, have - want
        assert not lost and not extra, self.told(f"{ref}: lost or changed {sorted(lost)[:5]}, too many {sorted(extra)[:5]}")

    # firn's actions

    def firn(self, commands):
        """One run, or two side by side."""
        start, processes = time.monotonic(), []
        for command in commands:
            arguments = {"optimize": ["--min-input-files", "2"], "rewrite-deletes": []}[command]
            if command == "optimize" and self.rng.random() < 0.5:
                arguments += ["--max-commits", str(self.rng.randrange(1, 5))]
            processes.append(self.lake.start(command, f"lake.{self.name}", *arguments))
        interrupted = self.rng.random() < 0.8
        for _ in range(self.rng.choice([1, 1, 2, 3]) if interrupted else 0):
            self.interrupt(self.rng.choice(processes), self.usual[commands[0]])
        for command, process in zip(commands, processes):
            output, errors = process.communicate(timeout=120)
            self.log.append(f"{command}={process.returncode}")
            self.counts[f"{command} exit {process.returncode}"] += 1
            assert process.returncode in (0, 6, 11), self.told(f"{command} exit {process.returncode}: {output}{errors}")
        if not interrupted and len(commands) == 1:
            self.usual[commands[0]] = 0.7 * self.usual[commands[0]] + 0.3 * (time.monotonic() - start)
        self.check()

    def interrupt(self, process, usual):
        """Stops firn at a random moment, commits, lets it go on."""
        time.sleep(self.rng.random() * 1.1 * usual)
        hold(process)
        if process.poll() is None:
            self.counts["stopped"] += 1
        try:
            for _ in range(self.rng.randrange(1, 3)):
                self.statement(["append", "upsert", "delete_keys", "delete_rows", "overwrite", "make_ref", "on_branch",
                                "change_spec", "change_column", "rollback"])
        except sqlite3.OperationalError:  # firn was stopped while it held the catalog's lock
            self.counts["locked"] += 1
        finally:
            let_go(process)

    def run(self, steps, commands):
        for _ in range(3):
            self.statement(["append"])
        for _ in range(steps):
            if self.rng.random() < 0.3:
                both = len(commands) > 1 and self.rng.random() < 0.2
                self.firn(commands if both else [self.rng.choice(commands)])
                self.counts["two at once"] += both
            else:
                self.statement()
