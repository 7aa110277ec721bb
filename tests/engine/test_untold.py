"""What an idle worker asks for where the server may not tell it of changes."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import pytest

from queue_core import watches
from queue_core.bus import Bus
from queue_core.embedded import Embedded
from queue_core.keys import QueueKeys
from queue_core.verbs import admission, queues
from tests.builders import raw
from tests.engine.manned import KINDS, NEVER_MS, Listed, manned, until


def plain(_given: Any) -> None:
    """Does nothing."""


@pytest.fixture(params=KINDS)
def kind(request: pytest.FixtureRequest) -> str:
    return str(request.param)


@pytest.fixture
def untold(server: Embedded, bus: Bus, q: QueueKeys) -> Iterator[str]:
    """The address of a user whom the server tells nothing."""
    user = f"untold{q.name.decode()}"
    bus.run(raw("ACL", "SETUSER", user, "on", ">x", "~*", "&*", "+@all", "-client|tracking"))
    yield server.url.replace("unix://", f"unix://{user}:x@")
    bus.run(raw("ACL", "DELUSER", user))


def pops(bus: Bus) -> int:
    """How many waits for a wake the server has seen."""
    lines = bus.run(raw("INFO", "commandstats")).splitlines()
    of_pops = [line for line in lines if line.startswith(b"cmdstat_blpop")]
    return int(of_pops[0].split(b"calls=")[1].split(b",")[0]) if of_pops else 0


def loop(which: str, q: QueueKeys) -> tuple[Any, ...]:
    return ({q.name: plain},) if which == "metronome" else (q.name, plain)


@pytest.mark.parametrize("which", ["consumer", "batches", "metronome"])
def test_a_wait_that_ends_by_itself_is_no_news(
    which: str,
    kind: str,
    server: Embedded,
    bus: Bus,
    q: QueueKeys,
    mint: Callable[[], bytes],
    untold: str,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(watches, "POP_S", 0.02, raising=False)
    bus.run(admission.enqueue(q, mint(), b""))
    bus.run(queues.pause(q))  # so that something waits that cannot be had
    with manned(which, kind, untold, *loop(which, q), beat_ms=NEVER_MS):
        before = pops(bus)
        until(lambda: pops(bus) > before)
        with Listed(server, q) as listed:
            until(lambda: pops(bus) > before + 10)
            assert listed.count("claim") + listed.count("waiting") <= 1


@pytest.mark.parametrize("which", ["consumer", "batches", "metronome"])
def test_a_beat_costs_one_command(
    which: str,
    kind: str,
    server: Embedded,
    bus: Bus,
    q: QueueKeys,
    untold: str,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """A wait for a wake lasts over several beats, and the end of one asks for nothing."""
    monkeypatch.setattr(watches, "POP_S", 1.0)
    with manned(which, kind, untold, *loop(which, q), beat_ms=40, lease_ms=120):
        before = pops(bus)
        until(lambda: pops(bus) > before)
        before = pops(bus)
        with Listed(server, q) as listed:
            until(lambda: listed.count("claim") + listed.count("waiting") >= 20)
            assert pops(bus) - before <= 2
            # As many strokes of the heart as beats, both every 40 ms.
            assert listed.count("heartbeat") >= 10
