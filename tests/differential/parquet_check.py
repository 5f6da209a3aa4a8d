# SPDX-License-Identifier: Apache-2.0
"""A strict look at a Parquet file's structure: every page header, offset, size, count, CRC and index, by parquet.thrift alone.

`check(path)` gives a list of findings, empty for a sound file. Values are for the readers to compare.
"""

import struct
import sys
import zlib
from pathlib import Path

from .thrift import Reader

DATA, INDEX, DICTIONARY, DATA_V2 = 0, 1, 2, 3
RLE_DICTIONARY, PLAIN_DICTIONARY = 8, 2


def footer_of(data):
    if data[:4] != b"PAR1" or data[-4:] != b"PAR1":
        raise ValueError("no PAR1")
    size = struct.unpack("<I", data[-8:-4])[0]
    return Reader(data, len(data) - 8 - size).struct(), len(data) - 8 - size


def leaves(schema):
    """(physical type, max definition level, max repetition level, whether it is unsigned) of each leaf."""
    found, position = [], 1

    def walk(definition, repetition):
        nonlocal position
        element = schema[position]
        position += 1
        kind = element.get(3, 0)
        definition += kind != 0
        repetition += kind == 2
        children = element.get(5, 0)
        if not children:
            found.append((element.get(1), definition, repetition, is_unsigned(element)))
        for _ in range(children):
            walk(definition, repetition)

    for _ in range(schema[0].get(5, 0)):
        walk(0, 0)
    return found


def is_unsigned(element):
    integer = element.get(10, {}).get(10)  # logicalType INTEGER: bitWidth, isSigned
    return element.get(6) in (11, 12, 13, 14) or (integer is not None and integer.get(2) is False)


def number(kind, value, unsigned=False):
    """A bound that can be compared, for the types whose order is plain."""
    form = {1: "<i", 2: "<q", 4: "<f", 5: "<d"}.get(kind)
    if unsigned and form:
        form = form.upper()
    if form is None:
        return value
    return struct.unpack(form, value)[0] if len(value) == struct.calcsize(form) else None


