"""Loops over streams: a consumer of a group, and retention (protocol part 7.4)."""

from __future__ import annotations

import logging
import time
from collections.abc import Callable, Sequence
from typing import Protocol, TypeAlias

from queue_core.errors import EchoMQError, InvalidError
from queue_core.keys import queue
from queue_core.names import as_bytes
from queue_core.numbers import seconds, whole
from queue_core.quoting import quoted
from queue_core.verbs import streams
from queue_core.watches import Watches
from queue_core.work.flags import Flag, Once
from queue_core.work.hands import must_be_called
from queue_core.work.records import (
    ACK_S,
    BEAT_MS,
    DRAIN_S,
    IDLE_MS,
    MAX_DELIVERIES,
    PAGE,
    Asking,
    Group,
    Keep,
    Pages,
    Record,
    fresh_consumer,
    hold,
    settle,
    trim_each,
)
from queue_core.work.task import Runs
from queue_core.work.task_hands import is_awaited
from queue_core.work.trouble import Trouble, Troubled
from queue_core.work.verdicts import Verdict, failure, verdict_of

RETAIN_MS = 1_000
"""Between two rounds of retention."""

RecordHandler: TypeAlias = Callable[[Record], Verdict | None]

_log = logging.getLogger(__name__)


class Serves(Runs, Watches, Protocol):
    """A blocking bus that gives watches."""


class StreamConsumer(Troubled):
    """Hands the records of a stream to `handler`, one after the other, until `stop`.

    The consumers of one `group` share its records; each is handed to one of them, and again where
    that one fails or dies. A new group begins with what comes, or `from_start` with all that is
    there. `consumer` names this one: a name that lasts gets at its next start what it did not
    acknowledge, first; by default it is fresh, and others take that over once it lay idle for
    `idle_ms`. So a handler must not take that long for one record.

    None or `Done` acknowledges; `Dead` gives a record up at once; `Failed`, `Later` and what is
    raised leave it, to be handed out again after `idle_ms`. After `max_deliveries` it is parked
    beside the stream (`verbs.streams.parked`), so that none stands in the way of others.

    `beat_ms` is how often what others left is looked for, and new records where the server does
    not tell of changes. After `stop` what is in hand is worked off, for `drain_s` at most.
    """

    def __init__(
        self,
        bus: Serves,
        name: bytes | str,
        stream: bytes | str,
        group: bytes | str,
        handler: RecordHandler,
        *,
        consumer: bytes | str = b"",
        from_start: bool = False,
        size: int = PAGE,
        beat_ms: int = BEAT_MS,
        idle_ms: int = IDLE_MS,
        max_deliveries: int = MAX_DELIVERIES,
        drain_s: float = DRAIN_S,
    ) -> None:
        must_be_called(handler)
        if is_awaited(handler):
            raise InvalidError("a coroutine function is for an AsyncStreamConsumer")
        who = as_bytes(consumer) or fresh_consumer()
        words = (queue(name), as_bytes(stream), as_bytes(group), who)
        self.group = Group(*words, from_start, size, beat_ms, idle_ms, max_deliveries)
        self._bus = bus
        self._handler = handler
        self._drain_s = seconds(drain_s, "a drain in s")
        self._trouble = Trouble(f"stream {quoted(self.group.stream)}", _log)
        self._once = Once()
        self._watch = bus.watch(self.group.q.stream(self.group.stream))
        self._stopping = Flag()
        self._stop_by: float | None = None
        self._unsettled: list[tuple[Record, Verdict]] = []

    def stop(self) -> None:
        """Take nothing more; `run` returns when what is in hand is worked off."""
        self._stop_by = time.monotonic() + self._drain_s
        self._stopping.set()
        self._watch.nudge()

    def run(self) -> None:
        """Serve until `stop`; trouble with the server is waited out."""
        self._once.begin()
        pages, trouble = Pages(self.group), self._trouble
        asking = Asking(self.group)
        try:
            while not self._stopping.is_set():
                now = time.monotonic()
                fresh = asking.due(now)
                try:
                    if fresh and asking.looks:
                        self._watch.look(self.group.look())
                    records = self._bus.run(pages.next(now, fresh))
                    self._work(records)
                except EchoMQError as fault:
                    asking.heard()
                    self._stopping.wait(trouble.met(fault))
                    continue
                trouble.over()
                if fresh:
                    asking.asked(now, len(records), self._watch.tracks)
                if not records and self._rest():
                    asking.heard()
            self._leave()
        finally:
            self._watch.close()

    def _work(self, records: list[Record]) -> None:
        """Hand a page to the handler, and settle it bit by bit."""
        self._settle()
        held_at = settled_at = time.monotonic()
        lost: set[bytes] = set()
        for at, one in enumerate(records):
            now = time.monotonic()
            if self._stop_by is not None and now > self._stop_by:
                break
            if now - held_at > self.group.idle_ms / 3000:
                held_at, lost = now, self._bus.run(hold(self.group, records[at:]))
            if one.place in lost:
                continue
            try:
                verdict = verdict_of(self._handler(one))
            except BaseException as error:  # noqa: BLE001 (whatever a handler raises is its record's failure)
                verdict = failure(error)
            self._unsettled.append((one, verdict))
            if time.monotonic() - settled_at > ACK_S:
                self._settle()
                settled_at = time.monotonic()
        self._settle()

    def _settle(self) -> None:
        if self._unsettled:
            for one in self._bus.run(settle(self.group, self._unsettled)):
                _log.error("%r of %r was given up", one.place, self.group.stream)
            self._unsettled = []

    def _rest(self) -> bool:
        """Wait a beat, or until something changes; whether something did."""
        try:
            return bool(self._watch.wait(self.group.beat_ms / 1000))
        except EchoMQError as fault:
            _log.info("looking again: %s", fault)
            return True

    def _leave(self) -> None:
        group = self.group
        try:
            self._settle()
            self._bus.run(streams.leave(group.q, group.stream, group.name, group.consumer))
        except EchoMQError as fault:
            _log.info("the group was not told of the end: %s", fault)


class Retention(Troubled):
    """Trims streams by their policies until `stop`, every `every_ms`. Several do no harm."""

    def __init__(self, bus: Runs, keeps: Sequence[Keep], every_ms: int = RETAIN_MS) -> None:
        self._bus = bus
        self._keeps = list(keeps)
        self._every_s = whole(every_ms, "a round in ms") / 1000
        self._trouble = Trouble("retention", _log)
        self._stopping = Flag()

    def stop(self) -> None:
        """End after the round under way."""
        self._stopping.set()

    def run(self) -> None:
        """Trim until `stop`; trouble with the server is waited out."""
        trouble, wait_s = self._trouble, 0.0
        while not self._stopping.wait(wait_s):
            if fault := self._bus.run(trim_each(self._keeps)):
                wait_s = max(self._every_s, trouble.met(fault))
            else:
                trouble.over()
                wait_s = self._every_s
