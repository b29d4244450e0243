"""A stand-in for Pyroscope's storage, which applies its rules to uploads.

The rules and their order are those recorded from grafana/pyroscope 3fe6a457a
(2026-08-21): size, rate, profile checks, then the labels of the series. A
profile's identity is its series and time_nanos; a second upload with the same
identity replaces nothing and adds nothing.
"""

import threading
import time
import zlib

import protobuf

MAX_PROFILE_BYTES = 4 << 20
BURST_BYTES = 2 << 20
MAX_SAMPLES = 16000
MAX_SAMPLE_LABELS = 100
MAX_LABEL_NAMES = 30
MAX_NAME_BYTES = 1024
MAX_VALUE_BYTES = 2048
OLDEST_S = 3600
NEWEST_S = 600


class Refusal(Exception):
    def __init__(self, status, code, message):
        super().__init__(message)
        self.status, self.code, self.message = status, code, message


def invalid(message):
    return Refusal(400, "invalid_argument", message)


def gunzip(data):
    """Unpacks all members of a gzip file. A member that is cut off is an error.
    """
    out = b""
    while data:
        unpacker = zlib.decompressobj(31)
        try:
            out += unpacker.decompress(data)
        except zlib.error as error:
            raise protobuf.DecodeError(f"gzip: {error}")
        if not unpacker.eof:
            raise protobuf.DecodeError("unexpected EOF")
        data = unpacker.unused_data
    return out


def utf8(text):
    try:
        text.encode("utf-8")
    except UnicodeEncodeError:
        return False
    return True


def check_profile(profile, now_s):
    """Refuses the profiles that Pyroscope refuses."""
    strings = profile["string_table"]
    if not strings or not profile["sample_type"] and not profile["sample"]:
        raise invalid("empty profile")
    if strings[0] != "":
        raise invalid("string 0 should be empty string")
    for text in strings:
        if not utf8(text):
            raise invalid("invalid utf8 string")

    def inside(index, what):
        if not 0 <= (index or 0) < len(strings):
            raise invalid(f"{what} string index out of range")

    for kind in profile["sample_type"]:
        inside(kind["type"], "sample type type")
        if "-" in strings[kind["type"] or 0]:
            raise invalid("sample type contains -")
    for name in ("location", "function", "mapping"):
        for item in profile[name]:
            if not item["id"] and name != "mapping":
                raise invalid(f"{name} id is 0")
    for function in profile["function"]:
        inside(function["name"], "function name")
        inside(function["filename"], "function filename")
        inside(function["system_name"], "function system name")
    for mapping in profile["mapping"]:
        inside(mapping["filename"], "mapping file name")
        inside(mapping["build_id"], "mapping build id")
    if len(profile["sample"]) > MAX_SAMPLES:
        raise invalid("the profile has too many samples")
    for sample in profile["sample"]:
        if len(sample["value"]) != len(profile["sample_type"]):
            raise invalid("sample value length mismatch")
        if len(sample["label"]) > MAX_SAMPLE_LABELS:
            raise invalid("the profile has too many labels in a sample")
        for label in sample["label"]:
            inside(label["key"], "sample label")
            inside(label["str"], "sample label")
            if len(strings[label["str"] or 0].encode()) > MAX_VALUE_BYTES:
                raise invalid("sample label value too long")
    if profile["period_type"] is None and any(
            value <= 0 for s in profile["sample"] for value in s["value"]):
        raise Refusal(500, "unknown", "runtime error: invalid memory address")
    age_s = now_s - (profile["time_nanos"] or 0) / 1e9
    if (profile["time_nanos"] or 0) > 0 and not -NEWEST_S < age_s < OLDEST_S:
        raise invalid("profile with labels is outside of the ingestion window")


def keep_samples(profile):
    """Yields the samples that Pyroscope keeps, as (value, {label: text})."""
    strings = profile["string_table"]
    functions = {f["id"] for f in profile["function"]}
    mappings = {m["id"] for m in profile["mapping"]}
    seen, locations = set(), set()
    for location in profile["location"]:
        lines = [line["function_id"] for line in location["line"]]
        good = (location["id"] not in seen
                and all(f in functions for f in lines)
                and (lines or location["address"])
                and (not location["mapping_id"]
                     or location["mapping_id"] in mappings))
        seen.add(location["id"])
        if good:
            locations.add(location["id"])
    for sample in profile["sample"]:
        if not all(i in locations for i in sample["location_id"]):
            continue
        value = sample["value"][0]
        if value > 0 and sample["location_id"]:
            yield value, {strings[label["key"] or 0]: strings[label["str"] or 0]
                          for label in sample["label"] if label["str"]}


