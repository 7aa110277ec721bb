"""Asking a handler to stop: a token that its host sets and the handler looks at.

Nothing of it is on the wire, so it reaches no other process (protocol part 4.10). A handler that
never looks is never stopped.
"""

from __future__ import annotations

import threading


class Cancelled(Exception):
    """The handler was asked to stop. `reason` is what the one who asked said."""

    def __init__(self, reason: str) -> None:
        self.reason = reason
        super().__init__(reason)


_MAKING = threading.Lock()


class CancelToken:
    """One token for one piece of work. Safe to share by threads."""

    __slots__ = ("_asked", "_event", "_reason")

    def __init__(self) -> None:
        self._asked = False
        self._reason = ""
        self._event: threading.Event | None = None  # most handlers never wait for it

    def cancel(self, reason: str = "") -> None:
        """Ask to stop. Asked again, the last reason stands."""
        self._reason = reason
        self._asked = True
        if self._event is not None:
            self._event.set()

    def check(self) -> str | None:
        """None while the work may go on, else the reason, which may be empty."""
        return self._reason if self._asked else None

    def raise_if_cancelled(self) -> None:
        """Raise `Cancelled` once it was asked."""
        if (reason := self.check()) is not None:
            raise Cancelled(reason)

    def wait(self, timeout_s: float) -> bool:
        """Sleep up to so many seconds, less where it is asked meanwhile; whether it was."""
        with _MAKING:
            event = self._event = self._event or threading.Event()
        return self._asked or event.wait(timeout_s)
