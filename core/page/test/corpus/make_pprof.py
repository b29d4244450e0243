#!/usr/bin/env python3
"""Writes the pprof files of this folder. expected.json has their values."""
import os
import sys

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, os.path.join(HERE, "../../../../tests/server"))
from messages import number, part  # noqa: E402


def varint(value):
    value &= (1 << 64) - 1
    out = b""
    while value > 0x7f:
        out += bytes([value & 0x7f | 0x80])
        value >>= 7
    return out + bytes([value])


def profile(types, samples, locations, functions=(), mappings=(), first=b"", default=None, period=None):
    """Locations are (mapping id, [function ids]), functions (name, system name, file), mappings files."""
    texts = [""]

    def text(value):
        if value not in texts:
            texts.append(value)
        return texts.index(value)

    def value_type(pair):
        return number(1, text(pair[0])) + number(2, text(pair[1]))

    out = first + b"".join(part(1, value_type(each)) for each in types)
    for stack, values in samples:
        out += part(2, part(1, b"".join(varint(each) for each in stack)) + part(2, b"".join(varint(each) for each in values)))
    for id_, file in enumerate(mappings, 1):
        out += part(3, number(1, id_) + (number(5, text(file)) if file else b""))
    for id_, (mapping, lines) in enumerate(locations, 1):
        out += part(4, number(1, id_) + (number(2, mapping) if mapping else b"")
                    + b"".join(part(4, number(1, function)) for function in lines))
    for id_, (name, system, file) in enumerate(functions, 1):
        out += part(5, number(1, id_) + number(2, text(name)) + number(3, text(system)) + number(4, text(file)))
    if default:
        out += number(14, text(default))
    if period:
        out += part(11, value_type(period[0])) + number(12, period[1])
    return out + b"".join(part(6, each) for each in texts)


MAIN, WORK = ("main", "", "a.c"), ("work", "", "a.c")
CPU = [("samples", "count"), ("cpu", "nanoseconds")]
HEAP = [("alloc_objects", "count"), ("alloc_space", "bytes"), ("inuse_objects", "count"), ("inuse_space", "bytes")]

FILES = {
    # A profile as Go writes it, with the time as the first field.
    "go-cpu.pb": profile(CPU, [([2, 1], [3, 30_000_000]), ([1], [1, 10_000_000])], [(0, [1]), (0, [2])], [MAIN, WORK],
                         first=number(9, 1_795_000_000_000_000_000), period=(CPU[1], 10_000_000)),
    # All kinds of leaves without a symbol, an inlined call, and a function with only a system name.
    "unsymbolised.pb": profile([("cpu", "nanoseconds")],
                               [([2, 1], [7]), ([3, 1], [5]), ([4, 1], [4]), ([5, 1], [3]), ([6, 1], [2]), ([2, 3], [1])],
                               [(0, [1]), (1, []), (2, []), (0, []), (0, [3]), (0, [2, 1])],
                               [MAIN, WORK, ("", "_Zsys", "")], ["/usr/lib/libz.so.1.3", "[vdso]"]),
    # A difference of heaps: a negative value does not discard the sample's other values.
    "delta-heap.pb": profile(HEAP, [([2, 1], [10, 1000, -1, -50]), ([1], [2, 200, 1, 60])], [(0, [1]), (0, [2])], [MAIN, WORK],
                             default="inuse_space"),
    # Without a default type, the last type is the default.
    "mutex.pb": profile([("contentions", "count"), ("delay", "nanoseconds")], [([2, 1], [4, 900])],
                        [(0, [1]), (0, [2])], [MAIN, WORK]),
}

for name, content in FILES.items():
    with open(os.path.join(HERE, name), "wb") as file:
        file.write(content)
