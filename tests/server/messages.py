"""Protobuf messages and pprof profiles, written by hand."""
import typing


def varint(number):
    number &= (1 << 64) - 1
    out = bytearray()
    while number > 0x7F:
        out.append(number & 0x7F | 0x80)
        number >>= 7
    return bytes(out + bytes([number]))


def number(field, value):
    return varint(field << 3) + varint(value)


def fixed(field, value):
    return varint(field << 3 | 1) + value.to_bytes(8, "little")


def part(field, value):
    value = value.encode() if isinstance(value, str) else value
    return varint(field << 3 | 2) + varint(len(value)) + value


class Unnamed(typing.NamedTuple):
    """A frame without a symbol, which only has the file of its mapping, and its address."""
    file: str
    address: int


def pprof(samples, time_ns, types=(("cpu", "nanoseconds"),), file="", duration_ns=0,
          period_type=("cpu", "nanoseconds")):
    """Return a profile. A sample is (frames, outermost last; values; labels). A frame is a name, (name, line) or Unnamed."""
    texts, places, names, modules = {"": 0}, {}, {}, {}

    def number_of(item, table):
        return table.setdefault(item, len(table))

    def text(value):
        return number_of(value, texts)

    messages = [part(1, number(1, text(a)) + number(2, text(b))) for a, b in types]
    for frames, values, labels in samples:
        frames = [(frame, 7) if isinstance(frame, str) else frame for frame in frames]
        message = b"".join(number(1, number_of(place, places) + 1) for place in frames)
        message += part(2, b"".join(varint(value) for value in values))
        for key, value in labels.items():
            message += part(3, number(1, text(key)) + number(2, text(value)))
        messages.append(part(2, message))
    for place, i in places.items():
        if isinstance(place, Unnamed):
            at = number(2, number_of(place.file, modules) + 1) + number(3, place.address)
        else:
            at = part(4, number(1, number_of(place[0], names) + 1) + number(2, place[1]))
        messages.append(part(4, number(1, i + 1) + at))
    for module, i in modules.items():
        messages.append(part(3, number(1, i + 1) + number(5, text(module))))
    for name, i in names.items():
        messages.append(part(5, number(1, i + 1) + number(2, text(name)) + number(4, text(file))))
    period = part(11, number(1, text(period_type[0])) + number(2, text(period_type[1]))) + number(12, 10_000_000)
    times = number(9, time_ns) + (number(10, duration_ns) if duration_ns else b"")
    return b"".join(messages) + b"".join(part(6, value) for value in texts) + times + period


def push(labels, *profiles, id=""):
    pairs = b"".join(part(1, part(1, name) + part(2, value)) for name, value in labels.items())
    return part(1, pairs + b"".join(part(2, part(1, profile) + (part(2, id) if id else b"")) for profile in profiles))
