"""The library of library.py as an asyncio service. Many concurrent requests run on one thread. Some
requests run work in other threads, in the context of the request."""
from __future__ import annotations

import asyncio
import contextlib
from collections.abc import AsyncIterator

from opentelemetry.instrumentation.asgi import OpenTelemetryMiddleware
from profiling import begin, end
from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import JSONResponse, Response
from starlette.routing import Route

from library import Library

begin("library-asyncio")
LIBRARY = Library()


async def search(request: Request) -> JSONResponse:
    found = []
    # Search for one word at a time, so that other requests can run in between.
    for word in request.query_params["words"].split():
        found.append(LIBRARY.search([word]))
        await asyncio.sleep(0)
    return JSONResponse(found)


async def compare(request: Request) -> JSONResponse:
    lines = await asyncio.to_thread(LIBRARY.compare, request.query_params["one"], request.query_params["other"])
    return JSONResponse({"lines": len(lines)})


async def pack(request: Request) -> Response:
    return Response(await asyncio.to_thread(LIBRARY.pack, request.query_params["text"]))


def route_of(scope: dict) -> tuple[str, dict]:
    """Return the name and the attributes of a request's span. Both have the route without the
    query."""
    return f"{scope['method']} {scope['path']}", {"http.route": scope["path"]}


@contextlib.asynccontextmanager
async def life(_: Starlette) -> AsyncIterator[None]:
    """Export the remaining spans and samples before a signal ends the process."""
    yield
    await asyncio.to_thread(end)


application = OpenTelemetryMiddleware(
    Starlette(routes=[Route("/search", search), Route("/compare", compare), Route("/pack", pack)], lifespan=life),
    default_span_details=route_of)
