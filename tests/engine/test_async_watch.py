"""An idle worker in an event loop hears of work at once, or looks where it cannot."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable

import pytest

from queue_core.async_bus import AsyncBus, async_connect
from queue_core.embedded import Embedded
from queue_core.keys import QueueKeys
from queue_core.plans import Call, Plan, Reply
from queue_core.verbs import admission, due, queues
from queue_core.work.async_consumer import AsyncConsumer
from queue_core.work.task import AsyncTask
from tests.builders import a_lane
from tests.engine.attended import PATIENCE_S, serving, until

MINUTE = 60_000


@pytest.mark.parametrize("kind", ["flat", "lane", "due", "resumed"])
async def test_an_idle_worker_hears_of_work_long_before_its_beat(
    abus: AsyncBus, q: QueueKeys, mint: Callable[[], bytes], kind: str
) -> None:
    served = asyncio.Event()

    async def handler(task: AsyncTask) -> None:
        served.set()

    if kind == "resumed":
        await abus.run(queues.pause(q))
        await abus.run(admission.enqueue(q, mint(), b"x"))
    async with serving(abus, q, handler, beat_ms=MINUTE) as worker:
        await until(rests(worker))
        if kind == "flat":
            await abus.run(admission.enqueue(q, mint(), b"x"))
        elif kind == "lane":
            await abus.run(admission.lane_enqueue(q, a_lane(), mint(), b"x"))
        elif kind == "due":
            await abus.run(admission.enqueue_at(q, mint(), b"x", 1))
            await abus.run(due.promote(q, 10))
        else:
            await abus.run(queues.resume(q))
        async with asyncio.timeout(PATIENCE_S):
            await served.wait()
        assert worker._watch.tracks


async def test_a_line_that_is_lost_is_a_reason_to_look(
    abus: AsyncBus, q: QueueKeys, mint: Callable[[], bytes]
) -> None:
    served = asyncio.Event()

    async def handler(task: AsyncTask) -> None:
        served.set()

    async with serving(abus, q, handler, beat_ms=MINUTE) as worker:
        await until(rests(worker))
        turns, link = worker._ledger.turns, worker._watch._link
        assert link is not None
        link.close()

        async def looked() -> bool:
            return worker._ledger.turns > turns and worker._watch._link not in (None, link)

        await until(looked)
        await abus.run(admission.enqueue(q, mint(), b"x"))
        async with asyncio.timeout(PATIENCE_S):
            await served.wait()


async def test_where_the_server_may_not_tell_a_wake_and_the_beat_do(
    server: Embedded, abus: AsyncBus, q: QueueKeys, mint: Callable[[], bytes]
) -> None:
    served: list[bytes] = []

    async def handler(task: AsyncTask) -> None:
        served.append(task.payload)

    user = f"u{q.name.decode()}"
    await abus.run(acl("SETUSER", user, "on", ">x", "~*", "&*", "+@all", "-client|tracking"))
    deaf = await async_connect(server.url.replace("unix://", f"unix://{user}:x@"))
    try:
        async with serving(deaf, q, handler, beat_ms=100) as worker:

            async def refused() -> bool:
                return not worker._watch.tracks

            await until(refused)
            await abus.run(admission.lane_enqueue(q, a_lane(), mint(), b"lane"))
            await abus.run(admission.enqueue(q, mint(), b"flat"))

            async def both() -> bool:
                return sorted(served) == [b"flat", b"lane"]

            await until(both)
    finally:
        await deaf.close()
        await abus.run(acl("DELUSER", user))


def rests(worker: AsyncConsumer) -> Callable[[], Awaitable[bool]]:
    """Whether a worker's look is over and found nothing: only what it hears ends its rest."""

    async def is_so() -> bool:
        return worker._lookout.dry and worker._watch._link is not None and not worker._watch.heard

    return is_so


def acl(*words: str) -> Plan[Reply]:
    """One command about users."""
    return (yield Call("ACL", (), words))
