"""The observer of one bus: what is watched is read once a tick, in one round trip.

However many look, a queue is sampled once; a tick begins only when the one before has ended, so
a slow bus stretches the tick and its numbers grow older in sight. Nothing is read while nobody
looks. The connection observes: it can write nothing.
"""

from __future__ import annotations

import asyncio
import contextlib
import logging
import random
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any

from echomq_admin.live.frames import View
from echomq_admin.live.page import Page, Watch
from echomq_admin.live.scene import Scene, host_ms
from queue_core.async_bus import AsyncBus, async_connect
from queue_core.errors import (
    EchoMQError,
    FenceError,
    ForbiddenFault,
    UnavailableError,
    UnknownOutcomeError,
)
from queue_core.keys import found
from queue_core.plans import Plan
from queue_core.reads.discovery import Step, discover
from queue_core.reads.health import Health, health
from queue_core.reads.sample import sample
from queue_core.reads.snapshot import Snapshot

log = logging.getLogger(__name__)

TICK_MS = 250
CALM_MS = 600
"""A bus on which nothing has moved for `CALM_AFTER_MS` is asked less often; a word on its
events channel, or somebody who joins, brings the next tick at once."""
CALM_AFTER_MS = 3_000

GLANCE_MS = 2_000
"""How old a queue of the rail may grow, and the tick of a bus nobody's page is of."""

GLANCED, WALLED = 20, 60
"""Queues sampled a tick beyond the watched: for the rail, and for the wall of all queues."""

HEALTH_MS = 5_000
SCAN_REST_MS = 2_000
"""Between two passes of the search for queues, for the rail; a wall is searched for in every
tick, so that what appears shows within a second."""

RETRY_MS = (500, 5_000)
COMMAND_MS = 10_000
"""Long enough for a slow bus to be shown as slow, not as gone."""

FIRST_S = 2.0
"""How long a first paint waits for the bus before it shows what is known."""


@dataclass(slots=True)
class _Asked:
    """What one tick asks: plans, and to whom each result belongs."""

    plans: list[Plan[Any]]
    queues: list[bytes]
    views: list[tuple[View, int]]


