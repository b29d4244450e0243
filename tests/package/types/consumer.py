"""A program that uses the whole public interface. It must have no error by the
package's type hints."""
from __future__ import annotations

from collections.abc import AsyncIterator, Iterator

import pyroscope
import spanprof
from opentelemetry.sdk.trace import TracerProvider
from pyroscope.otel import PyroscopeSpanProcessor


@spanprof.label(action="total")
def total(prices: list[int]) -> int:
    return sum(prices)


@spanprof.label(action="each")
def each(prices: list[int]) -> Iterator[int]:
    yield from prices


@spanprof.label(action="later")
async def later(prices: list[int]) -> AsyncIterator[int]:
    for price in prices:
        yield price


async def checkout() -> int:
    with spanprof.label(controller="carts", retries=3):
        return total([price async for price in later(list(each([1, 2])))])


@spanprof.profile(native_frames="all")
def nightly() -> int:
    with spanprof.profile("block.pb.gz", rows=5, show=False) as taken:
        counted = total([1, 2])
    seconds: list[float] = [row.self_s for row in taken.top(3)]
    names: list[str] = [row.name for row in taken.spans()]
    taken.save("again.pb.gz")
    return counted + len(seconds) + len(names)


def serve(environ: dict[str, object]) -> bytes:
    return b"".join(spanprof.wsgi_app(environ, lambda status, headers: None))


async def serve_asgi(scope: dict[str, object]) -> None:
    async def receive() -> dict[str, object]:
        return {"type": "http.disconnect"}

    async def send(message: object) -> None:
        print(message)

    await spanprof.asgi_app(scope, receive, send)


version: str = spanprof.__version__
if spanprof.start(application_name="shop", labels={"region": "eu"},
                  resource_labels=["service.version"], sample_rate_hz=100, upload_interval_ms=5000, log_level="warn"):
    flushed: bool = spanprof.flush(timeout=1.5)
    taken: int = spanprof.stats()["samples_taken"]
elif (reason := spanprof.unavailable_reason()) is not None:
    print(reason.upper(), spanprof.available(), spanprof.running())
spanprof.stop(timeout=0.5)

configured: bool = pyroscope.configure(
    application_name="rideshare-python", server_address="http://localhost:4040",
    tags={"hostname": "a"}, line_no=pyroscope.LineNo.First, sample_rate=100)
with pyroscope.tag_wrapper({"vehicle": "bike"}):
    pyroscope.add_thread_tag("a", "b")
    pyroscope.remove_thread_tag(1, "a", "b")
pyroscope.shutdown()

provider = TracerProvider()
provider.add_span_processor(PyroscopeSpanProcessor())
provider.add_span_processor(spanprof.SpanProcessor(
    app_name="shop", server_address="http://localhost:4040", root_span_only=False,
    add_url=True, baseline_labels={"region": "eu"}))
