"""Writes pprof profiles with known contents (perftools.profiles.Profile)."""


def varint(number):
    out = bytearray()
    while number > 0x7f:
        out.append(number & 0x7f | 0x80)
        number >>= 7
    out.append(number)
    return bytes(out)


def number_field(field, number):
    return varint(field << 3) + varint(number)


def bytes_field(field, data):
    return varint(field << 3 | 2) + varint(len(data)) + data


class Profile:
    """A profile of type cpu. Samples are added with their stacks and labels."""

    def __init__(self, time_ns=0, duration_ns=0, period=10_000_000, type="cpu"):
        self.texts = {"": 0}
        self.functions = {}
        value_type = (number_field(1, self.text(type)) +
                      number_field(2, self.text("nanoseconds")))
        self.body = bytes_field(1, value_type) + bytes_field(11, value_type)
        for field, number in ((9, time_ns), (10, duration_ns), (12, period)):
            self.body += number_field(field, number)
        self.period = period

    def text(self, text):
        return self.texts.setdefault(text, len(self.texts))

    def location(self, frame):
        """Returns the location of a frame "name" or "name:line", or of a library, which has no
        function names."""
        if frame not in self.functions:
            self.functions[frame] = len(self.functions) + 1
        return self.functions[frame]

    def add(self, samples, *stack, **labels):
        """Adds samples with this stack, outermost frame first, and these labels."""
        sample = b"".join(number_field(1, self.location(frame))
                          for frame in reversed(stack))
        sample += number_field(2, samples * self.period)
        for key, value in labels.items():
            sample += bytes_field(3, number_field(1, self.text(key)) + (
                number_field(3, value) if isinstance(value, int) else
                number_field(2, self.text(value))))
        self.body += bytes_field(2, sample)
        return self

    def comment(self, text):
        self.body += number_field(13, self.text(text))
        return self

    def write(self, path):
        body = self.body
        for frame, id in self.functions.items():
            name, _, line = frame.partition(":")
            body += bytes_field(4, number_field(1, id) + bytes_field(
                4, number_field(1, id) + number_field(2, int(line or 0))))
            body += bytes_field(5, number_field(1, id) +
                                number_field(2, self.text(name)) +
                                number_field(4, self.text(name if ".so" in name else name + ".c")))
        with open(path, "wb") as file:
            file.write(body + b"".join(bytes_field(6, text.encode())
                                       for text in self.texts))
        return path