class Observer:
    """Reads one bus for this process. Every method runs on the live loop."""

    def __init__(self, scene: Scene, url: str) -> None:
        self.scene = scene
        self._url = url
        self._bus: AsyncBus | None = None
        self._turn = asyncio.Lock()
        self._stirred = asyncio.Event()
        self._moved_ms = 0
        self._health_ms = 0
        self._rested_ms = 0
        self._scanning: dict[str, bytes] = {}
        self._heard: frozenset[bytes] = frozenset()
        self._listening: asyncio.Task[None] | None = None
        self._asking: set[asyncio.Task[None]] = set()

    async def close(self) -> None:
        """Give up the connection."""
        await self.hush()
        for asking in tuple(self._asking):
            asking.cancel()
        if self._bus is not None:
            bus, self._bus = self._bus, None
            await bus.close()

    def stir(self) -> None:
        """Something happened: the next tick need not wait out its pause."""
        self._stirred.set()

    def moved(self) -> None:
        """A tick changed what somebody sees: stay quick."""
        self._moved_ms = host_ms()

    # ---- one tick --------------------------------------------------------------------------

    async def tick(self, views: Sequence[View], walled: bool) -> None:
        """Read what these views and the rail need, in one round trip; in one more the queues
        that a wall meets for the first time."""
        async with self._turn:
            await self._read(views, walled)

    async def first(self, page: Page, watch: Watch, walled: bool) -> View:
        """A view for one first paint. A bus that lets it wait is shown as it is known; what was
        asked goes on, and what comes of it is there for the next."""
        view = View(page, watch)
        known = self.scene.status
        if known.next_try_ms is None or self.scene.now_ms >= known.next_try_ms:
            asking = asyncio.create_task(self._first(view, walled))
            self._asking.add(asking)
            asking.add_done_callback(self._asking.discard)
            await asyncio.wait({asking}, timeout=FIRST_S)
            if asking.done():
                asking.result()
        if view.results is None:
            view.results = self._unanswered(view)
        return view

    async def _first(self, view: View, walled: bool) -> None:
        async with self._turn:
            await self._read([view], walled)

    async def _read(self, views: Sequence[View], walled: bool) -> None:
        known = frozenset(self.scene.queues)
        asked = self._ask(self._chosen(views, walled))
        for view in views:
            self._look(asked, view)
        await self._run(asked, 0 if walled else SCAN_REST_MS)
        met = [queue for queue in self.scene.queues if queue not in known] if walled else []
        if met:
            await self._run(self._ask(met[:WALLED]))

    def _unanswered(self, view: View) -> list[EchoMQError]:
        why = self.scene.status.why or "The bus has not answered yet."
        plans = view.page.look(view.watch, self.scene)
        return [UnavailableError("WAITING", why) for _ in plans]

    def _chosen(self, views: Sequence[View], walled: bool) -> list[bytes]:
        """The watched queues, then those that have gone longest without a look."""
        scene, now = self.scene, self.scene.now_ms
        watched = dict.fromkeys(view.watch.queue for view in views if view.page.of_queue)
        room = WALLED if walled else GLANCED
        limit = now if walled else now - GLANCE_MS

        def at(queue: bytes) -> int:
            seen = scene.sample(queue)
            return seen.at_ms if seen is not None else 0

        others = sorted((q for q in scene.queues if q not in watched and at(q) <= limit), key=at)
        return [*watched, *others[:room]]

    def _ask(self, queues: list[bytes]) -> _Asked:
        return _Asked([sample(found(queue)) for queue in queues], queues, [])

    def _look(self, asked: _Asked, view: View) -> None:
        plans = view.page.look(view.watch, self.scene)
        asked.views.append((view, len(plans)))
        asked.plans.extend(plans)

    async def _run(self, asked: _Asked, rest_ms: int | None = None) -> None:
        """One round trip, with the upkeep unless `rest_ms`, the pause between two searches, is
        None."""
        began = host_ms()
        refused = await self._connect()
        extra = []
        if not refused and rest_ms is not None:
            extra = self._upkeep(rest_ms, timeless=not asked.queues)
        plans = asked.plans + [plan for _, plan in extra]
        results = [refused] if refused else await self._answers(plans)
        took = host_ms() - began
        # A page's plan may answer from what it knows; these cannot without the bus.
        proofs = [*results[: len(asked.queues)], *results[len(asked.plans) :]]
        if self._failed(results, proofs):
            fault = next(result for result in results if isinstance(result, EchoMQError))
            for view, size in asked.views:
                view.results = view.results or [fault] * size
            return
        self._note(asked, results, began, took)
        self._note_upkeep(extra, results[len(asked.plans) :], began, took)

    async def _connect(self) -> EchoMQError | None:
        """Have a bus, or say why there is none."""
        if self._bus is None:
            try:
                self._bus = await async_connect(
                    self._url, observe=True, command_timeout_ms=COMMAND_MS
                )
            except EchoMQError as fault:
                return fault
        return None

    async def _answers(self, plans: list[Plan[Any]]) -> list[Any]:
        assert self._bus is not None
        try:
            return await self._bus.run_all(plans)
        except EchoMQError as fault:
            return [fault] * len(plans)

    # ---- what came back --------------------------------------------------------------------

    def _failed(self, results: list[Any], proofs: list[Any]) -> bool:
        """Note a bus that gave no answer at all, to judge by `proofs`; whether it was so."""
        faults = [result for result in results if isinstance(result, EchoMQError)]
        down = [f for f in faults if isinstance(f, (UnavailableError, UnknownOutcomeError))]
        fence = next((f for f in faults if isinstance(f, FenceError)), None)
        scene = self.scene
        if fence is not None:
            scene.note_failure("fence", f"{fence}.", self._next_try())
        elif len(faults) == len(results) and all(isinstance(f, ForbiddenFault) for f in faults):
            scene.note_failure("forbidden", f"{faults[0]}.", self._next_try())
        elif down and all(isinstance(proof, EchoMQError) for proof in proofs):
            scene.note_failure("unreachable", f"{_reason(down[0])}.", self._next_try())
        else:
            scene.partial = (
                f"{len(down)} of {len(results)} reads went unanswered: {_reason(down[0])}."
                if down
                else ""
            )
            return False
        return True

    def _next_try(self) -> int:
        low, high = RETRY_MS
        pause = min(high, low * 2 ** min(self.scene.status.tries, 8))
        return self.scene.now_ms + round(pause * random.uniform(0.8, 1.2))  # noqa: S311

    def _note(self, asked: _Asked, results: list[Any], began: int, took: int) -> None:
        scene = self.scene
        for queue, result in zip(asked.queues, results, strict=False):
            if isinstance(result, Snapshot):
                scene.note_sample(queue, result)
                scene.note_missing("sample", "")
                scene.note_clock(result.at_ms, began, began + took)
            elif _refused(result):
                scene.note_missing("sample", f"A look at a queue was refused: {result}.")
        scene.note_answer(took)
        at = len(asked.queues)
        for view, size in asked.views:
            view.results = results[at : at + size]
            at += size

    def _upkeep(self, rest_ms: int, timeless: bool) -> list[tuple[str | None, Plan[Any]]]:
        """Health now and then, or where no sample tells the time; and the next step of the
        search for queues."""
        now = host_ms()
        extra: list[tuple[str | None, Plan[Any]]] = []
        if timeless or now - self._health_ms >= HEALTH_MS:
            self._health_ms = now
            extra.append((None, health()))
        nodes = self._bus.primaries() if self._bus is not None else ()
        self.scene.primaries = len(nodes)
        if not self._scanning and now - self._rested_ms >= rest_ms:
            self._scanning = dict.fromkeys(nodes, b"0")
        self._scanning = {node: at for node, at in self._scanning.items() if node in nodes}
        extra += [(node, discover(at, node)) for node, at in self._scanning.items()]
        return extra

    def _note_upkeep(
        self,
        extra: Iterable[tuple[str | None, Plan[Any]]],
        results: Sequence[Any],
        began: int,
        took: int,
    ) -> None:
        scene = self.scene
        for (node, _), result in zip(extra, results, strict=True):
            if isinstance(result, Health):
                scene.health = result
                if result.now_ms is not None:
                    scene.note_clock(result.now_ms, began, began + took)
                scene.note_missing(
                    "health",
                    " ".join(
                        f"The server's access list refuses {name}." for name in result.missing
                    ),
                )
            elif isinstance(result, Step):
                scene.note_queues(result.names)
                scene.note_missing("scan", "")
                self._scan_on(str(node), result.cursor)
            elif _refused(result):
                scene.note_missing(
                    "scan", f"Discovery was refused ({result}); only declared queues are known."
                )
                self._scanning, self._rested_ms = {}, host_ms()

    def _scan_on(self, node: str, cursor: bytes) -> None:
        """Where a primary's pass goes on. When every primary is through, the next pass begins
        after a rest."""
        if cursor != b"0":
            self._scanning[node] = cursor
            return
        self._scanning.pop(node, None)
        if not self._scanning:
            self._rested_ms = host_ms()

    # ---- between ticks ---------------------------------------------------------------------

    async def pause(self, began_ms: int, watched: bool) -> None:
        """Wait until the next tick is due: its period, or sooner when something stirs."""
        now, retry = host_ms(), self.scene.status.next_try_ms
        if retry is not None:
            await asyncio.sleep(max(0.05, (retry - self.scene.now_ms) / 1000))
            return
        period = TICK_MS if now - self._moved_ms < CALM_AFTER_MS else CALM_MS
        ends = began_ms + (period if watched else GLANCE_MS)
        await asyncio.sleep(max(0.0, (began_ms + TICK_MS - now) / 1000))
        with contextlib.suppress(TimeoutError):
            async with asyncio.timeout(max(0.0, (ends - host_ms()) / 1000)):
                await self._stirred.wait()
        self._stirred.clear()

    def hear(self, queues: Iterable[bytes]) -> None:
        """Listen to the events of these queues."""
        channels = frozenset(found(queue).events for queue in queues)
        if channels == self._heard or self._bus is None:
            return
        self._heard = channels
        if self._listening is not None:
            self._listening.cancel()
        self._listening = asyncio.create_task(self._listen(channels)) if channels else None

    async def hush(self) -> None:
        """Listen to nothing."""
        task, self._listening, self._heard = self._listening, None, frozenset()
        if task is not None:
            task.cancel()
            await asyncio.gather(task, return_exceptions=True)

    async def _listen(self, channels: frozenset[bytes]) -> None:
        assert self._bus is not None
        try:
            async for _channel, _event in self._bus.listen(sorted(channels)):
                self.stir()
        except EchoMQError as fault:
            # Events only quicken the ticks; the polls tell the truth without them.
            log.info("no events of %s: %s", self.scene.bus, fault)
            self._heard = frozenset()


def _refused(result: Any) -> bool:
    """Whether the server answered, and said no."""
    return isinstance(result, EchoMQError) and not isinstance(
        result, (UnavailableError, UnknownOutcomeError)
    )


def _reason(fault: EchoMQError) -> str:
    return str(fault).rstrip(".") or type(fault).__name__
