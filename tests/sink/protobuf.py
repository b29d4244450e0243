"""A decoder of protobuf, for the messages and fields that Pyroscope reads."""


class DecodeError(Exception):
    pass


def varint(data, at):
    value = shift = 0
    while True:
        if at >= len(data) or shift > 63:
            raise DecodeError("unexpected EOF")
        byte = data[at]
        at += 1
        value |= (byte & 0x7F) << shift
        shift += 7
        if not byte & 0x80:
            return value & (1 << 64) - 1, at


def signed(value):
    return value - (1 << 64) if value >> 63 else value


def fields(data):
    """Yields (number, wire type, value) for each field of a message."""
    at = 0
    while at < len(data):
        tag, at = varint(data, at)
        number, wire = tag >> 3, tag & 7
        if wire == 0:
            value, at = varint(data, at)
        elif wire == 2:
            size, at = varint(data, at)
            if at + size > len(data):
                raise DecodeError("unexpected EOF")
            value = data[at:at + size]
            at += size
        elif wire in (1, 5):
            size = 8 if wire == 1 else 4
            if at + size > len(data):
                raise DecodeError("unexpected EOF")
            value = data[at:at + size]
            at += size
        else:
            raise DecodeError(f"illegal wireType {wire}")
        if number == 0:
            raise DecodeError("illegal tag 0")
        yield number, wire, value


def message(data, schema):
    """Decodes a message to a dict by name. `schema` is {number: (name, kind)};
    a kind is int, bytes, str or a schema, or a list of one kind for a repeated
    field."""
    out = {name: [] if isinstance(kind, list) else None
           for name, kind in schema.values()}
    for number, wire, value in fields(data):
        if number not in schema:
            continue
        name, kind = schema[number]
        repeated = isinstance(kind, list)
        one = kind[0] if repeated else kind
        if one is int and wire == 2 and repeated:
            at = 0
            while at < len(value):
                item, at = varint(value, at)
                out[name].append(signed(item))
            continue
        if one is int:
            if wire != 0:
                raise DecodeError(f"wrong wireType = {wire} for field {name}")
            value = signed(value)
        elif wire != 2:
            raise DecodeError(f"wrong wireType = {wire} for field {name}")
        elif isinstance(one, dict):
            value = message(value, one)
        elif one is str:
            value = bytes(value).decode("utf-8", "surrogateescape")
        if repeated:
            out[name].append(value)
        else:
            out[name] = value
    return out


VALUE_TYPE = {1: ("type", int), 2: ("unit", int)}
LABEL = {1: ("key", int), 2: ("str", int), 3: ("num", int), 4: ("num_unit", int)}
SAMPLE = {1: ("location_id", [int]), 2: ("value", [int]), 3: ("label", [LABEL])}
MAPPING = {1: ("id", int), 2: ("memory_start", int), 3: ("memory_limit", int),
           4: ("file_offset", int), 5: ("filename", int), 6: ("build_id", int)}
LINE = {1: ("function_id", int), 2: ("line", int)}
LOCATION = {1: ("id", int), 2: ("mapping_id", int), 3: ("address", int),
            4: ("line", [LINE])}
FUNCTION = {1: ("id", int), 2: ("name", int), 3: ("system_name", int),
            4: ("filename", int), 5: ("start_line", int)}
PROFILE = {1: ("sample_type", [VALUE_TYPE]), 2: ("sample", [SAMPLE]),
           3: ("mapping", [MAPPING]), 4: ("location", [LOCATION]),
           5: ("function", [FUNCTION]), 6: ("string_table", [str]),
           9: ("time_nanos", int), 10: ("duration_nanos", int),
           11: ("period_type", VALUE_TYPE), 12: ("period", int),
           13: ("comment", [int])}
PAIR = {1: ("name", str), 2: ("value", str)}
RAW_SAMPLE = {1: ("raw_profile", bytes), 2: ("id", str)}
SERIES = {1: ("labels", [PAIR]), 2: ("samples", [RAW_SAMPLE])}
PUSH = {1: ("series", [SERIES])}
