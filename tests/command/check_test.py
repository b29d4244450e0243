#!/usr/bin/env python3
"""`spanprof check` with a Pyroscope stand-in whose answers the test chooses."""

import base64
import json
import os
import re
import shutil
import subprocess
import sys
import tempfile
import unittest
import urllib.request

COMMAND = os.environ["SPANPROF_COMMAND"]
SINK = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "sink",
                    "sink.py")
PASSWORD = "hunter2"


class Sink:
    def __init__(self, *arguments):
        self.process = subprocess.Popen([sys.executable, SINK, *arguments],
                                        stdout=subprocess.PIPE, text=True)
        self.port = self.process.stdout.readline().split()[1]
        self.control_port = self.process.stdout.readline().split()[1]

    def close(self):
        self.process.terminate()
        self.process.wait()
        self.process.stdout.close()

    def ask(self, path, value=None):
        data = None if value is None else json.dumps(value).encode()
        url = f"http://127.0.0.1:{self.control_port}{path}"
        with urllib.request.urlopen(url, data, timeout=10) as answer:
            return json.load(answer)


class CheckTest(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.sink = Sink()
        cls.addClassCleanup(cls.sink.close)
        cls.address = f"http://127.0.0.1:{cls.sink.port}"

    def setUp(self):
        self.sink.ask("/control", {"mode": "ok"})

    def check(self, other=None, **environment):
        """Runs the command. Returns the exit status and the result of each check."""
        settings = {"APPLICATION_NAME": "shop", **environment}
        done = subprocess.run(
            [COMMAND, "check"], text=True, capture_output=True, timeout=60,
            env={"PYROSCOPE_" + key if key.isupper() else key: value
                 for key, value in settings.items() if value is not None} | (other or {}))
        self.printed = done.stdout
        self.assertNotIn(PASSWORD, done.stdout + done.stderr)
        checks = {}
        for line in done.stdout.splitlines():
            match = re.match(r"(ok|FAILED|-) +(\w+) +(.*)", line)
            if match:
                checks.setdefault(match[2], (match[1], match[3]))
        return done.returncode, checks

    def test_all_checks_pass(self):
        status, checks = self.check(SERVER_ADDRESS=self.address)
        states = {what: state for what, (state, _) in checks.items()}
        self.assertEqual(states, {
            "options": "ok", "unwinder": "ok", "names": "ok", "signal": "ok",
            "timer": "ok", "server": "ok", "proxy": "-", "TLS": "-",
            "credentials": "ok", "service": "-"}, checks)
        self.assertEqual(status, 0)

    def test_credentials_may_be_a_header(self):
        for headers, kind in (("authorization: Basic abc", "the Authorization "
                               "header"), ("X-Team: a", "no credentials")):
            status, checks = self.check(SERVER_ADDRESS=self.address,
                                      HTTP_HEADERS=headers)
            self.assertEqual(checks["credentials"], ("ok", kind + " accepted"))
            self.assertEqual(status, 0)

    def test_names_of_profiles_and_spans_are_compared(self):
        for environment, state, sentence in (
                ({"APPLICATION_NAME": "shop", "OTEL_SERVICE_NAME": "shop"},
                 "ok", 'profiles and spans have the service name "shop"'),
                ({"APPLICATION_NAME": "shop", "OTEL_SERVICE_NAME": "web"},
                 "FAILED", 'profiles have the service name "shop" (PYROSCOPE_APPLICATION_NAME), '
                 'but spans have "web" (OTEL_SERVICE_NAME), so Grafana finds no '
                 'profiles for spans: '),
                ({"APPLICATION_NAME": "shop",
                  "OTEL_RESOURCE_ATTRIBUTES": "a=b,service.name=we%20b"},
                 "FAILED", 'spans have "we b" (OTEL_RESOURCE_ATTRIBUTES)'),
                ({"APPLICATION_NAME": None, "OTEL_SERVICE_NAME": "web",
                  "OTEL_RESOURCE_ATTRIBUTES": "service.name=shop"},
                 "-", 'the service name is "web" (OTEL_SERVICE_NAME), not "shop"'),
                ({"APPLICATION_NAME": "shop"},
                 "-", 'profiles have the service name "shop"; give the spans the same name')):
            # Names in upper case stand for PYROSCOPE_ variables, except those that start with OTEL_.
            ours = {key: value for key, value in environment.items()
                    if not key.startswith("OTEL_")}
            theirs = {key: value for key, value in environment.items()
                      if key.startswith("OTEL_")}
            status, checks = self.check(other=theirs, **ours)
            self.assertEqual(checks["service"][0], state, checks)
            self.assertIn(sentence, checks["service"][1])
            self.assertEqual(status, int(state == "FAILED"))

    def test_the_data_sources_of_grafana_are_printed(self):
        self.check(SERVER_ADDRESS=self.address, TENANT_ID="team-a",
                   BASIC_AUTH_USER='12"$3', BASIC_AUTH_PASSWORD=PASSWORD,
                   other={"OTEL_RESOURCE_ATTRIBUTES": "service.namespace=eu"})
        self.assertEqual(self.printed[self.printed.index("apiVersion"):], f"""\
apiVersion: 1
datasources:
  - name: Pyroscope
    uid: pyroscope
    type: grafana-pyroscope-datasource
    access: proxy
    url: "{self.address}"
    basicAuth: true
    basicAuthUser: "12\\"$$3"
    jsonData:
      httpHeaderName1: X-Scope-OrgID
    secureJsonData:
      basicAuthPassword: $PYROSCOPE_BASIC_AUTH_PASSWORD
      httpHeaderValue1: $PYROSCOPE_TENANT_ID
  - name: Tempo
    uid: tempo
    type: tempo
    access: proxy
    url: http://tempo:3200 # the server of your traces
    jsonData:
      tracesToProfiles:
        datasourceUid: pyroscope
        profileTypeId: process_cpu:cpu:nanoseconds:cpu:nanoseconds
        tags:
          - {{ key: service.name, value: service_name }}
          - {{ key: service.namespace, value: service_namespace }}
""")
        self.check(SERVER_ADDRESS="http://127.0.0.1:1")
        self.assertIn("\n1 failed\n\n# ", self.printed)
        self.assertTrue(self.printed.endswith("value: service_name }\n"))
        self.check()
        self.assertNotIn("apiVersion", self.printed)

    def test_the_service_name_of_spans_is_the_default(self):
        status, checks = self.check(APPLICATION_NAME=None, SERVER_ADDRESS=self.address)
        self.assertTrue(checks["options"][1].startswith("named after the service of the spans, 100 Hz"), checks)
        self.assertEqual((status, checks["options"][0]), (0, "ok"))

    def test_an_empty_upload_is_sent_and_nothing_is_stored(self):
        self.check(SERVER_ADDRESS=self.address, TENANT_ID="team-a",
                   BASIC_AUTH_USER="me", BASIC_AUTH_PASSWORD=PASSWORD)
        summary = self.sink.ask("/summary")
        self.assertEqual(summary["profiles"], 0)
        self.assertEqual(summary["last"]["bytes"], 0)
        self.assertTrue(summary["last"]["path"].endswith("Service/Push"))
        headers = summary["last"]["headers"]
        self.assertEqual(headers["x-scope-orgid"], "team-a")
        self.assertEqual(
            base64.b64decode(headers["authorization"].split()[1]).decode(),
            "me:" + PASSWORD)

    def test_the_ingest_protocol_is_checked_too(self):
        status, checks = self.check(SERVER_ADDRESS=self.address,
                                  UPLOAD_PROTOCOL="ingest")
        self.assertEqual((status, checks["server"][0]), (0, "ok"), checks)
        summary = self.sink.ask("/summary")
        self.assertEqual((summary["profiles"], summary["last"]["path"]),
                         (0, "/ingest"))

    def test_refused_credentials_are_named(self):
        for refusal in (401, 403):
            self.sink.ask("/control", {"mode": "status", "status": refusal,
                                       "message": "who are you"})
            status, checks = self.check(SERVER_ADDRESS=self.address,
                                      AUTH_TOKEN=PASSWORD)
            self.assertEqual(status, 1)
            self.assertEqual(checks["server"][0], "ok")
            self.assertEqual(checks["credentials"][0], "FAILED")
            self.assertIn(f"a bearer token refused with status {refusal}",
                          checks["credentials"][1])

    def test_credentials_in_an_answer_are_not_printed(self):
        self.sink.ask("/control", {"mode": "echo"})
        status, checks = self.check(SERVER_ADDRESS=self.address,
                                  AUTH_TOKEN=PASSWORD)
        self.assertEqual((status, checks["server"][0]), (1, "FAILED"))

    def test_other_servers_are_recognized(self):
        for mode, sentence in (
                ({"mode": "status", "status": 404}, "no Pyroscope server at this"),
                ({"mode": "status", "status": 405}, "no Pyroscope server at this"),
                ({"mode": "status", "status": 400}, "answers 400: "),
                ({"mode": "status", "status": 503}, "answers 503: "),
                ({"mode": "redirect"}, "answers 301, a redirect"),
                ({"mode": "html"}, "answers 200, but is not a Pyroscope server"),
                ({"mode": "garbage"}, ""),
                ({"mode": "close"}, ""),
                ({"mode": "endless"}, "")):
            self.sink.ask("/control", mode)
            status, checks = self.check(SERVER_ADDRESS=self.address)
            self.assertEqual((status, checks["server"][0]), (1, "FAILED"), mode)
            self.assertIn(sentence, checks["server"][1])
            self.assertEqual(checks["credentials"], ("-", "not tested: no Pyroscope server answered"), mode)

    def test_an_unreachable_server_is_reported(self):
        for address, sentence in (
                ("http://127.0.0.1:1", "no connection"),
                ("http://nobody.invalid", "name was not found")):
            status, checks = self.check(SERVER_ADDRESS=address)
            self.assertEqual((status, checks["server"][0]), (1, "FAILED"))
            self.assertIn(sentence, checks["server"][1])

    def test_the_proxy_is_used(self):
        address = "http://pyroscope.invalid:4040"
        status, checks = self.check(SERVER_ADDRESS=address, PROXY=self.address)
        self.assertEqual(status, 0, checks)
        self.assertEqual(checks["proxy"], ("ok", "configured"))
        self.assertTrue(self.sink.ask("/summary")["last"]["absolute"])
        status, checks = self.check(SERVER_ADDRESS=address,
                                  PROXY=f"http://u:{PASSWORD}@127.0.0.1:1")
        self.assertEqual((status, checks["server"][0]), (1, "FAILED"))
        self.assertEqual(checks["proxy"][0], "-")

    @unittest.skipUnless(shutil.which("openssl"), "no openssl")
    def test_tls_is_verified(self):
        with tempfile.TemporaryDirectory() as home:
            cert, key = home + "/cert.pem", home + "/key.pem"
            subprocess.run(
                ["openssl", "req", "-x509", "-newkey", "rsa:2048", "-nodes",
                 "-days", "2", "-subj", "/CN=localhost", "-addext",
                 "subjectAltName=DNS:localhost", "-keyout", key, "-out", cert],
                check=True, capture_output=True, timeout=60)
            sink = Sink("--cert", cert, "--key", key)
            self.addCleanup(sink.close)
            address = f"https://localhost:{sink.port}"
            status, checks = self.check(SERVER_ADDRESS=address)
            self.assertEqual((status, checks["server"][0]), (1, "FAILED"))
            self.assertIn("not trusted", checks["server"][1])
            status, checks = self.check(SERVER_ADDRESS=address, CA_BUNDLE=cert)
            self.assertEqual(status, 0, checks)
            self.assertEqual(checks["TLS"], ("ok", cert))

    def test_wrong_options_do_not_stop_other_checks(self):
        status, checks = self.check(SAMPLE_RATE="0")
        self.assertEqual(status, 1)
        self.assertIn("sample_rate_hz (from PYROSCOPE_SAMPLE_RATE) is 0",
                      checks["options"][1])
        self.assertEqual(checks["timer"][0], "ok")
        self.assertEqual(checks["server"][0], "-")

    def test_directories_and_notes_are_printed(self):
        with tempfile.TemporaryDirectory() as home:
            status, checks = self.check(OUTPUT_DIRECTORY=home,
                                      PORT="tcp://10.0.0.7:4040")
        self.assertEqual(status, 0)
        self.assertEqual(checks["output"], ("ok", home + " is writable"))
        self.assertEqual(checks["note"],
                         ("-", "unknown variables ignored: PYROSCOPE_PORT"))
        self.assertEqual(checks["server"],
                         ("-", "none configured: profiles are not uploaded"))

    def test_wrong_usage_is_reported(self):
        for arguments, status in ((["x"], 2), (["--x"], 2), (["--help"], 0)):
            done = subprocess.run([COMMAND, "check", *arguments],
                                  capture_output=True, timeout=60)
            self.assertEqual(done.returncode, status)


if __name__ == "__main__":
    unittest.main()
