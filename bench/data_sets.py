# SPDX-License-Identifier: Apache-2.0
"""Tables that are made from a seed: a wide one, mostly text, and a nested one that is optional at all levels."""

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

WIDE_ROWS, NESTED_ROWS = 260_000, 800_000
NULLS = (0.0, 0.02, 0.3, 0.0, 0.9, 0.99)  # shares of nulls, column after column
WORDS = ("account", "alpha", "archive", "batch", "blue", "bridge", "cache", "carrier", "client", "cloud", "commit", "copper",
         "delta", "draft", "east", "edge", "error", "event", "export", "field", "final", "frame", "gamma", "garden", "global",
         "green", "harbor", "header", "import", "index", "input", "island", "join", "kernel", "label", "ledger", "level",
         "linear", "market", "merge", "meter", "model", "native", "north", "number", "object", "offset", "order", "output",
         "packet", "parcel", "paper", "pending", "pilot", "pixel", "price", "query", "queue", "random", "record", "region",
         "report", "result", "river", "route", "sample", "schema", "sector", "server", "signal", "silver", "sketch", "source",
         "south", "stage", "status", "stone", "store", "stream", "table", "target", "tenant", "ticket", "token", "trace",
         "transit", "update", "upload", "valley", "value", "vector", "vendor", "volume", "west", "window", "worker", "yellow")
EPOCH_MICROS, MONTH_MICROS = 1_750_000_000_000_000, 30 * 86_400_000_000


def joined(*parts):
    return pc.binary_join_element_wise(*parts, "")


def words(rng, rows, count, between=" "):
    """`count` words a row; frequent ones are more frequent, as in text."""
    picks = np.minimum(rng.zipf(1.3, (count, rows)) - 1, 10**9) % len(WORDS)
    vocabulary = pa.array(WORDS)
    return pc.binary_join_element_wise(*(vocabulary.take(pa.array(line)) for line in picks), between)


def numbers(rng, rows, below):
    return pc.cast(pa.array(rng.integers(0, below, rows)), pa.string())


def hexadecimal(rng, rows, size):
    text = rng.bytes(rows * size).hex().encode()
    width = 2 * size
    return pa.FixedSizeBinaryArray.from_buffers(pa.binary(width), rows, [None, pa.py_buffer(text)]).cast(pa.binary()).cast(pa.string())


def low(rng, rows):
    """2 to 60 values, some much more frequent than others."""
    count = int(rng.integers(2, 60))
    return words(rng, count, 2, "_").take(pa.array((rng.zipf(1.5, rows) - 1) % count))


def middle(rng, rows):
    """500 to 20,000 values."""
    count = int(rng.integers(500, 20_000))
    values = joined(words(rng, count, 2, "-"), pa.scalar("-"), numbers(rng, count, 10**6))
    return values.take(pa.array((rng.integers(0, count, rows) * rng.random(rows)).astype(np.int64)))


def high(rng, rows):
    """Nearly all distinct: addresses of mail, numbers of orders."""
    if rng.random() < 0.5:
        return joined(words(rng, rows, 2, "."), numbers(rng, rows, 10**5), pa.scalar("@"), words(rng, rows, 1), pa.scalar(".example"))
    return joined(pa.scalar("ORD-"), numbers(rng, rows, 10**9))


def url(rng, rows):
    return joined(pa.scalar("https://"), words(rng, rows, 1), pa.scalar(".example/"), words(rng, rows, 2, "/"),
                  pa.scalar("?id="), numbers(rng, rows, 10**6), pa.scalar("&ref="), words(rng, rows, 1))


def json_text(rng, rows):
    return joined(pa.scalar('{"user": '), numbers(rng, rows, 10**5), pa.scalar(', "action": "'), words(rng, rows, 1),
                  pa.scalar('", "tags": ["'), words(rng, rows, 3, '", "'), pa.scalar('"], "took_ms": '),
                  numbers(rng, rows, 3000), pa.scalar("}"))


def uuid(rng, rows):
    return pc.binary_join_element_wise(*(hexadecimal(rng, rows, size) for size in (4, 2, 2, 2, 6)), "-")


def free_text(rng, rows):
    return words(rng, rows, 12)


def whole(rng, rows):
    below = int(rng.choice([100, 10**5, 10**9]))
    return pa.array(np.sort(rng.integers(0, below, rows)) if rng.random() < 0.3 else rng.integers(0, below, rows))


