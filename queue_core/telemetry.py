"""What happens inside this process, for whoever wants to measure it: nothing goes over the wire.

An event has a dotted name such as `job.complete` and its values by name: `duration_ms`, `job_id`,
`queue`. Without a listener an emit costs one look at an empty tuple and says nothing (protocol
part 5.1).
"""

from __future__ import annotations

import logging
import threading
from collections.abc import Callable, Mapping
from typing import Any

Listener = Callable[[str, Mapping[str, Any]], None]

_log = logging.getLogger(__name__)
_lock = threading.Lock()
_listeners: dict[str, tuple[Listener, ...]] = {}


def attach(event: str, listener: Listener) -> Callable[[], None]:
    """Call `listener(event, values)` at each such event, in the thread where it happens. Answers
    what detaches it again; detaching twice does no harm."""
    with _lock:
        _listeners[event] = (*_listeners.get(event, ()), listener)

    def detach() -> None:
        with _lock:
            left = list(_listeners.get(event, ()))
            if listener in left:
                left.remove(listener)
            if left:
                _listeners[event] = tuple(left)
            else:
                _listeners.pop(event, None)

    return detach


def heard(event: str) -> bool:
    """Whether anybody listens to it: values that take work need not be made for nobody."""
    return event in _listeners


def emit(event: str, **values: Any) -> None:
    """Tell the listeners. One that raises is logged and stops neither the others nor the caller,
    also one that asks for the end of the program: here it would end a handler's thread alone."""
    for listener in _listeners.get(event, ()):
        try:
            listener(event, values)
        except (Exception, SystemExit):  # noqa: BLE001 (whatever it raises is its own affair)
            _log.exception("a listener of %s failed", event)
