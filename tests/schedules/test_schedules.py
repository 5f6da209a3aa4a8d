# SPDX-License-Identifier: Apache-2.0
"""A few random schedules; `python -m tests.schedules --seeds FROM-TO` runs as many as wanted."""

import os

import pytest

from .lake import ScheduledLake

COMMANDS = ["optimize", "rewrite-deletes"]
FIRST = int(os.environ.get("FIRN_SEED", "1"))


@pytest.mark.parametrize("version", [2, 3])
@pytest.mark.parametrize("seed", range(FIRST, FIRST + 12))
def test_rows_follow_the_model(tmp_path, seed, version):
    schedule = ScheduledLake(tmp_path).schedule(seed, version, steps=14, commands=COMMANDS)
    assert schedule.commits > 10
