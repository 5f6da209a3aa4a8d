# SPDX-License-Identifier: Apache-2.0
"""Files with levels in the deprecated BIT_PACKED encoding, which no writer of today makes any more.

Every V1 page of a flat optional column is written anew: levels packed from the most significant bit on, as Encodings.md
says; values stay. Page indexes and Bloom filters are left out.
"""

import struct
from pathlib import Path

import pyarrow as pa

from .parquet_check import DATA, footer_of, leaves
from .thrift import Reader, write_struct

BIT_PACKED, CODECS = 4, {0: None, 1: "snappy", 2: "gzip", 6: "zstd"}


def hybrid(data, count, width):
    """Levels in the RLE/bit-packed hybrid."""
    reader, found = Reader(data), []
    while len(found) < count:
        head = reader.varint()
        if head & 1:
            size = (head >> 1) * width
            bits = int.from_bytes(data[reader.position:reader.position + size], "little")
            found += [bits >> (i * width) & ((1 << width) - 1) for i in range((head >> 1) * 8)]
            reader.position += size
        else:
            size = (width + 7) // 8
            found += [int.from_bytes(data[reader.position:reader.position + size], "little")] * (head >> 1)
            reader.position += size
    return found[:count]


def bit_packed(numbers, width):
    size = (len(numbers) * width + 7) // 8
    bits = 0
    for number in numbers:
        bits = bits << width | number
    return (bits << (size * 8 - len(numbers) * width)).to_bytes(size, "big")


def changed_page(header, body, codec, definition):
    """(header, body) with other levels; `header` is typed."""
    page = header[5][1]
    if codec:
        body = pa.Codec(codec).decompress(body, header[2][1]).to_pybytes()
    size, width = struct.unpack("<I", body[:4])[0], definition.bit_length()
    packed = bit_packed(hybrid(body[4:4 + size], page[1][1], width), width)
    body = packed + body[4 + size:]
    header[2] = (5, len(body))
    body = pa.Codec(codec).compress(body).to_pybytes() if codec else body
    header[3] = (5, len(body))
    header.pop(4, None)  # the CRC
    page[3] = (5, BIT_PACKED)
    return header, body


def chunk_with_old_levels(data, meta, definition, out):
    """Appends the pages to `out` and puts the new places and sizes into the typed column metadata."""
    start = meta[11][1] if 11 in meta and meta[11][1] else meta[9][1]
    position, unpacked, first_data = start, 0, None
    begin = len(out)
    while position < start + meta[7][1]:
        reader = Reader(data, position, typed=True)
        header = reader.struct()
        body = bytes(data[reader.position:reader.position + header[3][1]])
        position = reader.position + header[3][1]
        if header[1][1] == DATA and header[5][1][3][1] != BIT_PACKED:
            header, body = changed_page(header, body, CODECS[meta[4][1]], definition)
        if header[1][1] == 2:
            meta[11] = (6, len(out))
        elif first_data is None:
            first_data = len(out)
        written = write_struct(header)
        unpacked += len(written) + header[2][1]
        out += written + body
    meta[9] = (6, first_data)
    meta[6], meta[7] = (6, unpacked), (6, len(out) - begin)
    kind, encodings = meta[2][1]
    meta[2] = (9, (kind, sorted({*encodings, BIT_PACKED})))


def with_bit_packed_levels(path):
    data = Path(path).read_bytes()
    plain, _ = footer_of(memoryview(data))
    footer = Reader(data, len(data) - 8 - struct.unpack("<I", data[-8:-4])[0], typed=True).struct()
    out = bytearray(b"PAR1")
    columns = leaves(plain[2])
    for group in footer[4][1][1]:
        begin, total = len(out), 0
        for column, chunk in zip(columns, group[1][1][1]):
            meta = chunk[3][1]
            start = meta[11][1] if 11 in meta and meta[11][1] else meta[9][1]
            if column[2] == 0 and column[1] > 0 and meta[4][1] in CODECS:
                chunk_with_old_levels(data, meta, column[1], out)
            else:
                moved = len(out) - start
                out += data[start:start + meta[7][1]]
                for place in (9, 11):
                    if place in meta and meta[place][1]:
                        meta[place] = (6, meta[place][1] + moved)
            for index in (4, 5, 6, 7):
                chunk.pop(index, None)
            meta.pop(14, None), meta.pop(15, None)
            total += meta[6][1]
        group[2] = (6, total)
        if 5 in group:
            group[5] = (6, begin)
        if 6 in group:
            group[6] = (6, len(out) - begin)
    written = write_struct(footer)
    out += written + struct.pack("<I", len(written)) + b"PAR1"
    Path(path).write_bytes(out)