class Chunk:
    def __init__(self, data, body_end, chunk, leaf, rows, findings, name):
        self.data, self.chunk, self.leaf, self.rows = data, chunk, leaf, rows
        self.meta, self.findings, self.name, self.body_end = chunk[3], findings, name, body_end
        self.pages, self.used = [], {}

    def tell(self, text):
        self.findings.append(f"{self.name}: {text}")

    def walk(self):
        meta = self.meta
        start = meta.get(11) or meta[9]
        if meta.get(11) and meta[11] >= meta[9]:
            self.tell("the dictionary page is not before the data pages")
        position, end, unpacked = start, start + meta[7], 0
        if start < 4 or end > self.body_end:
            return self.tell("bytes outside of the file's body")
        while position < end:
            reader = Reader(self.data, position)
            header = reader.struct()
            self.pages.append((position, reader.position - position, header))
            unpacked += reader.position - position + header[2]
            if 4 in header and zlib.crc32(self.data[reader.position:reader.position + header[3]]) != header[4] & 0xFFFFFFFF:
                self.tell(f"the CRC of the page at {position} is another one")
            position = reader.position + header[3]
        if position != end:
            self.tell(f"pages end at {position}, not at {end}")
        if unpacked != meta[6]:
            self.tell(f"{unpacked} uncompressed bytes in pages, {meta[6]} in the footer")
        return None

    def check_pages(self):
        values, seen_data, seen_values = 0, False, False
        for position, _, header in self.pages:
            kind = header[1]
            body = {DATA: 5, DICTIONARY: 7, DATA_V2: 8}.get(kind)
            if body is None or body not in header:
                self.tell(f"page type {kind} at {position}")
                continue
            encoding = header[body][4 if kind == DATA_V2 else 2]
            self.used[(kind, encoding)] = self.used.get((kind, encoding), 0) + 1
            if kind == DICTIONARY:
                if seen_data or self.meta.get(11) != position:
                    self.tell(f"a dictionary page at {position}")
                continue
            if not seen_data and self.meta[9] != position:
                self.tell("data_page_offset is not where the first data page is")
            seen_data = True
            values += header[body][1]
            if header[body][1] == 0:
                self.tell("an empty data page")
            coded = encoding in (RLE_DICTIONARY, PLAIN_DICTIONARY)
            if coded and not self.meta.get(11):
                self.tell("indices without a dictionary")
            if coded and seen_values:
                self.tell("indices behind a page of values, which readers take for indices then")
            seen_values = seen_values or not coded
        if values != self.meta[5]:
            self.tell(f"{values} values in pages, {self.meta[5]} in the footer")
        stats = {(s[1], s[2]): s[3] for s in self.meta.get(13, [])}
        if stats and stats != self.used:
            self.tell(f"encoding_stats {stats}, pages {self.used}")
        for _, encoding in self.used:
            if encoding not in self.meta[2]:
                self.tell(f"encoding {encoding} is not in the footer")

    def check_offset_index(self):
        if 4 not in self.chunk:
            return None
        offset, length = self.chunk[4], self.chunk[5]
        reader = Reader(self.data, offset)
        index = reader.struct()
        if reader.position != offset + length:
            self.tell("the offset index has another length")
        data_pages = [(p, size + h[3], h) for p, size, h in self.pages if h[1] != DICTIONARY]
        if [(l[1], l[2]) for l in index[1]] != [(p, size) for p, size, _ in data_pages]:
            self.tell("the offset index names other pages")
        row = 0
        for (_, _, header), location in zip(data_pages, index[1]):
            if location[3] != row and (self.leaf[2] == 0 or row == 0):
                self.tell(f"first_row_index {location[3]}, not {row}")
            row = location[3] + (header[8][3] if 8 in header else header[5][1])
        firsts = [location[3] for location in index[1]]
        if any(a >= b for a, b in zip(firsts, firsts[1:])) or (firsts and firsts[-1] >= self.rows):
            self.tell("first_row_index does not rise")
        return data_pages

    def check_column_index(self, data_pages):
        if 6 not in self.chunk:
            return
        index = Reader(self.data, self.chunk[6]).struct()
        nulls, low, high, order = index[1], index[2], index[3], index[4]
        if not len(nulls) == len(low) == len(high) == len(data_pages):
            return self.tell("lists of the column index do not fit the pages")
        counts = index.get(5)
        for i, (_, _, header) in enumerate(data_pages):
            values = header[8][1] if 8 in header else header[5][1]
            if counts and (counts[i] > values or (counts[i] == values) != nulls[i]):
                self.tell(f"null count {counts[i]} of {values} values, null page {nulls[i]}")
        if counts and self.meta.get(12, {}).get(3) not in (None, sum(counts)):
            self.tell("null counts of pages and chunk differ")
        bounds = [(number(self.leaf[0], a, self.leaf[3]), number(self.leaf[0], b, self.leaf[3])) for n, a, b in zip(nulls, low, high) if not n]
        if self.leaf[0] not in (1, 2, 4, 5):
            return None  # signed, unsigned or decimal: the logical type knows
        for a, b in bounds:
            if a is None or b is None or a > b:
                self.tell(f"bounds {a} and {b}")
        rising = all(a <= c and b <= d for (a, b), (c, d) in zip(bounds, bounds[1:]))
        falling = all(a >= c and b >= d for (a, b), (c, d) in zip(bounds, bounds[1:]))
        if (order == 1 and not rising) or (order == 2 and not falling):
            self.tell("the boundary order is another one")
        return None


def check(path):
    data = memoryview(Path(path).read_bytes())
    findings = []
    footer, body_end = footer_of(data)
    columns, total, ranges = leaves(footer[2]), 0, []
    for g, group in enumerate(footer[4]):
        if len(group[1]) != len(columns):
            findings.append(f"row group {g}: {len(group[1])} columns of {len(columns)}")
            continue
        total += group[3]
        size = 0
        for c, chunk in enumerate(group[1]):
            one = Chunk(data, body_end, chunk, columns[c], group[3], findings, f"row group {g}, column {c}")
            one.walk()
            one.check_pages()
            pages = one.check_offset_index()
            if pages is not None:
                one.check_column_index(pages)
            size += one.meta[6]
            start = one.meta.get(11) or one.meta[9]
            ranges.append((start, start + one.meta[7]))
            if columns[c][2] == 0 and one.meta[5] != group[3]:
                findings.append(f"row group {g}, column {c}: {one.meta[5]} values in {group[3]} rows")
        if size != group[2]:
            findings.append(f"row group {g}: total_byte_size {group[2]}, its chunks have {size}")
    if total != footer[3]:
        findings.append(f"{total} rows in row groups, {footer[3]} in the footer")
    ranges.sort()
    if any(a[1] > b[0] for a, b in zip(ranges, ranges[1:])):
        findings.append("chunks overlap")
    return findings


if __name__ == "__main__":
    bad = 0
    for name in sys.argv[1:]:
        for finding in check(name):
            print(f"{name}: {finding}")
            bad += 1
    sys.exit(1 if bad else 0)
