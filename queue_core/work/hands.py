"""What runs handlers: threads here, tasks of an event loop in `task_hands.py`; and the limit on a
handler's time.

What ends is laid down in order for the one who settles; what was never begun can be taken back.
"""

from __future__ import annotations

import logging
import threading
import time
from abc import ABC, abstractmethod
from collections import deque
from collections.abc import Callable
from dataclasses import dataclass
from queue import Empty, SimpleQueue
from typing import Any, TypeAlias

from queue_core import telemetry
from queue_core.errors import InvalidError
from queue_core.numbers import whole
from queue_core.work.task import Attempt, Task
from queue_core.work.verdicts import Verdict, failure, overtime, verdict_of

Handler: TypeAlias = Callable[[Task], Verdict | None]

_log = logging.getLogger(__name__)


@dataclass(slots=True, eq=False)
class InHand:
    """A job in hand: when its handler began (monotonic, s; None before), how long it took, whether
    its verdict has fallen and what that is."""

    task: Attempt
    since: float | None = None
    run_ms: float = 0.0
    decided: bool = False
    verdict: Verdict | None = None

    def begin(self) -> float:
        """Its handler begins now (monotonic, s)."""
        self.since = began = time.monotonic()
        task = self.task
        telemetry.emit(
            "job.start", queue=task.queue, job_id=task.id, group=task.group, attempts=task.attempts
        )
        return began


def must_be_called(handler: object) -> None:
    """`InvalidError` for a handler that cannot be called."""
    if not callable(handler):
        raise InvalidError(f"a handler is a function, got {handler!r}")


class Hands(ABC):
    """`size` places to handle jobs in. `give`, `ended` and `take_back` belong to the one who
    settles; `told` is called where a handler has ended.

    `out` counts the jobs that were given and whose places are not free again.
    """

    def __init__(
        self,
        handler: Callable[[Any], Any],
        size: int,
        timeout_ms: int | None,
        told: Callable[[], None],
    ) -> None:
        must_be_called(handler)
        self.out = 0
        self._handler = handler
        self._size = whole(size, "jobs at once")
        if timeout_ms is not None:
            whole(timeout_ms, "a handler's time in ms")
        self._timeout_ms = timeout_ms
        self._told = told
        self._laid: deque[tuple[InHand, bool, bool]] = deque()

    @abstractmethod
    def start(self) -> None:
        """Begin to handle."""

    @abstractmethod
    def end(self) -> None:
        """Begin nothing more, and let go of what runs."""

    @property
    @abstractmethod
    def unbegun(self) -> bool:
        """Whether jobs lie ready that no handler has begun."""

    @abstractmethod
    def give(self, one: InHand) -> None:
        """Have a job handled as soon as there is a place."""

    @abstractmethod
    def take_back(self) -> list[InHand]:
        """What no handler has begun."""

    def waiting(self) -> bool:
        """Whether something has ended and lies there."""
        return bool(self._laid)

    def ended(self) -> list[InHand]:
        """What has a verdict since the last call, in order."""
        laid, found = self._laid, []
        while laid:
            one, returned, decides = laid.popleft()
            self.out -= returned
            if decides:
                found.append(one)
        return found

    def _lay(self, one: InHand, returned: bool, decides: bool) -> None:
        """Lay down what has happened to a job: its place is free, its verdict has fallen."""
        self._laid.append((one, returned, decides))
        self._told()


class ThreadHands(Hands):
    """Threads, one a place. What runs at the end is left to itself, asked to stop."""

    def __init__(
        self,
        handler: Callable[[Any], Any],
        size: int,
        timeout_ms: int | None,
        told: Callable[[], None],
    ) -> None:
        super().__init__(handler, size, timeout_ms, told)
        self._ready: SimpleQueue[InHand | None] = SimpleQueue()
        self._running: dict[int, InHand] = {}
        self._lock = threading.Lock()
        self._over = threading.Event()

    def start(self) -> None:
        """Begin to handle."""
        for _ in range(self._size):
            threading.Thread(target=self._handle, name="handler", daemon=True).start()
        if self._timeout_ms is not None:
            threading.Thread(
                target=self._limit, args=(self._timeout_ms,), name="handlers' time", daemon=True
            ).start()

    def end(self) -> None:
        """Begin nothing more. What runs cannot be ended from outside."""
        self._over.set()
        self.take_back()
        for _ in range(self._size):
            self._ready.put(None)
        for one in list(self._running.values()):
            one.task.let_go()

    @property
    def unbegun(self) -> bool:
        """Whether jobs lie ready that no handler has begun."""
        return not self._ready.empty()

    def give(self, one: InHand) -> None:
        """Have a job handled as soon as a thread is free."""
        self.out += 1
        self._ready.put(one)

    def take_back(self) -> list[InHand]:
        """What no handler has begun."""
        back: list[InHand] = []
        try:
            while (one := self._ready.get_nowait()) is not None:
                back.append(one)
        except Empty:
            pass
        self.out -= len(back)
        return back

    # ---- the threads -------------------------------------------------------------------------

    def _handle(self) -> None:
        me = threading.get_ident()
        while (one := self._ready.get()) is not None:
            began = one.begin()
            self._running[me] = one
            verdict = self._verdict(one.task)
            ran_ms = (time.monotonic() - began) * 1000
            del self._running[me]
            decides = self._decide(one, verdict, ran_ms)
            if not decides:
                _log.warning("the handler of %r returned after its time", one.task.id)
            self._lay(one, True, decides)

    def _verdict(self, task: Attempt) -> Verdict:
        try:
            return verdict_of(self._handler(task))
        except BaseException as error:  # noqa: BLE001 (whatever a handler raises is its job's failure)
            return failure(error)

    def _decide(self, one: InHand, verdict: Verdict, ran_ms: float) -> bool:
        """Whether the caller is first with a verdict: the handler, or the limit on its time."""
        with self._lock:
            first, one.decided = not one.decided, True
        if first:
            one.verdict, one.run_ms = verdict, ran_ms
        return first

    def _limit(self, timeout_ms: int) -> None:
        """Fail what runs over its time. Whatever begins meanwhile is due later than a whole time
        from now, so that sleeping until the next one is due misses none."""
        wait_s = 0.0
        while not self._over.wait(wait_s):
            now, wait_s = time.monotonic(), timeout_ms / 1000
            for one in list(self._running.values()):
                if one.decided or one.since is None:
                    continue
                left_s = one.since + timeout_ms / 1000 - now
                if left_s > 0:
                    wait_s = min(wait_s, left_s)
                elif self._decide(one, overtime(timeout_ms), (now - one.since) * 1000):
                    one.task.lose("timeout")
                    self._lay(one, False, True)
