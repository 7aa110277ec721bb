"""All scenarios in their order, played on one bus."""

from __future__ import annotations

import asyncio
import random
import time
from collections.abc import Collection, Generator, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

from queue_core import fence as fencing
from queue_core.async_bus import async_connect
from queue_core.bus import connect
from queue_core.conformance import batches, first, flows, lanes, streams, telling, upkeep
from queue_core.conformance.scratch import keys_from
from queue_core.conformance.stage import Differs, Ground, Scenario, Stage
from queue_core.errors import EchoMQError, InvalidError
from queue_core.ids import Minter
from queue_core.keys import queue
from queue_core.names import check_queue
from queue_core.outcomes import Word
from queue_core.servers import parse

_CHAPTERS = (first, lanes, upkeep, telling, flows, batches, streams)

SCENARIOS: tuple[Scenario, ...] = tuple(
    sorted(
        (one for module in _CHAPTERS for one in module.chapter.scenarios),
        key=lambda one: one.number,
    )
)
"""The 79 scenarios in the order of the protocol."""


@dataclass(frozen=True, slots=True)
class Result:
    """How one scenario went. `what` was looked at when it failed, `expected` and `got` are what
    should have been there and what was; all empty where it passed. `note` tells how it passed
    where the server lacks something."""

    number: int
    name: str
    passed: bool
    took_ms: int
    what: str = ""
    expected: str = ""
    got: str = ""
    note: str = ""

    @property
    def line(self) -> str:
        """One line for people."""
        told = f"{'ok' if self.passed else 'FAILED':<7}{self.number:>3} {self.name}"
        if self.passed:
            return f"{told} ({self.note})" if self.note else told
        return f"{told}: {self.what}: expected {self.expected}, got {self.got}"


def fresh_name() -> str:
    """A name for scratch queues that nobody else uses."""
    return f"conformance-{random.getrandbits(48):012x}"


def chosen(names: Collection[str]) -> tuple[Scenario, ...]:
    """The scenarios of these names, all for none. `InvalidError` for a name there is not."""
    known = {one.name for one in SCENARIOS}
    if unknown := sorted(set(names) - known):
        raise InvalidError(f"there is no scenario {', '.join(map(repr, unknown))}")
    return tuple(one for one in SCENARIOS if not names or one.name in names)


def play(
    url: str,
    only: Collection[str] = (),
    *,
    name: str = "",
    fence: str = fencing.DEFAULT,
    awaited: bool = False,
) -> Generator[Result, None, None]:
    """Play scenarios on scratch queues `<name>.<scenario>` and delete what they made, also where
    the caller stops early and closes the iterator.

    `name` is a fresh one by default; `awaited` plays over the awaited bus. Raises
    `InvalidError` for a URL, scenario or name that cannot be, or a name whose queues exist;
    and what connecting raises.
    """
    wanted = chosen(only)
    scratch = check_queue(name or fresh_name())
    if len(scratch) > 90:
        raise InvalidError("a name of scratch queues has at most 90 characters")
    prefix = b"emq:{" + scratch + b"."
    with _ground(url, fence, awaited) as ground:
        if ground.run(keys_from(ground.primaries, prefix)):
            raise InvalidError(f"queues called {scratch.decode()}.… exist: give another name")
        minter = Minter(random.randrange(512, 1024))  # noqa: S311 (the ids stay in scratch queues)
        try:
            for scenario in wanted:
                yield _result(scenario, ground, scratch, minter)
        finally:
            ground.run(keys_from(ground.primaries, prefix, delete=True))


def _result(scenario: Scenario, ground: Ground, scratch: bytes, minter: Minter) -> Result:
    stage = Stage(ground, queue(scratch + b"." + scenario.name.encode()), minter)
    began = time.monotonic()
    told: dict[str, str] = {}
    try:
        scenario.play(stage)
    except Differs as found:
        told = {"what": found.what, "expected": _shown(found.expected), "got": _shown(found.got)}
    except EchoMQError as fault:
        told = {
            "what": "a step",
            "expected": "an answer",
            "got": f"{type(fault).__name__}: {one_line(fault)}",
        }
    finally:
        stage.close()
    took_ms = round((time.monotonic() - began) * 1000)
    return Result(scenario.number, scenario.name, not told, took_ms, **told, note=stage.note)


def _shown(value: Any) -> str:
    """A value in a line: a verdict as the wire says it, all else as Python writes it."""
    return value.value if isinstance(value, Word) else repr(value)


def one_line(fault: Exception) -> str:
    """What a fault says, on one line that commands no terminal."""
    text = " ".join(str(fault).split())
    return "".join(sign if sign.isprintable() else f"\\x{ord(sign):02x}" for sign in text)


@contextmanager
def _ground(url: str, fence: str, awaited: bool) -> Iterator[Ground]:
    """A bus of the asked kind, closed at the end."""
    servers = parse(url)
    if not awaited:
        bus = connect(url, fence=fence)
        try:
            yield Ground(servers, url, fence, bus.run, bus.primaries())
        finally:
            bus.close()
        return
    with asyncio.Runner() as runner:
        waited = runner.run(async_connect(url, fence=fence))

        def run(plan: Any) -> Any:
            return runner.run(waited.run(plan))

        try:
            yield Ground(servers, url, fence, run, waited.primaries())
        finally:
            runner.run(waited.close())
