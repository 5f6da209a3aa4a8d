# SPDX-License-Identifier: Apache-2.0
"""Numbers as the programs of tools/, bench/ and tests/ take them: argparse refuses the others in a sentence."""

import argparse
import math


def whole(least):
    """A whole number from `least` on."""
    def parse(text):
        try:
            number = int(text)
        except ValueError:
            number = None
        if number is None or number < least:
            raise argparse.ArgumentTypeError(f"'{text}' is no whole number from {least} on")
        return number
    return parse


def above_zero(text):
    try:
        number = float(text)
    except ValueError:
        number = math.nan
    if not (math.isfinite(number) and number > 0):
        raise argparse.ArgumentTypeError(f"'{text}' is no number above 0")
    return number


def seeds(text):
    """`7` or `1-100`, as a range."""
    first, dash, last = text.partition("-")
    if not first.isdecimal() or (dash and not last.isdecimal()) or (dash and int(last) < int(first)):
        raise argparse.ArgumentTypeError(f"'{text}' is neither a number nor a range such as 1-100")
    return range(int(first), int(last or first) + 1)


def among(names):
    """Some of these names, between commas, as a list."""
    def parse(text):
        given = [name for name in text.split(",") if name]
        if not given or (unknown := [name for name in given if name not in names]):
            what = ", ".join(unknown) if given else "nothing"
            raise argparse.ArgumentTypeError(f"{what}: there are {', '.join(names)}")
        return given
    return parse