def double(rng, rows):
    if rng.random() < 0.5:
        return pa.array(np.round(rng.gamma(2.0, 40.0, rows), 2))  # amounts
    return pa.array(rng.normal(0.0, 1.0, rows))  # measurements


def moment(rng, rows):
    return pa.array(EPOCH_MICROS + np.sort(rng.integers(0, MONTH_MICROS, rows)) // 1000 * 1000).cast(pa.timestamp("us", "UTC"))


def boolean(rng, rows):
    return pa.array(rng.random(rows) < 0.2)


WIDE = ((low, 45), (middle, 35), (high, 15), (url, 8), (json_text, 4), (uuid, 4), (free_text, 6), (whole, 15), (double, 10),
        (moment, 5), (boolean, 3))


def with_nulls(rng, array, share):
    if share == 0.0:
        return array
    return pc.if_else(pa.array(rng.random(len(array)) < share), pa.scalar(None, array.type), array)


def wide():
    """150 columns, 117 of them text."""
    columns, number = {}, 0
    for make, count in WIDE:
        for k in range(count):
            rng = np.random.default_rng([7, number])
            columns[f"{make.__name__}_{k}"] = with_nulls(rng, make(rng, WIDE_ROWS), NULLS[number % len(NULLS)])
            number += 1
    return pa.table(columns)


def optional(rng, array, share=0.05):
    """Some of the values are null, whatever their type."""
    return with_nulls(rng, array, share)


def struct(rng, share, **children):
    nulls = pa.array(rng.random(len(next(iter(children.values())))) < share)
    return pa.StructArray.from_arrays(list(children.values()), names=list(children), mask=nulls)


def offsets_of(rng, rows, most):
    """Of lists of 0 to `most` elements, and which of them are null (those have none)."""
    missing = rng.random(rows) < 0.05
    lengths = np.where(missing, 0, rng.integers(0, most + 1, rows))
    return np.concatenate([[0], np.cumsum(lengths)]).astype(np.int32), pa.array(missing)


def many(rng, rows, most, elements):
    """Lists; `elements(rng, count)` makes their elements."""
    offsets, missing = offsets_of(rng, rows, most)
    return pa.ListArray.from_arrays(pa.array(offsets), elements(rng, int(offsets[-1])), mask=missing)


def mapping(rng, rows, most, keys, values):
    offsets, missing = offsets_of(rng, rows, most)
    count = int(offsets[-1])
    position = np.arange(count) - np.repeat(offsets[:-1], np.diff(offsets))  # a key is there once
    return pa.MapArray.from_arrays(pa.array(offsets), pa.array(keys).take(pa.array(position % len(keys))), values(rng, count), mask=missing)


def item(rng, count):
    return struct(rng, 0.02, sku=joined(pa.scalar("SKU-"), numbers(rng, count, 5000)),
                  quantity=optional(rng, pa.array(rng.integers(1, 9, count).astype(np.int32))),
                  price=optional(rng, double(rng, count)),
                  tags=many(rng, count, 3, lambda r, n: optional(r, words(r, n, 1))),
                  discounts=many(rng, count, 1, lambda r, n: struct(r, 0.1, code=optional(r, low(r, n)), part=pa.array(r.random(n).round(2)))))


def nested():
    """Structs in structs, lists of structs that hold lists, lists of lists, maps; all of it optional."""
    rng, rows = np.random.default_rng(11), NESTED_ROWS
    place = struct(rng, 0.2, latitude=pa.array(rng.normal(50, 3, rows).round(5)), longitude=optional(rng, pa.array(rng.normal(9, 3, rows).round(5))))
    address = struct(rng, 0.1, city=optional(rng, middle(rng, rows)), code=numbers(rng, rows, 10**5), place=place)
    return pa.table({
        "id": pa.array(np.arange(rows)),
        "at": optional(rng, moment(rng, rows)),
        "customer": struct(rng, 0.05, number=pa.array(rng.integers(0, 50_000, rows)), mail=optional(rng, high(rng, rows), 0.3), address=address),
        "items": many(rng, rows, 6, item),
        "attributes": mapping(rng, rows, 5, WORDS[:5], lambda r, n: optional(r, middle(r, n))),
        "measures": mapping(rng, rows, 3, WORDS[10:13], lambda r, n: optional(r, double(r, n))),
        "matrix": many(rng, rows, 3, lambda r, n: many(r, n, 4, lambda q, m: optional(q, pa.array(q.integers(0, 1000, m).astype(np.int32)))))})
