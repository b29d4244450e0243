"""A model of the server, which computes the answers by brute force from all rows of all uploads."""
import collections
import re

GAP_MS = 15000  # LISTS_GAP_MS in api_lists.c
PERIOD_NS = 10_000_000  # period of the profiles of messages.pprof()
SILENT_PROFILE_MS = 15000  # assumed length of a profile without a duration

CPU = "process_cpu:cpu:nanoseconds:cpu:nanoseconds"
SAMPLES = "process_cpu:samples:count:cpu:nanoseconds"
HEAP_BYTES = "memory:alloc_space:bytes:cpu:nanoseconds"
HEAP_OBJECTS = "memory:alloc_objects:count:cpu:nanoseconds"
TYPES = (CPU, SAMPLES, HEAP_BYTES, HEAP_OBJECTS)

Row = collections.namedtuple("Row", "profile labels stack span trace value part")


class Count:
    """A number of samples: that in the profiles or, if they have none, the value divided by the period.

    The values of uploads with the same labels and types (a source) are summed before the quotient is rounded.
    """

    def __init__(self):
        self.parts = collections.defaultdict(int)

    def add(self, row, *more):
        self.parts[(row.profile.source, row.part[0], *more)] += row.part[1]

    def total(self):
        return sum(max(1, (part + period // 2) // period) for (_, period, *_), part in self.parts.items())


class Profile:
    """One upload: a series, a time, a duration, and rows of values."""

    def __init__(self, labels, metric, types, time_ns, duration_ns, samples, upload_id):
        self.labels, self.metric, self.types = labels, metric, types
        self.time_ns, self.duration_ns, self.samples = time_ns, duration_ns, samples
        self.upload_id = upload_id

    @property
    def time_ms(self):
        return self.time_ns // 10**6

    @property
    def is_whole_second(self):
        return self.time_ns % 10**9 == 0

    @property
    def source(self):
        return tuple(sorted(self.labels.items())), self.metric, self.types

    def rows(self, profile_type):
        """Return the rows of a type, one for all samples with the same stack, labels and span. Values of 0 are omitted."""
        metric, kind, unit = profile_type.split(":")[:3]
        if metric != self.metric or (kind, unit) not in self.types:
            return
        at = self.types.index((kind, unit))
        counts = self.types.index(("samples", "count")) if ("samples", "count") in self.types else None
        merged = collections.OrderedDict()
        for frames, values, tags in self.samples:
            tags = dict(tags)
            span, trace = tags.pop("profile_id", ""), tags.pop("trace_id", "")
            labels = tuple(sorted({**self.labels, **tags}.items()))
            sums = merged.setdefault((labels, tuple(reversed(frames)), span, trace), [0] * len(values))
            for i, value in enumerate(values):
                sums[i] += value
        for (labels, stack, span, trace), sums in merged.items():
            if sums[at]:
                part = (1, sums[counts]) if counts is not None else (PERIOD_NS, sums[at]) if kind == "cpu" else (1, 1)
                yield Row(self, labels, stack, span, trace, sums[at], part)


class Selector:
    """The selection of a query: matchers, span ids, and a time range in ms that includes both ends."""

    def __init__(self, profile_type, from_ms, until_ms, matchers=(), spans=()):
        self.type, self.from_ms, self.until_ms = profile_type, from_ms, until_ms
        self.matchers, self.spans = tuple(matchers), frozenset(spans)

    def text(self):
        return "{" + ",".join(f'{name}{op}"{value}"' for name, op, value in self.matchers) + "}"

    def matches(self, row):
        labels = dict(row.labels)
        for name, op, value in self.matchers:
            own = labels.get(name, row.span if name in ("profile_id", "span_id") else "")
            hit = own == value if "~" not in op else re.fullmatch(value, own) is not None
            if hit == op.startswith("!"):
                return False
        return not self.spans or row.span in self.spans


class Store:
    def __init__(self):
        self.profiles = []

    def add(self, profile):
        self.profiles.append(profile)

    def drop_before(self, time_ns):
        self.profiles = [profile for profile in self.profiles if profile.time_ns >= time_ns]

    def rows(self, selector, profile_type=None):
        for profile in self.profiles:
            if selector.from_ms <= profile.time_ms <= selector.until_ms:
                for row in profile.rows(profile_type or selector.type):
                    if selector.matches(row):
                        yield row

    def stacks(self, selector):
        """Return {stack: (value, samples)}, and the number of profiles with selected rows."""
        values, counts, profiles = collections.defaultdict(int), collections.defaultdict(Count), set()
        for row in self.rows(selector):
            values[row.stack] += row.value
            counts[row.stack].add(row)
            profiles.add(id(row.profile))
        return {stack: (value, counts[stack].total()) for stack, value in values.items()}, len(profiles)

    def samples(self, selector):
        """Return {(labels, span, trace, stack): (value, samples)}."""
        values, counts = collections.defaultdict(int), collections.defaultdict(Count)
        for row in self.rows(selector):
            key = row.labels, row.span, row.trace, row.stack
            values[key] += row.value
            counts[key].add(row)
        return {key: (value, counts[key].total()) for key, value in values.items()}

    def spans(self, selector, by_id):
        """Return {name or id: (total, samples, number of ids)}, and the value outside of spans."""
        values, counts, ids, rest = collections.defaultdict(int), {}, {}, 0
        for row in self.rows(selector):
            name = dict(row.labels).get("span_name")
            if not row.span and (by_id or name is None):
                rest += row.value
                continue
            key = row.span if by_id else name
            values[key] += row.value
            # The server rounds the number of samples for each profile, series and span.
            counts.setdefault(key, Count()).add(row, id(row.profile), row.labels, row.span, row.trace)
            ids.setdefault(key, set()).update({row.span} - {""})
        return {key: (value, counts[key].total(), len(ids[key])) for key, value in values.items()}, rest

    def label_names(self, selector):
        """Return {name: number of values} over all types."""
        found = collections.defaultdict(set)
        for labels in self.series(selector):
            for name, value in labels:
                found[name].add(value)
        return {name: len(values) for name, values in found.items()}

    def series(self, selector, types=TYPES):
        return {row.labels for profile_type in types for row in self.rows(selector, profile_type)}

    def applications(self, selector):
        found = collections.defaultdict(set)
        for profile_type in TYPES:
            for row in self.rows(selector, profile_type):
                found[dict(row.labels)["service_name"]].add(profile_type)
        return {name: sorted(types) for name, types in found.items()}

    def label_values(self, selector, label):
        """Return {value of the label: {profile: sum}}."""
        found = collections.defaultdict(lambda: collections.defaultdict(int))
        for row in self.rows(selector):
            found[dict(row.labels).get(label)][id(row.profile)] += row.value
        return found

    def steps(self, selector, step_ms, group_by):
        """Return {labels: {time: sum}} as SelectSeries does: a point has the sum of the time since the previous point."""
        last = (selector.until_ms - selector.from_ms) // step_ms
        wider = Selector(selector.type, selector.from_ms - step_ms, selector.from_ms + last * step_ms,
                         selector.matchers)
        found = collections.defaultdict(lambda: collections.defaultdict(int))
        for row in self.rows(wider):
            labels = dict(row.labels)
            key = tuple((name, labels[name]) for name in group_by if name in labels)
            after = row.profile.time_ms - selector.from_ms
            step = 0 if after <= 0 else (after - 1) // step_ms + 1
            if step <= last:
                found[key][selector.from_ms + step * step_ms] += row.value
        return {key: dict(points) for key, points in found.items()}

    def timeline(self, selector, step_ms):
        """Return (start, values, covered) as /api/v1/series does."""
        start = selector.from_ms // step_ms * step_ms
        count = (selector.until_ms - start) // step_ms + 1
        end = start + count * step_ms
        values, stretches = [0] * count, set()
        sums = collections.defaultdict(int)  # for each series of a profile, because the server rounds each one separately
        for row in self.rows(selector):
            sums[id(row.profile), row.labels] += row.value
            length = row.profile.duration_ns // 10**6 or SILENT_PROFILE_MS
            stretches.add((row.profile.time_ms, row.profile.time_ms + length, id(row.profile)))
        lengths = {profile: (begin, until) for begin, until, profile in stretches}
        for (profile, _), value in sums.items():
            begin, until = lengths[profile]
            for i in range(max(0, (begin - start) // step_ms), min(count, (until - start) // step_ms + 1)):
                low, high = max(begin, start + i * step_ms), min(until, start + (i + 1) * step_ms)
                if low < high:
                    values[i] += self.part(value, high - begin, until - begin)
                    values[i] -= self.part(value, low - begin, until - begin)
        covered, done = [0] * count, start
        for begin, until, _ in sorted(stretches):
            begin, until = max(begin, done), min(max(until, done), end)
            done = max(done, until)
            while begin < until:
                i = (begin - start) // step_ms
                to = min(until, start + (i + 1) * step_ms)
                covered[i] += to - begin
                begin = to
        return start, values, covered

    @staticmethod
    def part(value, ms, length_ms):
        return value // length_ms * ms + value % length_ms * ms // length_ms

    def gaps(self, selector):
        """Return ([(from, until, profiles)], before, after) as /api/v1/gaps does."""
        times = {id(row.profile): row.profile for row in self.rows(selector)}
        if not times:
            wide = Selector(selector.type, -10**15, 10**15, selector.matchers, selector.spans)
            near = [row.profile.time_ms for row in self.rows(wide)]
            return ([], max((ms for ms in near if ms < selector.from_ms), default=None),
                    min((ms for ms in near if ms > selector.until_ms), default=None))
        ranges, end, reach = [], None, 0
        for profile in sorted(times.values(), key=lambda profile: (profile.time_ms, profile.duration_ns // 10**6)):
            begin, length = profile.time_ms, profile.duration_ns // 10**6
            if end is not None and begin <= end + reach:
                ranges[-1] = (ranges[-1][0], max(end, begin + length), ranges[-1][2] + 1)
            else:
                ranges.append((begin, begin + length, 1))
            end, reach = ranges[-1][1], length // 2 if length else GAP_MS
        return ranges, None, None
