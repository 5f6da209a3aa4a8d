# SPDX-License-Identifier: Apache-2.0
"""What counts as a number, a range of seeds, a choice of names."""

import argparse
import sys
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))

from tools.argument_types import above_zero, among, seeds, whole  # noqa: E402


def test_what_they_take():
    assert whole(1)("24") == 24 and whole(0)("0") == 0 and above_zero("0.01") == 0.01
    assert seeds("7") == range(7, 8) and seeds("1-3") == range(1, 4)
    assert among(("a", "b"))("b,a") == ["b", "a"]


@pytest.mark.parametrize("parse, text", [
    (whole(1), "0"), (whole(0), "-1"), (whole(1), "2.5"), (whole(1), ""), (above_zero, "0"), (above_zero, "inf"), (above_zero, "nan"),
    (above_zero, "x"), (seeds, ""), (seeds, "1-"), (seeds, "-3"), (seeds, "9-1"), (seeds, "1-2-3"), (among(("a", "b")), "c"),
    (among(("a", "b")), "")])
def test_what_they_refuse(parse, text):
    with pytest.raises(argparse.ArgumentTypeError):
        parse(text)