def check_series(labels):
    names = [name for name, _ in labels]
    if not dict(labels).get("__name__"):
        raise invalid("invalid metric name")
    if len(labels) > MAX_LABEL_NAMES:
        raise invalid(f"profile series has {len(labels)} label names; "
                      f"limit {MAX_LABEL_NAMES}")
    if len(set(names)) != len(names):
        raise invalid("duplicate label name")
    for name, value in labels:
        if not name or not utf8(name) or len(name.encode()) > MAX_NAME_BYTES:
            raise invalid("invalid label name")
        if not utf8(value) or len(value.encode()) > MAX_VALUE_BYTES:
            raise invalid("label value too long or no text")
    if dict(labels).get("service_name") == "":
        raise invalid("invalid service name")


class Store:
    def __init__(self, now=time.time):
        self.lock = threading.Lock()
        self.now = now
        self.profiles = {}  # by (labels of the series, time_nanos)
        self.repeats = 0
        self.uploaded_bytes = 0

    def add(self, labels, raw):
        """Checks and keeps one profile, or raises Refusal."""
        try:
            data = gunzip(raw) if raw[:2] == b"\x1f\x8b" else raw
            if not raw:
                raise protobuf.DecodeError("gzip reset: EOF")
            if len(data) > MAX_PROFILE_BYTES:
                raise invalid("uncompressed profile payload size exceeds limit "
                              "of 4.2 MB")
            if len(data) > BURST_BYTES:
                raise Refusal(429, "resource_exhausted",
                              "push rate limit (4.0 MiB) exceeded")
            profile = protobuf.message(data, protobuf.PROFILE)
        except protobuf.DecodeError as error:
            raise Refusal(500, "unknown", str(error))
        check_profile(profile, self.now())
        samples = list(keep_samples(profile))
        check_series(labels)
        for _, own in samples:
            promoted = {n for n in own
                        if n not in ("profile_id", "span_id", "trace_id")}
            if len(promoted | {n for n, _ in labels}) > MAX_LABEL_NAMES:
                raise invalid("profile series has too many label names")
        key = tuple(sorted(labels)), profile["time_nanos"]
        with self.lock:
            self.uploaded_bytes += len(raw)
            if key in self.profiles:
                self.repeats += 1
                return
            self.profiles[key] = {
                "value": sum(value for value, _ in samples),
                "samples": samples,
                "duration_ns": profile["duration_nanos"],
                "strings": profile["string_table"],
                "comments": [profile["string_table"][c]
                             for c in profile["comment"]
                             if 0 <= c < len(profile["string_table"])],
            }

    def push(self, body):
        """Adds the profiles of all series. If some are refused, raises the last
        Refusal at the end."""
        try:
            request = protobuf.message(body, protobuf.PUSH)
        except protobuf.DecodeError as error:
            raise invalid(f"unmarshal message: {error}")
        if not any(series["samples"] for series in request["series"]):
            raise invalid("no profiles received")
        refusal = None
        for series in request["series"]:
            labels = [(p["name"] or "", p["value"] or "")
                      for p in series["labels"]]
            for sample in series["samples"]:
                try:
                    self.add(labels, bytes(sample["raw_profile"] or b""))
                except Refusal as error:
                    refusal = error
        if refusal:
            raise refusal

    def ingest(self, name, spy, raw):
        """Adds one profile of /ingest. `name` is app{label=value,…}; a value
        extends to the next `,` or `}`."""
        app, _, rest = name.partition("{")
        plain = set("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ"
                    "0123456789_.")
        if not app:
            raise invalid("name: service name is required")
        if set(app) - plain - set("-/"):
            raise invalid("name: invalid service name")
        labels = {"__name__": "process_cpu", "service_name": app,
                  "pyroscope_spy": spy, "__delta__": "false"}
        for pair in rest.partition("}")[0].split(","):
            key, _, value = pair.partition("=")
            if set(key) - plain:
                raise invalid("name: invalid label name")
            if key and not key.startswith("__"):
                labels[key.strip()] = value.strip()
        if not raw:
            return
        try:
            self.add(sorted(labels.items()), raw)
        except Refusal as error:
            if error.status in (400, 500):
                raise Refusal(422, "unknown", error.message)
            raise

    def summary(self):
        """Returns the sum of all values, and sums by each label of a series or
        sample."""
        with self.lock:
            by_label, series = {}, set()
            for (labels, _), kept in self.profiles.items():
                series.add(labels)
                for value, own in kept["samples"]:
                    for name, text in {**own, **dict(labels)}.items():
                        sums = by_label.setdefault(name, {})
                        sums[text] = sums.get(text, 0) + value
            return {"profiles": len(self.profiles), "repeats": self.repeats,
                    "value": sum(p["value"] for p in self.profiles.values()),
                    "uploaded_bytes": self.uploaded_bytes,
                    "series": [dict(s) for s in sorted(series)],
                    "times": sorted(t for _, t in self.profiles),
                    "by_label": by_label}
