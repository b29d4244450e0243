"""Annotations: events that scripts report, and that the page shows in its timeline."""
import contextlib
import json
import sqlite3
import tempfile
import time
import unittest
import urllib.parse

import serving

PLACE = "/api/v1/annotations"
JSON = {"Content-Type": "application/json"}


def add(server, *, headers=None, **given):
    status, body = server.send(PLACE, json.dumps(given).encode(), {**JSON, **(headers or {})})
    return status, json.loads(body)


def listed(server, **parameters):
    status, body = server.send(PLACE + "?" + urllib.parse.urlencode(parameters), method="GET")
    assert status == 200, body
    return json.loads(body)["annotations"]


class AnnotationsTest(unittest.TestCase):
    def test_annotations_are_added_listed_by_time_and_application_and_removed(self):
        now = time.time_ns() // 10**6
        with serving.Server() as server:
            status, late = add(server, text="deployed 1.4 \"ü\"\n<b>", application="shop", timeMs=now - 1000)
            self.assertEqual((201, now - 1000, "shop"), (status, late["timeMs"], late["application"]))
            status, early = add(server, text="failover", timeMs=now - 2000)
            self.assertEqual((201, None), (status, early["application"]))
            status, other = add(server, text="deployed", application="mail", timeMs=now - 3000)
            self.assertEqual(201, status)
            self.assertEqual([other, early, late], listed(server))
            self.assertEqual([early, late], listed(server, application="shop"))
            self.assertEqual([early], listed(server, **{"from": now - 2000, "until": now - 1001}))
            self.assertEqual((204, b""), server.send(f"{PLACE}/{early['id']}", method="DELETE"))
            self.assertEqual([other, late], listed(server))
            self.assertEqual((201, early), add(server, **early))
            self.assertEqual([other, early, late], listed(server))
            self.assertEqual((204, b""), server.send(f"{PLACE}/{early['id']}", method="DELETE"))
            status, body = server.send(f"{PLACE}/{early['id']}", method="DELETE")
            self.assertEqual(404, status)
            self.assertIn(early["id"], json.loads(body)["detail"])

    def test_the_default_time_is_now(self):
        with serving.Server() as server:
            before = time.time_ns() // 10**6
            status, added = add(server, text="now")
            self.assertEqual(201, status)
            self.assertLessEqual(before, added["timeMs"])
            self.assertLessEqual(added["timeMs"], time.time_ns() // 10**6)

    def test_invalid_annotations_are_refused_with_a_reason_and_not_stored(self):
        with serving.Server() as server:
            for body, reason in (
                    (b"", "not valid JSON"), (b"[]", "JSON object"), (b"{}", "needs a text"),
                    (b'{"text":""}', "text must be a text"), (b'{"text":7}', "text must be a text"),
                    (b'{"text":"a","timeMs":"now"}', "timeMs must be"),
                    (b'{"text":"a","timeMs":1e3}', "timeMs must be"), (b'{"text":"a","timeMs":-1}', "timeMs must be"),
                    (b'{"text":"a","id":7}', "id must have 16"), (b'{"text":"a","id":"5B1E0C9A77D3F240"}', "id must have 16"),
                    (b'{"text":"a","time":1}', 'unknown member "time"'), (b'{"text":"\xff"}', "not valid JSON"),
                    (b'{"text":"a","text":"b"}', "duplicate"), (b'{"text":"a","application":""}', "application must be"),
                    (json.dumps({"text": "x" * 4097}).encode(), "maximum of 4096"),
                    (json.dumps({"text": "x" * 70000}).encode(), "too large")):
                with self.subTest(body[:40]):
                    status, reply = server.send(PLACE, body, JSON)
                    reply = json.loads(reply)
                    self.assertEqual((400, 400), (status, reply["status"]))
                    self.assertIn(reason, reply["detail"])
            self.assertEqual(201, add(server, text="x" * 4096)[0])
            self.assertEqual(1, len(listed(server, **{"from": 0})))
            status, reply = server.send(PLACE + "?from=soon", method="GET")
            self.assertEqual(400, status)

    def test_pages_of_other_sites_cannot_add_or_remove_annotations(self):
        with serving.Server() as server:
            kept = add(server, text="ours")[1]
            for headers in ({"Origin": "http://evil.example"}, {"Sec-Fetch-Site": "cross-site"}):
                self.assertEqual(403, add(server, text="theirs", headers=headers)[0])
                self.assertEqual(403, server.send(f"{PLACE}/{kept['id']}", headers=headers, method="DELETE")[0])
            self.assertEqual([kept], listed(server))

    def test_every_call_needs_the_token(self):
        with serving.Server("--token", "secret") as server:
            self.assertEqual(401, add(server, text="a")[0])
            self.assertEqual(201, add(server, text="a", headers={"Authorization": "Bearer secret"})[0])
            self.assertEqual(401, server.send(PLACE, method="GET")[0])
            self.assertEqual(401, server.send(PLACE + "/1", method="DELETE")[0])

    def test_at_most_ten_thousand_annotations_are_stored(self):
        now = time.time_ns() // 10**6
        with tempfile.TemporaryDirectory() as data:
            with serving.Server("--data", data):
                pass
            with contextlib.closing(sqlite3.connect(data + "/spanprof.db")) as store, store:
                store.executemany("INSERT INTO document VALUES('annotation', ?, ?, ?)",
                                  [(f"{i:016x}", now, b"\0text") for i in range(9999)])
            with serving.Server("--data", data) as server:
                self.assertEqual(201, add(server, text="the last")[0])
                status, reply = add(server, text="one more")
                self.assertEqual(429, status)
                self.assertIn("10000", reply["detail"])
                kept = listed(server)
                self.assertEqual(10000, len(kept))
                server.send(f"{PLACE}/{kept[0]['id']}", method="DELETE")
                self.assertEqual(201, add(server, text="one more")[0])


if __name__ == "__main__":
    serving.main()
