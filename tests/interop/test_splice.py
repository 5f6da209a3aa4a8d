# SPDX-License-Identifier: Apache-2.0
"""Files of several writers merged by `firn splice` and `firn optimize`, decoded by five readers and walked by a strict
validator."""

import random
import shutil
import subprocess

import numpy as np
import pyarrow.parquet as pq
import pytest

pytest.importorskip("polars")
pytest.importorskip("datafusion")

from tests.differential import tables  # noqa: E402
from tests.differential.__main__ import run_files, run_seeds  # noqa: E402
from tests.differential.cases import BINARY, splice  # noqa: E402
from tests.differential.parquet_check import check  # noqa: E402
from tests.differential.worker import Worker  # noqa: E402
from tests.services.set_up import set_up  # noqa: E402


def test_random_files_of_all_writers():
    outcome = run_seeds(range(1, 41), cases=["splice"])
    print(dict(outcome.tiers), dict(outcome.cases), dict(outcome.refusals))
    assert outcome.wrong == [] and not outcome.refusals
    assert all(outcome.tiers[tier] > 0 for tier in ("R", "P0", "P1", "P2", "P3", "P4", "P5", "P7"))
    assert {name for case in outcome.cases for name in case.split(" ")[1].split("+")} == set(tables.writers())


def test_random_tables_with_deletes_and_columns_that_changed():
    outcome = run_seeds(range(1, 21), cases=["table"])
    print(dict(outcome.tiers), dict(outcome.cases), dict(outcome.refusals))
    assert outcome.wrong == [] and not outcome.refusals
    assert all(outcome.tiers[tier] > 0 for tier in ("P2", "P3", "P4", "P5", "P6", "P7", "new"))


def test_a_reader_that_crashes_is_a_wrong_result(tmp_path):
    worker = Worker()
    try:
        answer = worker.run({"case": "crash", "seed": 1, "folder": str(tmp_path), "go": None, "efforts": ["fast"]})
        assert answer == {"wrong": "the process ended with -11 while a case that crashes"}
        answer = worker.run({"case": "splice", "seed": 1, "folder": str(tmp_path), "go": None, "efforts": ["fast"]})
        assert "tiers" in answer  # a new process
    finally:
        worker.stop()


def test_what_a_case_prints_is_not_its_answer(tmp_path, capfd):
    worker = Worker()
    try:
        answer = worker.run({"case": "talk", "seed": 1, "folder": str(tmp_path), "go": None, "efforts": ["fast"]})
    finally:
        worker.stop()
    assert answer == {"tiers": {}, "text": "said", "unread": {}}
    assert "[INFO] Downloading" in capfd.readouterr().err


def test_a_set_up_is_silent_and_says_why_it_failed(capfd):
    set_up("echo", "[INFO] Downloading")
    with pytest.raises(RuntimeError, match="ended with 3: no such artifact"):
        set_up("sh", "-c", "echo no such artifact; exit 3")
    assert capfd.readouterr() == ("", "")


def test_the_validator_finds_what_is_wrong(tmp_path):
    table = tables.table(["int64", "string"], 5000, np.random.default_rng(1))
    pq.write_table(table, tmp_path / "a.parquet", write_page_index=True, write_page_checksum=True, data_page_size=4096)
    assert check(tmp_path / "a.parquet") == []
    sound, found = (tmp_path / "a.parquet").read_bytes(), 0
    rng = random.Random(2)
    for _ in range(40):
        position = rng.randrange(4, len(sound) - 8)
        damaged = bytearray(sound)
        damaged[position] ^= 1 << rng.randrange(8)
        (tmp_path / "b.parquet").write_bytes(damaged)
        try:
            found += bool(check(tmp_path / "b.parquet"))
        except (ValueError, IndexError, KeyError, TypeError):
            found += 1
    assert found >= 30  # all but bytes that say nothing, such as names of writers


def test_damaged_files_are_merged_as_they_are_or_refused(tmp_path):
    rng = random.Random(3)
    for number, (name, write) in enumerate(tables.writers().items()):
        data = tables.table(["int64", "string", "double"], 900, np.random.default_rng(number))
        write(data, tmp_path / "sound.parquet", "zstd", np.random.default_rng(number))
        sound = (tmp_path / "sound.parquet").read_bytes()
        for _ in range(15):
            damaged = bytearray(sound)
            for _ in range(rng.randrange(1, 4)):
                damaged[rng.randrange(len(damaged))] = rng.randrange(256)
            if rng.random() < 0.3:
                damaged = damaged[:rng.randrange(len(damaged))]
            (tmp_path / "damaged.parquet").write_bytes(damaged)
            done = splice([tmp_path / "sound.parquet", tmp_path / "damaged.parquet"], tmp_path / "out.parquet")
            assert 0 <= done.returncode < 100, f"{name}: exit {done.returncode}: {done.stderr}"
            assert (tmp_path / "out.parquet").exists() == (done.returncode == 0)
            assert done.returncode == 0 or "damaged.parquet" in done.stderr, done.stderr
            (tmp_path / "out.parquet").unlink(missing_ok=True)


def test_each_file_of_a_folder_with_its_neighbour(tmp_path):
    for name, write in tables.writers().items():
        write(tables.table(["int32", "string"], 300, np.random.default_rng(7)), tmp_path / f"{name}.parquet", "snappy",
              np.random.default_rng(7))
    (tmp_path / "broken.parquet").write_bytes(b"PAR1 this is none PAR1")
    count, outcome, wrong = run_files(tmp_path)
    assert count == len(tables.writers()) + 1 and wrong == []
    assert outcome["merged"] >= 2 * count - 3 and outcome["exit 4"] == 3


def test_lists_whose_inner_names_differ(tmp_path):
    data = tables.table(["list<int32>"], 50, np.random.default_rng(5))
    pq.write_table(data, tmp_path / "a.parquet", use_compliant_nested_type=True)
    pq.write_table(data, tmp_path / "b.parquet", use_compliant_nested_type=False)
    subprocess.run([BINARY, "splice", "-q", str(tmp_path / "a.parquet"), str(tmp_path / "b.parquet"), "-o",
                    str(tmp_path / "c.parquet")], check=True, capture_output=True)
    assert pq.read_table(tmp_path / "c.parquet")["c0"].to_pylist() == data["c0"].to_pylist() * 2
    shutil.rmtree(tmp_path)
