# SPDX-License-Identifier: Apache-2.0
"""The compact protocol of Thrift, read into {field id: value}: for checks that do not trust firn's own parser."""

import struct


class Reader:
    def __init__(self, data, position=0):
        self.data, self.position = data, position

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
            return [self.byte() == 1 for _ in range(size)]
        return [self.value(kind) for _ in range(size)]

    def struct(self):
        fields, last = {}, 0
        while True:
            head = self.byte()
            if head == 0:
                return fields
            delta, kind = head >> 4, head & 15
            last = last + delta if delta else self.integer()
            fields[last] = self.value(kind)
