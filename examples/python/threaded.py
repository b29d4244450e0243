"""The library of library.py as a threaded service: Flask in the workers of gunicorn, which forks
them after it has loaded the application."""
from __future__ import annotations

import spanprof
from flask import Flask, Response, jsonify, request
from opentelemetry.instrumentation.flask import FlaskInstrumentor
from profiling import begin

from library import Library

begin("library-threaded")
LIBRARY = Library()
application = Flask(__name__)
FlaskInstrumentor().instrument_app(application)


@application.get("/search")
def search() -> Response:
    words = request.args["words"].split()
    with spanprof.label(words=len(words)):
        return jsonify(LIBRARY.search(words))


@application.get("/compare")
def compare() -> Response:
    return jsonify(lines=len(LIBRARY.compare(request.args["one"], request.args["other"])))


@application.get("/pack")
def pack() -> Response:
    return Response(LIBRARY.pack(request.args["text"]))
