# SPDX-License-Identifier: Apache-2.0
"""One run: a table, a command of firn, one fault at a random moment; then the checks, and firn once more without faults."""

import json
import random
import resource
import signal
import time
from dataclasses import dataclass, field

from tests.interop.rows import multiset

from . import check
from .places import RestS3, shapes_of
from .process import Firn
from .shapes import SHAPES

MARKS = (".run.json", ".ended.json")
LIMIT = 300 << 20
MEMORY = ["--memory", "300MB"]
# 0 done, 6 others were faster, 7 not known, 8 storage is away, 9 the disk is full, 10 stopped, 11 done in part
ENDS = {"kill": {-9}, "late-kill": {-9}, "stop": {0, 10, 11, -15}, "disk": {0, 8, 9, 11}, "cut-catalog": {0, 6, 7, 8, 11},
        "cut-store": {0, 6, 7, 8, 11}, "commit": {0, 6, 7, 8, 11}}
COMMIT_FAULTS = ["drop_before", "drop_after", "after:500", "after:503", "after:409", "before:503", "garble", "late:0.4",
                 "twice"]


@dataclass
class Report:
    seed: int
    what: str
    fault: str = ""
    outcome: str = ""
    peaks: list = field(default_factory=list)
    removed: int = 0
    reported: int = 0
    found: int = 0

    def __str__(self):
        leftovers = f", {self.found} left: {self.removed} removed, {self.reported} named" if self.found else ""
        return (f"seed {self.seed}: {self.what}, {self.fault}: {self.outcome}{leftovers}; "
                f"peak {max(self.peaks) / 2**20:.0f} MiB")


class Bench:
    """The places of one process, and how long runs of each shape take when nothing happens."""

    def __init__(self, folder, kinds, shapes=tuple(SHAPES)):
        self.folder = folder
        self.shapes = shapes
        self.kinds = kinds
        self.made = {}
        self.usual, self.rows = {}, {}

    def place(self, kind):
        if kind not in self.made:
            self.made[kind] = kind(self.folder / kind.name)
        return self.made[kind]

    def close(self):
        for place in self.made.values():
            place.close()

    def unharmed(self, place, shape, command):
        """((seconds, bytes written), rows)"""
        key = (place.name, shape, command)
        if key not in self.usual:
            table = place.reset(shape)
            place.mirror()
            self.rows[place.name, shape] = check.rows(place, place.current())
            free = place.disk.free_bytes() if place.name != "rest+s3" else 0
            done = Firn(place.folder, words_of(command, table, 2), place.environment).wait()
            assert done.exit == 0, f"{key}: exit {done.exit}: {done.out[-2000:]} {done.err}"
            copied = json.loads(done.out)["outcome"]["storage_copied_bytes"] if shape == "ranges-v2" else None
            assert copied != 0, f"{key}: the store copied nothing: {done.out}"
            written = free - place.disk.free_bytes() if place.name != "rest+s3" else 0
            self.usual[key] = done.seconds, written
        return self.usual[key], self.rows[place.name, shape]


def words_of(command, table, threads):
    command, *options = command.split(" ")
    return [command, *table, *options, "--json", *MEMORY, "--threads", threads]


def commands_of(kind, shape):
    """`optimize` where there are no deletes; what PyIceberg serves stays in version 2."""
    more = {"positions-v2": ["rewrite-deletes"], "equality-v2": ["rewrite-deletes"], "upserts-v3": ["rewrite-deletes"]}
    if kind is not RestS3 and shape in ("positions-v2", "equality-v2"):
        more[shape] = ["rewrite-deletes", "rewrite-deletes --format-version 3"]
    return ["optimize", *more.get(shape, [])]


def one_run(seed, bench):
    rng = random.Random(seed)
    kind = rng.choice(bench.kinds)
    shapes = [shape for shape in shapes_of(kind) if shape in bench.shapes]
    (shape,) = rng.choices(shapes, [0.3 if shape == "heavy-v2" else 1 for shape in shapes])
    if kind.name != "rest+s3" and rng.random() < 0.08:
        return splice_run(seed, rng, bench.place(kind))
    place, command, threads = bench.place(kind), rng.choice(commands_of(kind, shape)), rng.choice([1, 2, 4])
    fault = rng.choice(kind.faults)
    usual, rows = bench.unharmed(place, shape, command)
    table = place.reset(shape)
    report = Report(seed, f"{place.name} {shape} {command} --threads {threads}")
    harmed = run_harmed(report, rng, place, fault, usual, words_of(command, table, threads))
    look(report, place, rows, "after the fault")
    before = place.files()
    again = Firn(place.folder, words_of("optimize", table, 2), place.direct_environment).wait()
    report.peaks.append(again.peak)
    assert again.exit == 0, f"{report}: the next run ends with {again.exit}: {again.out} {again.err}"
    if kind.name == "rest+s3":
        for thread in place.commits.late:
            thread.join()
    named = look(report, place, rows, "after the next run")
    judge_leftovers(report, place, before, named, harmed, again)
    for peak in report.peaks:
        assert peak <= LIMIT, f"{report}: {peak / 2**20:.1f} MiB with {MEMORY[1]}"
    return report


