"""Uploads in each format, and the results of queries for them."""
import base64
import gzip
import json
import time
import unittest
import urllib.parse

from messages import Unnamed, fixed, number, part, pprof, push
from serving import Server, main

CPU = "process_cpu:cpu:nanoseconds:cpu:nanoseconds"
SPAN = "9a517183f26a089d"
TRACE = "0af7651916cd43dd8448eb211c80319c"
SAMPLES = ((("leaf", "main"), (30_000_000,), {"span_id": SPAN, "trace_id": TRACE, "span_name": "checkout"}),
           (("other", "main"), (20_000_000,), {}))


def self_times(graph):
    """Return {name: own value} for a flame graph, without values of 0."""
    found = {}
    for level in graph["levels"]:
        values = level["values"] if isinstance(level, dict) else level
        for i in range(0, len(values), 4):
            name, value = graph["names"][int(values[i + 3])], int(values[i + 2])
            if value:
                found[name] = found.get(name, 0) + value
    return found


class Uploads(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.server = cls.enterClassContext(Server()) if hasattr(cls, "enterClassContext") else Server().__enter__()
        cls.now = time.time_ns()
        cls.span = {"start": cls.now // 10**6 - 3_600_000, "end": cls.now // 10**6 + 600_000}

    @classmethod
    def tearDownClass(cls):
        if not hasattr(cls, "enterClassContext"):
            cls.server.__exit__()

    def check(self, service, total, names=("leaf", "main", "other", "total"), kind=CPU):
        selector = '{service_name="%s"}' % service
        got, frames = self.server.total(kind, selector, self.span)
        self.assertEqual(total, got)
        self.assertEqual(sorted(names), sorted(frames))

    def self_times(self, service):
        return self_times(self.server.call("SelectMergeStacktraces", dict(
            self.span, profileTypeID=CPU, labelSelector='{service_name="%s"}' % service))["flamegraph"])

    def upload(self, path, body, headers=()):
        """Send an upload, and check that the server accepts it."""
        status, answer = self.server.send(path, body, headers)
        self.assertEqual((200, b""), (status, answer if status != 200 else b""))

    def ingest(self, name, body, headers=(), **query):
        query = urllib.parse.urlencode({"name": name, "from": str(self.now // 10**9 - 10), **query})
        self.upload("/ingest?" + query, body, headers)

    def profile(self):
        return pprof(SAMPLES, self.now - 10**10)

    def test_push(self):
        for i, (inner, outer) in enumerate(((False, False), (True, False), (False, True), (True, True))):
            body = self.profile()
            body = push({"__name__": "process_cpu", "service_name": f"push-{i}"}, gzip.compress(body) if inner else body)
            headers = {"Content-Type": "application/proto", **({"Content-Encoding": "gzip"} if outer else {})}
            self.upload("/push.v1.PusherService/Push", gzip.compress(body) if outer else body, headers)
            self.check(f"push-{i}", 50_000_000)
        selector = '{service_name="push-0"}'
        self.assertEqual(30_000_000, self.server.total(CPU, selector, self.span, spanSelector=[SPAN])[0])
        self.assertEqual(30_000_000, self.server.total(CPU, selector, self.span, traceIdSelector=[TRACE])[0])
        self.assertEqual({None, "checkout"},
                         {labels.get("span_name") for labels in self.server.series(selector, self.span)})

    def test_push_in_json(self):
        labels = [{"name": "__name__", "value": "process_cpu"}, {"name": "service_name", "value": "push-json"}]
        sample = {"rawProfile": base64.b64encode(self.profile()).decode()}
        message = json.dumps({"series": [{"labels": labels, "samples": [sample]}]}).encode()
        self.upload("/push.v1.PusherService/Push", message, {"Content-Type": "application/json"})
        self.check("push-json", 50_000_000)

    def test_base_urls_with_a_path(self):
        for i, base in enumerate(("/pyroscope", "/base/", "//", "/a/b")):
            body = push({"__name__": "process_cpu", "service_name": f"base-{i}"}, self.profile())
            self.upload(base + "/push.v1.PusherService/Push", body, {"Content-Type": "application/proto"})
            self.check(f"base-{i}", 50_000_000)

    def test_a_retry_counts_once_and_other_content_counts(self):
        body = push({"__name__": "process_cpu", "service_name": "retry"}, self.profile())
        for _ in range(3):
            self.upload("/push.v1.PusherService/Push", body, {"Content-Type": "application/proto"})
        other = push({"__name__": "process_cpu", "service_name": "retry"},
                     pprof(((("leaf",), (1,), {}),), self.now - 10**10))
        self.upload("/push.v1.PusherService/Push", other, {"Content-Type": "application/proto"})
        self.check("retry", 50_000_001)

    def test_uploads_of_one_second_all_count(self):
        """Equal profiles of one second are all counted, because processes that were forked together send them."""
        second = self.now // 10**9 * 10**9 - 10 * 10**9
        for _ in range(4):
            self.ingest("prefork.cpu", b"main;leaf 3\n", format="folded", sampleRate="100")
        self.check("prefork", 4 * 30_000_000, ("leaf", "main", "total"))
        for id in ("", "a", "b", "a"):
            for _ in range(4):
                body = push({"__name__": "process_cpu", "service_name": "second-" + id},
                            pprof(((("leaf",), (1,), {}),), second), id=id)
                self.upload("/push.v1.PusherService/Push", body, {"Content-Type": "application/proto"})
        for id, total in (("", 4), ("a", 1), ("b", 1)):
            self.check("second-" + id, total, ("leaf", "total"))

    def test_frames_without_a_symbol_keep_their_time(self):
        libz, other = (Unnamed("/usr/lib/libz.so.1", address) for address in (0x1000, 0x2000))
        body = pprof((((libz, "work", "main"), (7,), {}), ((other, "work", "main"), (5,), {}), (("work", "main"), (1,), {}),
                      ((Unnamed("", 0), "main"), (2,), {})), self.now - 10**10)
        self.upload("/push.v1.PusherService/Push", push({"__name__": "process_cpu", "service_name": "unnamed-push"}, body),
                    {"Content-Type": "application/proto"})
        self.ingest("unnamed-ingest", body, format="pprof")
        expected = {"[libz.so.1]": 12, "work": 1, "[unknown]": 2}
        for service in ("unnamed-push", "unnamed-ingest"):
            self.assertEqual(expected, self.self_times(service))
        graph = json.loads(self.server.send("/adhocprofiles.v1.AdHocProfileService/Upload", json.dumps(
            {"name": "a.pprof", "profile": base64.b64encode(body).decode()}).encode(),
            {"Content-Type": "application/json"})[1])
        self.assertEqual(expected, self_times(json.loads(graph["flamebearerProfile"])["flamebearer"]))

    def test_a_negative_value_does_not_affect_others(self):
        body = pprof(((("leaf", "main"), (5, -7), {}), (("other", "main"), (-1, -2), {})), self.now - 10**10,
                     (("cpu", "nanoseconds"), ("inuse_space", "bytes")))
        self.upload("/push.v1.PusherService/Push", push({"__name__": "process_cpu", "service_name": "negative"}, body),
                    {"Content-Type": "application/proto"})
        self.check("negative", 5, ("leaf", "main", "total"))
        self.assertIn(b"\nspanprof_discarded_values_total 3\n", self.server.send("/metrics", method="GET")[1])

    def test_ingest_pprof(self):
        self.ingest("raw.cpu{region=eu}", gzip.compress(self.profile()), format="pprof")
        self.check("raw.cpu", 50_000_000)

    def test_ingest_form(self):
        config = b'{"samples":{"display-name":"cpu"}}'
        body = b"".join(
            b'--B\r\nContent-Disposition: form-data; name="%s"; filename="f"\r\n\r\n%s\r\n' % (name, content)
            for name, content in ((b"profile", self.profile()), (b"sample_type_config", config)))
        self.ingest("form", body + b"--B--\r\n", {"Content-Type": "multipart/form-data; boundary=B"})
        self.check("form", 50_000_000)

    def test_ingest_texts(self):
        tree = b"\0\0\1\4main\0\2\4leaf\3\0\5other\2\0"
        trie = b"\0\0\1\5main;\0\2\4leaf\3\0\5other\2\0"
        lines = b"main;leaf\n" * 3 + b"main;other\n" * 2
        for form, body in (("folded", b"main;leaf 3\nmain;other 2\n"), ("lines", lines), ("tree", tree), ("trie", trie)):
            self.ingest(f"text-{form}.cpu", body, format=form, sampleRate="100")
            self.check(f"text-{form}", 50_000_000)

    def test_a_refusal_of_traces_quotes_the_cause(self):
        status, reply = self.server.send("/v1/traces", b'{"a" 1}', {"Content-Type": "application/json"})
        reply = json.loads(reply)
        self.assertEqual((400, 3), (status, reply["code"]))
        self.assertIn("near '1'", reply["message"])
        status, reply = self.server.send("/v1/traces", b'{"a": "b" "c\\d"}', {"Content-Type": "application/json"})
        self.assertIn("near '\"c\\d'", json.loads(reply)["message"])

    def test_ingest_speedscope(self):
        body = json.dumps({
            "$schema": "https://www.speedscope.app/file-format-schema.json",
            "shared": {"frames": [{"name": "main"}, {"name": "leaf"}]},
            "profiles": [{"type": "sampled", "name": "p", "unit": "seconds", "startValue": 0, "endValue": 1,
                          "samples": [[0, 1], [0]], "weights": [0.02, 0.01]}]}).encode()
        self.ingest("speed.cpu", body, format="speedscope")
        self.check("speed", 30_000_000, ("leaf", "main", "total"))

    def test_ingest_texts_of_a_span(self):
        """In the name of an upload, a profile_id that is a span id applies to all samples; other texts stay a label."""
        speedscope = json.dumps({
            "$schema": "https://www.speedscope.app/file-format-schema.json", "shared": {"frames": [{"name": "leaf"}]},
            "profiles": [{"type": "sampled", "name": "", "unit": "seconds", "startValue": 0, "endValue": 1,
                          "samples": [[0]], "weights": [0.03]}]}).encode()
        for form, body in (("folded", b"leaf 3\n"), ("lines", b"leaf\n" * 3), ("speedscope", speedscope)):
            for id in (SPAN, SPAN[::-1], "none"):
                self.ingest(f"span-{form}.cpu{{profile_id={id},region=eu}}", body, format=form, sampleRate="100")
            self.check(f"span-{form}", 90_000_000, ("leaf", "total"))
            selector = f'{{service_name="span-{form}"}}'
            for id in (SPAN, SPAN[::-1]):
                self.assertEqual(30_000_000, self.server.total(CPU, selector, self.span, spanSelector=[id])[0])
            self.assertEqual({None, "none"},
                             {labels.get("profile_id") for labels in self.server.series(selector, self.span)})
            self.assertEqual({"eu"}, {labels["region"] for labels in self.server.series(selector, self.span)})

    def test_refusals_have_advice(self):
        """The answer to a refused upload has the reason. The log has that of the first refusal in a minute."""
        form = b'--B\r\nContent-Disposition: form-data; name="other"; filename="f"\r\n\r\nx\r\n--B--\r\n'
        multipart = {"Content-Type": "multipart/form-data; boundary=B"}
        with Server() as server:
            for query, body, headers, status, words in (
                    ("format=jfr", b"FLR\0", {}, 422, "PYROSCOPE_FORMAT=otlp"),
                    ("format=pprof", b"FLR\0" + bytes(20), {}, 422, "JFR, not pprof"),
                    ("format=pprof", b"main;leaf 3\nmain;other 4\n", {}, 422, "text, not pprof"),
                    ("format=pprof", b'{"a": 1, "b": 2, "c": 3}', {}, 422, "JSON, not pprof"),
                    ("", form, multipart, 400, '"profile"'),
                    ("format=folded", b"main 1", {"Content-Encoding": "zstd"}, 415, "neither gzip nor identity"),
                    ("format=folded", b"main 1", {"Content-Encoding": "gzip"}, 422, "gzip")):
                got, answer = server.send("/ingest?name=a.cpu&" + query, body, headers)
                self.assertEqual(status, got, words)
                self.assertIn(words, json.loads(answer)["message"])
            for path in ("/v1development/profiles", "/v1/traces"):
                got, answer = server.send(path, b"", {"Content-Type": "application/x-protobuf", "Content-Encoding": "zstd"})
                self.assertEqual(415, got)
                self.assertIn(b"neither gzip nor identity", answer)
            self.assertIn("an upload to /ingest was refused: ", server.process.stdout.readline())
        self.ingest("packed.cpu", gzip.compress(b"main;leaf 3\n"), {"Content-Encoding": "gzip"}, format="folded",
                    sampleRate="100")
        self.check("packed", 30_000_000, ("leaf", "main", "total"))

    def otlp(self, service):
        texts = ("", "samples", "count", "cpu", "nanoseconds", "leaf", "main", "other")
        dictionary = part(1, b"") + part(2, b"") + part(3, b"") + part(4, b"") + part(6, b"")
        for i, name in enumerate(("leaf", "main", "other"), 1):
            dictionary += part(2, part(3, number(1, i))) + part(3, number(1, texts.index(name)))
        dictionary += part(4, part(1, bytes.fromhex(TRACE)) + part(2, bytes.fromhex(SPAN)))
        dictionary += b"".join(part(5, text) for text in texts)
        dictionary += part(7, b"") + part(7, part(1, b"\1\2")) + part(7, part(1, b"\3\2"))
        profile = part(1, number(1, 1) + number(2, 2)) + fixed(3, self.now - 10**10)
        profile += part(5, number(1, 3) + number(2, 4)) + number(6, 10_000_000)
        profile += part(2, number(1, 1) + number(3, 1) + part(4, b"\3")) + part(2, number(1, 2) + part(4, b"\2"))
        resource = part(1, part(1, part(1, "service.name") + part(2, part(1, service))))
        return part(1, resource + part(2, part(2, profile))) + part(2, dictionary)

    def test_otlp_profiles(self):
        self.upload("/v1development/profiles", self.otlp("otlp"), {"Content-Type": "application/x-protobuf"})
        self.check("otlp", 50_000_000)
        self.assertEqual(30_000_000, self.server.total(
            CPU, '{service_name="otlp"}', self.span, spanSelector=[SPAN])[0])

    def test_otlp_texts_by_number(self):
        """The Collector's marshaler writes keys and values of attributes as indices into the string
        table."""
        def by_number(texts, service):
            def key_value(key, value):
                return number(3, texts.index(key)) + part(2, number(8, texts.index(value)))

            texts += ["service.name", service, "host.name", "h1", "scope.key", "scope-1", "kind", "red"]
            resource = part(1, part(1, key_value("service.name", service)) + part(1, key_value("host.name", "h1")))
            scope = part(1, part(1, "go.example/profiler") + part(3, key_value("scope.key", "scope-1")))
            table = part(6, b"") + part(6, number(1, texts.index("kind")) + part(2, number(8, texts.index("red"))))
            return resource, scope, table

        texts = ["", "samples", "count", "cpu", "nanoseconds", "leaf"]
        resource, scope, attributes = by_number(texts, "otelcol-ebpf")
        dictionary = part(1, b"") + part(2, b"") + part(2, part(3, number(1, 1))) + part(3, b"") + part(3, number(1, 5))
        dictionary += part(4, b"") + b"".join(part(5, text) for text in texts) + attributes
        dictionary += part(7, b"") + part(7, part(1, b"\1"))
        stamps = part(5, b"".join((self.now - 10**10 + i).to_bytes(8, "little") for i in range(12)))
        profile = part(1, number(1, 1) + number(2, 2)) + fixed(3, self.now - 10**10)
        profile += part(2, number(1, 1) + part(2, b"\1") + stamps)
        profile += part(5, number(1, 3) + number(2, 4)) + number(6, 10_000_000)
        body = part(1, resource + part(2, scope + part(2, profile))) + part(2, dictionary)
        self.upload("/v1development/profiles", body, {"Content-Type": "application/x-protobuf"})
        self.check("otelcol-ebpf", 120_000_000, ("leaf", "total"))

        def pair(key, value):
            return {"keyStrindex": texts.index(key), "value": {"stringValueStrindex": texts.index(value)}}

        body = {"resourceProfiles": [{
            "resource": {"attributes": [pair("service.name", "otelcol-ebpf"), pair("host.name", "h1")]},
            "scopeProfiles": [{"scope": {"name": "go.example/profiler", "attributes": [pair("scope.key", "scope-1")]},
                               "profiles": [{
                "sampleType": {"typeStrindex": 1, "unitStrindex": 2}, "timeUnixNano": str(self.now - 2 * 10**10),
                "samples": [{"stackIndex": 1, "attributeIndices": [1], "values": ["12"]}],
                "periodType": {"typeStrindex": 3, "unitStrindex": 4}, "period": "10000000"}]}]}],
            "dictionary": {"mappingTable": [{}], "locationTable": [{}, {"lines": [{"functionIndex": 1}]}],
                           "functionTable": [{}, {"nameStrindex": 5}], "linkTable": [{}], "stringTable": texts,
                           "attributeTable": [{}, pair("kind", "red")], "stackTable": [{}, {"locationIndices": [1]}]}}
        self.upload("/v1development/profiles", json.dumps(body).encode(), {"Content-Type": "application/json"})
        self.check("otelcol-ebpf", 240_000_000, ("leaf", "total"))
        found = self.server.series('{service_name="otelcol-ebpf"}', self.span)
        self.assertEqual([("h1", "scope-1", "red")],
                         [(labels.get("host.name"), labels.get("scope.key"), labels.get("kind")) for labels in found])

    def test_media_types_in_every_spelling(self):
        for i, given in enumerate(("Application/X-Protobuf", "application/x-protobuf; charset=utf-8", "application/protobuf ;")):
            self.upload("/v1development/profiles", self.otlp(f"spelling-{i}"), {"Content-Type": given})
            self.check(f"spelling-{i}", 50_000_000)
            status, body = self.server.send("/v1/traces", b"", {"Content-Type": given})
            self.assertEqual(415 if i == 2 else 200, status, body)
        for path in ("/v1development/profiles", "/v1/traces"):
            status, body = self.server.send(path, b"{", {"Content-Type": "APPLICATION/JSON;charset=UTF-8"})
            self.assertEqual(400, status, body)
            self.assertEqual(415, self.server.send(path, b"{}", {"Content-Type": "application/jsonx"})[0])
        part = b'--B\r\nContent-Disposition: form-data; name="profile"; filename="f"\r\n\r\n%s\r\n--B--\r\n'
        self.ingest("spelling-form", part % self.profile(), {"Content-Type": "Multipart/Form-Data; Boundary=B"})
        self.check("spelling-form", 50_000_000)
        self.ingest("spelling-trie.cpu", b"\0\0\1\5main;\0\2\4leaf\3\0\5other\2\0",
                    {"Content-Type": "Binary/Octet-Stream+Trie"}, sampleRate="100")
        self.check("spelling-trie", 50_000_000)

    def test_traces(self):
        span = {"traceId": TRACE, "spanId": SPAN, "name": "checkout", "kind": 2,
                "startTimeUnixNano": str(self.now - 10**9), "endTimeUnixNano": str(self.now)}
        message = {"resourceSpans": [{"scopeSpans": [{"spans": [span]}]}]}
        headers = {"Content-Type": "application/json", "Content-Encoding": "gzip"}
        status, body = self.server.send("/v1/traces", gzip.compress(json.dumps(message).encode()), headers)
        self.assertEqual((200, {}), (status, json.loads(body)))
        del span["traceId"]
        status, body = self.server.send("/v1/traces", json.dumps(message).encode(), {"Content-Type": "application/json"})
        self.assertEqual("1", json.loads(body)["partialSuccess"]["rejectedSpans"])
        far = 4_080_000_000 * 10**9  # in 2099: spans of a wrong clock are rejected, others are not
        early = self.now - 7200 * 10**9
        times = [(far, far), (self.now, far), (early - 100 * 10**9, early), (early, self.now)]
        spans = [dict(span, traceId=TRACE, spanId=f"{n:016x}", startTimeUnixNano=str(begin), endTimeUnixNano=str(end))
                 for n, (begin, end) in enumerate(times, 1)]
        message = {"resourceSpans": [{"scopeSpans": [{"spans": spans}]}]}
        status, body = self.server.send("/v1/traces", json.dumps(message).encode(), {"Content-Type": "application/json"})
        self.assertEqual((200, "3"), (status, json.loads(body)["partialSuccess"]["rejectedSpans"]), body)
        self.assertIn("ingestion window", json.loads(body)["partialSuccess"]["errorMessage"])
        status, body = self.server.send("/v1/traces", b"\x0a\x05", {"Content-Type": "application/x-protobuf"})
        self.assertEqual((400, b"\x08\x03"), (status, body[:2]))

    def test_hostile_bodies_are_answered(self):
        bomb = 5 * gzip.compress(bytes(64 << 20))
        proto = {"Content-Type": "application/proto", "Content-Encoding": "gzip"}
        self.assertEqual(413, self.server.send("/push.v1.PusherService/Push", bomb, proto)[0])
        inner = push({"__name__": "a", "service_name": "b"}, bomb)
        self.assertEqual(413, self.server.send("/push.v1.PusherService/Push", inner, {"Content-Type": "application/proto"})[0])
        otlp = {"Content-Type": "application/x-protobuf", "Content-Encoding": "gzip"}
        for path in ("/v1development/profiles", "/v1/traces"):
            self.assertEqual(413, self.server.send(path, bomb, otlp)[0])
        deep = b"[" * (1 << 20)
        self.assertEqual(413, self.server.send("/push.v1.PusherService/Push", deep, {"Content-Type": "application/json"})[0])
        label = push({"__name__": "a", "service_name": "b", "k": "x" * (20 << 20)}, self.profile())
        self.assertEqual(400, self.server.send("/push.v1.PusherService/Push", label, {"Content-Type": "application/proto"})[0])
        self.assertEqual(200, self.server.send("/ready", method="GET")[0])

    def test_a_body_above_the_limit_is_answered_with_413(self):
        body = bytes((64 << 20) + 1)
        for path, kind in (("/push.v1.PusherService/Push", "application/proto"),
                           ("/push.v1.PusherService/Push", "application/json"),
                           ("/ingest?name=shop&format=folded", "text/plain")):
            with self.subTest(path=path, kind=kind):
                status, reply = self.server.send(path, body, {"Content-Type": kind})
                self.assertEqual(413, status, reply)
                self.assertEqual("request body too large", json.loads(reply)["message"])

    def test_limits(self):
        """Profiles beyond Pyroscope's default limits are accepted, unless --limits is given; only
        memory limits them."""
        labels = {f"l{i}": "v" for i in range(40)}
        text = "x" * 5000
        many = pprof([(("leaf", "main"), (1,), {"n": str(i)}) for i in range(16_001)], self.now - 10**10)
        large = pprof([((f"{i:05}" + "f" * 300, "main"), (1,), {}) for i in range(10_000)], self.now - 10**10)
        deep = pprof(((("leaf", *(("main", line) for line in range(3000))), (7,), {}),), self.now - 10**10)
        one = pprof(((("leaf", "main"), (7,), {}),), self.now - 10**10)
        cases = (("labels", labels, one, 7, 400), ("value", {"l": text}, one, 7, 400), ("many", {}, many, 16_001, 400),
                 ("large", {}, large, 10_000, 429), ("deep", {}, deep, 7, 200))

        def send(server, name, labels, profile):
            body = push({"__name__": "process_cpu", "service_name": name, **labels}, gzip.compress(profile))
            return server.send("/push.v1.PusherService/Push", body, {"Content-Type": "application/proto"})

        for name, labels, profile, total, _ in cases:
            self.assertEqual((200, b""), send(self.server, "limits-" + name, labels, profile), name)
            self.assertEqual(total, self.server.total(CPU, '{service_name="limits-%s"}' % name, self.span)[0])
        self.assertEqual({"leaf": 7}, self.self_times("limits-deep"))
        with Server("--limits", "pyroscope") as server:
            for name, labels, profile, _, status in cases:
                self.assertEqual(status, send(server, name, labels, profile)[0], name)
        with Server("--upload-memory", "8M") as server:
            status, body = send(server, "memory", {}, pprof(
                [((f"{i:05}" + "f" * 300, "main"), (1,), {}) for i in range(50_000)], self.now - 10**10))
            self.assertEqual(413, status)
            self.assertIn("--upload-memory", json.loads(body)["message"])
            self.assertEqual(200, send(server, "memory", {}, one)[0])


if __name__ == "__main__":
    main()
