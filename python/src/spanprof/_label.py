"""`spanprof.label`: labels for the samples of a block or a function."""
from __future__ import annotations

import functools
import inspect
import itertools
from collections.abc import Callable
from types import TracebackType
from typing import Any, TypeVar, cast

from ._binding import native

_Function = TypeVar("_Function", bound=Callable[..., Any])
_numbers = itertools.count(1)


def _label_function(function: Callable[..., Any],
                    block: label) -> Callable[..., Any]:
    @functools.wraps(function)
    def call(*args: Any, **kwargs: Any) -> Any:
        with block:
            return function(*args, **kwargs)

    return call


def _label_coroutine(function: Callable[..., Any],
                     block: label) -> Callable[..., Any]:
    @functools.wraps(function)
    async def call(*args: Any, **kwargs: Any) -> Any:
        with block:
            return await function(*args, **kwargs)

    return call


def _label_generator(function: Callable[..., Any],
                     block: label) -> Callable[..., Any]:
    @functools.wraps(function)
    def call(*args: Any, **kwargs: Any) -> Any:
        generator = function(*args, **kwargs)
        step, value = generator.send, None
        while True:
            with block:
                try:
                    item = step(value)
                except StopIteration as end:
                    return end.value
            try:
                value = yield item
                step = generator.send
            except GeneratorExit:
                with block:
                    generator.close()
                raise
            except BaseException as error:  # the generator decides how to handle it
                step, value = generator.throw, error

    return call


def _label_async_generator(function: Callable[..., Any],
                           block: label) -> Callable[..., Any]:
    @functools.wraps(function)
    async def call(*args: Any, **kwargs: Any) -> Any:
        generator = function(*args, **kwargs)
        step, value = generator.asend, None
        while True:
            with block:
                try:
                    item = await step(value)
                except StopAsyncIteration:
                    return
            try:
                value = yield item
                step = generator.asend
            except GeneratorExit:
                with block:
                    await generator.aclose()
                raise
            except BaseException as error:  # the generator decides how to handle it
                step, value = generator.athrow, error

    return call


class label:
    """Label the samples of a block, or of a function's calls.

    A label belongs to the context, like a `contextvars.ContextVar`: tasks,
    executors and all other copies of the context have it, other tasks on the same
    thread do not. An inner label hides an outer one with the same name.

        with label(action="checkout"):
            ...

        @label(action="checkout")
        async def checkout(): ...

    Generators and asynchronous generators are labelled while they run, not while
    they wait for the next value to be requested.

    The same object can be used in many threads, tasks and generators at the same
    time, and nested in itself.

    Args:
        **labels: values by name. Names and values are converted with `str`. Names
            outside `[A-Za-z_][A-Za-z0-9_.]*` and values over the limits are
            changed and counted, never refused.
    """

    __slots__ = ("_labels", "_number")

    def __init__(self, /, **labels: object) -> None:
        self._labels = labels
        self._number = next(_numbers)

    def __enter__(self) -> label:
        if native is not None:
            native.label_push(self._number, self._labels)
        return self

    def __exit__(self, kind: type[BaseException] | None,
                 error: BaseException | None,
                 traceback: TracebackType | None) -> None:
        if native is not None:
            native.label_pop(self._number)

    def __call__(self, function: _Function) -> _Function:
        """Label every call of a function."""
        call: Callable[..., Any]
        if inspect.iscoroutinefunction(function):
            call = _label_coroutine(function, self)
        elif inspect.isasyncgenfunction(function):
            call = _label_async_generator(function, self)
        elif inspect.isgeneratorfunction(function):
            call = _label_generator(function, self)
        else:
            call = _label_function(function, self)
        return cast(_Function, call)