def look(report, place, rows, when):
    location = place.current()  # before the files are fetched: a late commit may arrive at any time
    place.mirror()
    try:
        named = check.check_structure(location)
        assert check.rows(place, location) == rows, "other rows"
    except Exception as error:
        raise AssertionError(f"{report.seed}: {report.what}, {report.fault}, {report.outcome}, {when}: {error}") from error
    return named


def judge_leftovers(report, place, before, named, harmed, again):
    """What nothing names is gone, or the next run has told of it."""
    outcome = json.loads(again.out).get("outcome", {})
    told = {name.rsplit("/", 1)[-1] for name in outcome.get("leftover_files", [])}
    left = check.unnamed(place, named)
    report.found = len([n for n in before - named if not n.startswith("version-hint") and not n.endswith(MARKS)])
    report.removed, report.reported = outcome.get("leftovers_removed", 0), len(left & told)
    marks = {name for name in left if name.endswith(MARKS)}
    silent = left - told - (marks if told else set())
    assert not silent, f"{report}: nothing names {sorted(silent)}, and the next run says nothing: {again.out} {again.err}"


def run_harmed(report, rng, place, fault, usual, words):
    seconds, written = usual
    moment = rng.random() * seconds
    report.fault = f"{fault} after {moment:.3f} of {seconds:.3f} s"
    if fault in ("commit", "late-kill"):
        return harm_commit(report, rng, place, fault, words)
    if fault == "disk" and place.disk.is_mounted:
        return fill_disk(report, rng, place, written, words)
    firn = Firn(place.folder, words, place.environment)
    firn.sleep_until(moment)
    if fault == "kill":
        firn.signal(signal.SIGKILL)
    elif fault == "stop":
        firn.signal(signal.SIGTERM)
    elif fault == "disk" and not firn.has_ended():
        size = rng.choice([0, 4096, 100_000])
        resource.prlimit(firn.pid, resource.RLIMIT_FSIZE, (size, size))
    elif fault.startswith("cut"):
        cut, duration = rng.choice(["drop", "hole"]), rng.choice([0.2, 1, 3])
        report.fault += f", {cut} of {duration} s"
        (place.catalog_wire if fault == "cut-catalog" else place.store_wire).cut(cut, duration)
    return ended(report, fault, place, firn)


def fill_disk(report, rng, place, written, words):
    """Full after a random part of what such a run writes: a moment cannot be hit, so the bytes are counted."""
    left = int(rng.random() * written)
    report.fault = f"disk full after {left:,} of {written:,} bytes"
    place.disk.fill(left)
    return ended(report, "disk", place, Firn(place.folder, words, place.environment))


def harm_commit(report, rng, place, fault, words):
    """At the moment of the commit: its answer is spoilt, or the process dies while its request is on the way, or lost."""
    chosen = [rng.choice(COMMIT_FAULTS if fault == "commit" else ["late:0.05", "late:0.3", "late:0.8", "drop_before"])]
    place.commits.faults[:] = chosen
    report.fault = f"{fault} {chosen[0]}"
    firn = Firn(place.folder, words, place.environment)
    while fault == "late-kill" and not firn.has_ended() and not place.commits.commits and not place.commits.late:
        time.sleep(0.001)
    if fault == "late-kill":
        firn.signal(signal.SIGKILL)
    return ended(report, fault, place, firn)


def ended(report, fault, place, firn):
    done = firn.wait()
    if fault == "disk":
        place.disk.free()
    if fault.startswith("cut"):
        place.catalog_wire.mend()
        place.store_wire.mend()
    report.peaks.append(done.peak)
    report.outcome = "done before it" if done.exit == 0 and fault in ("kill", "stop", "late-kill") else f"exit {done.exit}"
    assert done.exit in ENDS[fault] | {0}, f"{report.seed}: {report.what}, {report.fault}: exit {done.exit}: {done.out} {done.err}"
    return done


def splice_run(seed, rng, place):
    """`firn splice` has no table: its output is whole or not there."""
    import pyarrow.parquet as pq
    shape = rng.choice(["many-v2", "large-v2"])
    place.reset(shape)
    inputs = sorted((place.table / "data").glob("*.parquet"))
    out = place.table / "data/spliced.out"
    words = ["splice", *inputs, "-o", out, *MEMORY, "--threads", rng.choice([1, 2]), "--json"]
    fault = rng.choice(["kill", "stop", "disk"])
    if (place.name, "splice", shape) not in place.pristine:
        done = Firn(place.folder, words, place.environment).wait()
        assert done.exit == 0, done.err
        place.pristine[place.name, "splice", shape] = done.seconds, out.stat().st_size
        out.unlink()
    rows = sum((multiset(pq.ParquetFile(path).read()) for path in inputs), start=multiset(pq.ParquetFile(inputs[0]).read()[:0]))
    report = Report(seed, f"{place.name} {shape} splice")
    run_harmed(report, rng, place, fault, place.pristine[place.name, "splice", shape], words)
    if not out.exists():
        again = Firn(place.folder, words, place.environment).wait()
        report.peaks.append(again.peak)
        assert again.exit == 0, f"{report}: the next run ends with {again.exit}: {again.err}"
    assert multiset(pq.ParquetFile(out).read()) == rows, f"{report}: other rows"
    assert {p.name for p in out.parent.iterdir()} == {p.name for p in inputs} | {out.name}
    assert max(report.peaks) <= LIMIT, str(report)
    return report
