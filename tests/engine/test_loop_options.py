"""Options that say nothing are refused where a loop is made, before anything is opened."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from queue_core.async_bus import AsyncBus
from queue_core.bus import Bus
from queue_core.errors import InvalidError
from queue_core.keys import QueueKeys, queue
from queue_core.work.async_pump import AsyncPump
from queue_core.work.async_streams import AsyncStreamConsumer
from queue_core.work.backoff import exponential, fixed, jitter
from queue_core.work.batch_consumer import BatchConsumer
from queue_core.work.consumer import Consumer
from queue_core.work.metronome import Metronome
from queue_core.work.pump import Pump
from queue_core.work.records import Keep
from queue_core.work.serving import Policy
from queue_core.work.streams import Retention, StreamConsumer
from tests.engine.manned import LOOPS


def plain(_task: Any) -> None:
    """Does nothing."""


async def awaited(_task: Any) -> None:
    """The same, awaited."""


NUMBERS: dict[str, list[Any]] = {
    "lease_ms": [0, -5, 1.5, None],
    "beat_ms": [0, -1, "9"],
    "drain_s": [-1, "x", None, float("nan"), True],
    "timeout_ms": [0, -3, "9"],
    "policy": [None, 3],
    "label": [5],
}


@pytest.mark.parametrize("which", LOOPS)
@pytest.mark.parametrize(
    ("option", "value"), [(name, value) for name, values in NUMBERS.items() for value in values]
)
def test_an_option_that_says_nothing_is_refused_where_a_loop_is_made(
    bus: Bus, q: QueueKeys, which: str, option: str, value: Any
) -> None:
    given = {q.name: plain} if which == "metronome" else plain
    words = (given,) if which == "metronome" else (q.name, given)
    with pytest.raises(InvalidError):
        LOOPS[which][0](bus, *words, **{option: value})


@pytest.mark.parametrize("size", [0, -1, 2.0, "4", True])
def test_a_loop_has_places(bus: Bus, q: QueueKeys, size: Any) -> None:
    for make in (
        lambda: Consumer(bus, q.name, plain, concurrency=size),
        lambda: Consumer(bus, q.name, awaited, concurrency=size),
        lambda: BatchConsumer(bus, q.name, plain, concurrency=size),
        lambda: Metronome(bus, {q.name: plain}, workers=size),
    ):
        with pytest.raises(InvalidError):
            make()


@pytest.mark.parametrize("handler", [None, "x", 3])
def test_a_handler_can_be_called(bus: Bus, q: QueueKeys, handler: Any) -> None:
    for make in (
        lambda: Consumer(bus, q.name, handler),
        lambda: BatchConsumer(bus, q.name, handler),
        lambda: Metronome(bus, {q.name: handler}),
        lambda: StreamConsumer(bus, q.name, "s", "g", handler),
        lambda: AsyncStreamConsumer(bus, q.name, "s", "g", handler),
    ):
        with pytest.raises(InvalidError):
            make()


@pytest.mark.parametrize("handlers", [{}, [("x", plain)], "x", {"x": plain, "y": awaited}])
def test_a_metronome_takes_a_mapping_of_handlers_of_one_kind(bus: Bus, handlers: Any) -> None:
    with pytest.raises(InvalidError):
        Metronome(bus, handlers)


@pytest.mark.parametrize("queues", [["mail"], "mail", queue("mail"), [b"mail"], None])
def test_a_pump_takes_the_keys_of_queues(bus: Bus, abus: AsyncBus, queues: Any) -> None:
    for kind, its in ((Pump, bus), (AsyncPump, abus)):
        with pytest.raises(InvalidError):
            kind(its, queues)
        with pytest.raises(InvalidError):
            kind(its, [queue("mail")], max_stalled=0)


def test_loops_over_streams_take_spans_and_a_handler_of_their_kind(bus: Bus, q: QueueKeys) -> None:
    with pytest.raises(InvalidError, match="AsyncStreamConsumer"):
        StreamConsumer(bus, q.name, "s", "g", awaited)  # type: ignore[arg-type]
    with pytest.raises(InvalidError):
        StreamConsumer(bus, q.name, "s", "g", plain, drain_s=-1)
    with pytest.raises(InvalidError):
        Retention(bus, [Keep(q, "s", last=1)], every_ms=0)


@pytest.mark.parametrize("attempts", [-1, "3", None, 2.5])
def test_a_policy_says_how_often(attempts: Any) -> None:
    with pytest.raises(InvalidError):
        Policy(fixed(1), attempts)


@pytest.mark.parametrize(
    "make",
    [
        lambda: fixed(1.5), lambda: fixed("x"), lambda: exponential(1, 1e6), lambda: jitter(5),
        lambda: Policy(5, 3),
    ],
)  # fmt: skip
def test_a_backoff_gives_whole_ms(make: Callable[[], object]) -> None:
    with pytest.raises(InvalidError):
        make()
