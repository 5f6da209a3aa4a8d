# SPDX-License-Identifier: Apache-2.0
"""The compact protocol of Thrift, read into {field id: value}: for checks that do not trust firn's own parser.

With `typed` fields are (type, value), and lists (type of the elements, elements): what `write_struct` takes.
"""

import struct


class Reader:
    def __init__(self, data, position=0, typed=False):
        self.data, self.position, self.typed = data, position, typed

    def byte(self):
        value = self.data[self.position]
        self.position += 1
        return value

    def varint(self):
        shift = value = 0
        while True:
            byte = self.byte()
            value |= (byte & 0x7F) << shift
            shift += 7
            if byte < 0x80:
                return value

    def integer(self):
        value = self.varint()
        return (value >> 1) ^ -(value & 1)

    def binary(self):
        size = self.varint()
        value = bytes(self.data[self.position:self.position + size])
        if len(value) != size:
            raise ValueError("a binary beyond the end")
        self.position += size
        return value

    def value(self, kind):
        if kind in (1, 2):
            return kind == 1
        if kind == 3:
            return self.byte()
        if kind in (4, 5, 6):
            return self.integer()
        if kind == 7:
            self.position += 8
            return struct.unpack("<d", self.data[self.position - 8:self.position])[0]
        if kind == 8:
            return self.binary()
        if kind in (9, 10):
            return self.sequence()
        if kind == 12:
            return self.struct()
        raise ValueError(f"thrift type {kind}")

    def sequence(self):
        head = self.byte()
        size, kind = head >> 4, head & 15
        if size == 15:
            size = self.varint()
        if kind in (1, 2):
            values = [self.byte() == 1 for _ in range(size)]
        else:
            values = [self.value(kind) for _ in range(size)]
        return (kind, values) if self.typed else values

    def struct(self):
        fields, last = {}, 0
        while True:
            head = self.byte()
            if head == 0:
                return fields
            delta, kind = head >> 4, head & 15
            last = last + delta if delta else self.integer()
            fields[last] = (kind, self.value(kind)) if self.typed else self.value(kind)


def varint(value):
    out = bytearray()
    while value >= 0x80:
        out.append(value & 0x7F | 0x80)
        value >>= 7
    return bytes(out) + bytes([value])


def write_value(kind, value):
    if kind in (1, 2):
        return b""  # the type says it
    if kind == 3:
        return bytes([value])
    if kind in (4, 5, 6):
        return varint(value << 1 if value >= 0 else (-value << 1) - 1)
    if kind == 7:
        return struct.pack("<d", value)
    if kind == 8:
        return varint(len(value)) + value
    if kind == 12:
        return write_struct(value)
    element, values = value
    size = len(values)
    head = bytes([size << 4 | element]) if size < 15 else bytes([0xF0 | element]) + varint(size)
    if element in (1, 2):
        return head + bytes(1 if v else 2 for v in values)
    return head + b"".join(write_value(element, v) for v in values)


def write_struct(fields):
    out, last = b"", 0
    for number, (kind, value) in sorted(fields.items()):
        delta = number - last
        out += bytes([delta << 4 | kind]) if 0 < delta < 16 else bytes([kind]) + write_value(4, number)
        out += write_value(kind, value)
        last = number
    return out + b"\0"
