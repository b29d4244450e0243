"""WSGI and ASGI applications that answer `/debug/pprof/profile?seconds=N` as Go
programs do, with a profile of this process over the next N seconds."""
from __future__ import annotations

import asyncio
import threading
import time
import urllib.parse
from collections.abc import Awaitable, Callable, Iterable, Mapping, MutableMapping
from typing import Any

from . import _session
from ._binding import Error, native

# The default duration, as in Go.
_SECONDS = 30
_SECONDS_MAX = 300
_PATHS = ("", "/", "/profile", "/debug/pprof/profile")
_REASONS = {200: "OK", 400: "Bad Request", 404: "Not Found", 405: "Method Not Allowed", 503: "Service Unavailable"}

_Answer = tuple[int, list[tuple[str, str]], bytes]


def _text(status: int, sentence: str, *headers: tuple[str, str]) -> _Answer:
    return status, [("Content-Type", "text/plain; charset=utf-8"), ("X-Content-Type-Options", "nosniff"),
                    *headers], f"{sentence}\n".encode()


def _profile(recorded: tuple[bytes, int, str | None]) -> _Answer:
    return 200, [("Content-Type", "application/octet-stream"), ("Cache-Control", "no-store"),
                 ("Content-Disposition", 'attachment; filename="profile"'),
                 ("X-Content-Type-Options", "nosniff")], recorded[0]


def _unavailable(error: Error) -> _Answer:
    return _text(503, f"this process cannot be profiled: {error}")


def _seconds(method: str, path: str, query: str) -> int | _Answer:
    """Return the duration that a request asks for, or the answer that refuses the
    request."""
    if path not in _PATHS:
        return _text(404, "there is no profile at this path")
    if method != "GET":
        return _text(405, "only GET is allowed", ("Allow", "GET"))
    given = dict(urllib.parse.parse_qsl(query)).get("seconds", str(_SECONDS))
    if given.isascii() and given.isdigit() and len(given) < 10 and 1 <= int(given) <= _SECONDS_MAX:
        return int(given)
    return _text(400, f"seconds must be a whole number from 1 to {_SECONDS_MAX}")


def _begin(seconds: int) -> Any:
    if native is None:
        raise Error(_session.unavailable_reason() or "")
    _session.follow_threads()
    return native.recording_begin(False, None, None, seconds * 1000)


def wsgi_app(environ: Mapping[str, Any], start_response: Callable[..., Any]) -> Iterable[bytes]:
    """A WSGI application that answers `/debug/pprof/profile?seconds=N` like a Go
    program, with gzip-compressed pprof: for `spanprof serve --scrape`, Grafana
    Alloy, `go tool pprof` and other tools that fetch profiles.

    It works with and without a running session, and does not change the session's
    profiles. Each request occupies a thread or process of the server for N seconds.

    Everyone who can reach this application sees names of functions, files and spans,
    and can start profiling: protect it like your other operational endpoints.
    """
    seconds = _seconds(environ["REQUEST_METHOD"], environ.get("PATH_INFO", ""), environ.get("QUERY_STRING", ""))
    if isinstance(seconds, int):
        try:
            recording = _begin(seconds)
            time.sleep(seconds)
            status, headers, body = _profile(native.recording_end(recording, 0))
        except Error as error:
            status, headers, body = _unavailable(error)
    else:
        status, headers, body = seconds
    start_response(f"{status} {_REASONS[status]}", [*headers, ("Content-Length", str(len(body)))])
    return [body]


async def _in_thread(function: Callable[..., Any], *arguments: Any) -> Any:
    return await asyncio.get_running_loop().run_in_executor(None, function, *arguments)


async def _disconnected(receive: Callable[[], Awaitable[Mapping[str, Any]]]) -> None:
    while (await receive())["type"] != "http.disconnect":
        pass


async def _wait(seconds: float, receive: Callable[[], Awaitable[Mapping[str, Any]]]) -> bool:
    """Wait for this time, or until the client disconnects. Return whether it is still
    connected."""
    disconnected = asyncio.ensure_future(_disconnected(receive))
    try:
        return not (await asyncio.wait({disconnected}, timeout=seconds))[0]
    finally:
        disconnected.cancel()


def _discard(recordings: list[Any]) -> None:
    """Discard the recordings on another thread, so that the event loop does not wait
    for their end."""
    threading.Thread(target=recordings.clear, name="spanprof", daemon=True).start()


async def _record(seconds: int, receive: Callable[[], Awaitable[Mapping[str, Any]]]) -> _Answer | None:
    """Record a profile and return the answer, or None if the client has
    disconnected."""
    recordings: list[Any] = []
    try:
        await _in_thread(lambda: recordings.append(_begin(seconds)))
        if not await _wait(seconds, receive):
            return None
        return _profile(await _in_thread(native.recording_end, recordings.pop(), 0))
    except Error as error:
        return _unavailable(error)
    finally:
        if recordings:
            _discard(recordings)


async def _lifespan(receive: Callable[[], Awaitable[Mapping[str, Any]]],
                    send: Callable[[MutableMapping[str, Any]], Awaitable[Any]]) -> None:
    """Answer the server's lifespan events, which it sends if this is its only
    application."""
    while True:
        kind = (await receive())["type"]
        await send({"type": f"{kind}.complete"})
        if kind == "lifespan.shutdown":
            return


async def asgi_app(scope: Mapping[str, Any], receive: Callable[[], Awaitable[Mapping[str, Any]]],
                   send: Callable[[MutableMapping[str, Any]], Awaitable[Any]]) -> None:
    """An ASGI application that answers as `wsgi_app` does. It does not block the event
    loop of asyncio during the N seconds, and stops profiling when the client
    disconnects."""
    if scope["type"] == "lifespan":
        return await _lifespan(receive, send)
    if scope["type"] != "http":
        await send({"type": "websocket.close"})
        return
    path = scope["path"]
    root = scope.get("root_path", "")
    if root and path.startswith(root):
        path = path[len(root):]
    seconds = _seconds(scope["method"], path, scope.get("query_string", b"").decode("latin-1"))
    answer = await _record(seconds, receive) if isinstance(seconds, int) else seconds
    if answer is None:
        return
    status, headers, body = answer
    fields = [(name.lower().encode(), value.encode()) for name, value in headers]
    await send({"type": "http.response.start", "status": status,
                "headers": [*fields, (b"content-length", str(len(body)).encode())]})
    await send({"type": "http.response.body", "body": body})
