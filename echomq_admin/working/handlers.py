"""From a project's words to the handlers that a worker runs."""

from __future__ import annotations

from collections.abc import Mapping

from django.utils.module_loading import import_string

from queue_core.errors import InvalidError
from queue_core.names import check_queue
from queue_core.work.hands import Handler
from queue_core.work.task_hands import AsyncHandler


def named(words: Mapping[str, str]) -> dict[bytes, Handler | AsyncHandler]:
    """Queue name to dotted path, as queue to handler, a coroutine function or a plain one.
    `InvalidError` says which is wrong."""
    return {check_queue(name): _imported(name, path) for name, path in words.items()}


def pairs(words: list[str]) -> dict[str, str]:
    """`QUEUE=dotted.path` each; `InvalidError` for another form, and for a queue named twice."""
    split = [word.partition("=") for word in words]
    if wrong := [name for name, equals, path in split if not (name and equals and path)]:
        raise InvalidError(f"a handler is given as QUEUE=dotted.path.to.it, not {wrong[0]!r}")
    names = [name for name, _equals, _path in split]
    if twice := [name for name in names if names.count(name) > 1]:
        raise InvalidError(f"{twice[0]} is given two handlers")
    return {name: path for name, _equals, path in split}


def _imported(name: str, path: str) -> Handler | AsyncHandler:
    try:
        found: Handler | AsyncHandler = import_string(path)
    except ImportError as error:
        raise InvalidError(f"the handler of {name} cannot be imported: {error}") from None
    if not callable(found):
        raise InvalidError(f"the handler of {name}, {path}, cannot be called")
    return found
