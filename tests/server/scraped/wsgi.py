"""A program that works in spans. spanprof.wsgi_app answers its requests to /debug/pprof."""
import socketserver
import sys
import threading
import time
import wsgiref.simple_server

import spanprof
from opentelemetry.sdk.trace import TracerProvider


class Handler(wsgiref.simple_server.WSGIRequestHandler):
    def log_message(self, *_):
        pass


class Server(socketserver.ThreadingMixIn, wsgiref.simple_server.WSGIServer):
    daemon_threads = True


def burn_in_python(seconds):
    until = time.thread_time() + seconds
    while (left := until - time.thread_time()) > 0:
        end = time.monotonic() + left
        while time.monotonic() < end:
            sum(range(500))


def work():
    provider = TracerProvider()
    provider.add_span_processor(spanprof.SpanProcessor())
    tracer = provider.get_tracer("test")
    while True:
        with tracer.start_as_current_span("GET /orders"):
            burn_in_python(0.01)
        time.sleep(0.01)


threading.Thread(target=work, daemon=True).start()
server = wsgiref.simple_server.make_server("127.0.0.1", 0, spanprof.wsgi_app, Server, Handler)
print("127.0.0.1:%d" % server.server_address[1])
sys.stdout.flush()
server.serve_forever()
