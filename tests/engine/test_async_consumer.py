"""A worker in an event loop: what it serves, how it settles, how it ends."""

from __future__ import annotations

import asyncio
import contextlib
import threading
from collections.abc import Callable
from typing import Any

import pytest

from queue_core.async_bus import AsyncBus, async_connect
from queue_core.embedded import Embedded
from queue_core.keys import QueueKeys
from queue_core.nodes import NodeLease
from queue_core.verbs import admission, claims, due, queues, repeats
from queue_core.work.async_consumer import AsyncConsumer
from queue_core.work.async_pump import AsyncPump
from queue_core.work.backoff import fixed
from queue_core.work.serving import Policy
from queue_core.work.task import AsyncTask, Task
from queue_core.work.verdicts import Dead, Done, Failed, Later, Verdict
from tests.builders import HOUR, a_lane, command, row
from tests.engine.attended import PATIENCE_S, serving, state_of, until


async def test_both_sets_are_served_and_handlers_may_be_plain_or_awaited(
    abus: AsyncBus, q: QueueKeys, mint: Callable[[], bytes]
) -> None:
    lane, served = a_lane(), set()
    for n in range(10):
        await abus.run(admission.enqueue(q, mint(), b"flat%d" % n))
        await abus.run(admission.lane_enqueue(q, lane, mint(), b"lane%d" % n))
    all_of_them = {b"%s%d" % (kind, n) for kind in (b"flat", b"lane") for n in range(10)}

    async def awaited(task: AsyncTask) -> None:
        if len(served) == 10:
            await asyncio.Event().wait()
        served.add(task.payload)
        await task.progress("here")
        await task.log("a line")

    def plain(task: Task) -> None:
        assert threading.current_thread() is not threading.main_thread()
        task.progress("here")
        task.log("a line")
        served.add(task.payload)

    async def all_served(many: int) -> bool:
        return len(served) == many

    worker = AsyncConsumer(abus, q.name, awaited, beat_ms=50, concurrency=3)
    running = asyncio.create_task(worker.run())
    await until(lambda: all_served(10))
    running.cancel()  # the hard stop: nothing is settled
    with pytest.raises(asyncio.CancelledError):
        await running
    assert worker.in_hand == 0
    # What the stopped handlers held comes back when its lease ends.
    for job_id in await abus.run(command("ZRANGE", q.active, 0, 99)):
        await abus.run(command("ZADD", q.active, 1, job_id))
    await abus.run(due.reap(q))
    await abus.run(due.reap_group(q, lane))
    async with serving(abus, q, plain, concurrency=3):
        await until(lambda: all_served(20))
    assert served == all_of_them


@pytest.mark.parametrize(
    ("answer", "state", "error"),
    [
        (None, b"gone", None),
        (Done(b"42"), b"gone", None),
        (Failed("no"), b"dead", b"no"),
        (Dead("never"), b"dead", b"never"),
        (Later(HOUR), b"scheduled", None),
        (17, b"dead", b"bad verdict: int"),
        (Later(10**40), b"dead", None),
        (Failed("\ud800"), b"dead", b"?"),
        (ValueError("broken"), b"dead", b"ValueError: broken"),
    ],
)
async def test_verdicts(
    abus: AsyncBus,
    q: QueueKeys,
    mint: Callable[[], bytes],
    answer: Any,
    state: bytes,
    error: bytes | None,
) -> None:
    job_id = mint()

    async def handler(task: AsyncTask) -> Verdict | None:
        if isinstance(answer, Exception):
            raise answer
        return answer  # type: ignore[no-any-return]

    await abus.run(admission.enqueue(q, job_id, b"x"))
    async with serving(abus, q, handler, policy=Policy(fixed(0), max_attempts=1)):
        await until(state_of(abus, q, job_id, state))
    if error:
        assert (await abus.run(row(q, job_id)))[b"last_error"] == error


async def test_an_awaited_handler_over_its_time_fails_and_frees_its_place(
    abus: AsyncBus, q: QueueKeys, mint: Callable[[], bytes]
) -> None:
    stubborn, fine = mint(), mint()
    release, asked = asyncio.Event(), []

    async def handler(task: AsyncTask) -> None:
        if task.id != stubborn:
            return
        while not release.is_set():
            with contextlib.suppress(asyncio.CancelledError):  # takes its time to end
                await release.wait()
        asked.append((task.lost, task.cancel.check()))

    await abus.run(admission.enqueue(q, stubborn, b"x"))
    async with serving(
        abus, q, handler, timeout_ms=50, policy=Policy(fixed(0), max_attempts=1)
    ) as worker:
        await until(state_of(abus, q, stubborn, b"dead"))
        await abus.run(admission.enqueue(q, fine, b"x"))
        await until(state_of(abus, q, fine, b"gone"))
        assert not asked
        assert worker.in_hand == 0
        release.set()
    assert (await abus.run(row(q, stubborn)))[b"last_error"] == b"timed out after 50 ms"
    assert asked == [(True, "timeout")]


async def test_a_thread_over_its_time_fails_but_keeps_its_place(
    abus: AsyncBus, q: QueueKeys, mint: Callable[[], bytes]
) -> None:
    stubborn, fine = mint(), mint()
    asked, release = threading.Event(), threading.Event()

    def handler(task: Task) -> None:
        if task.id == stubborn:
            assert task.cancel.wait(PATIENCE_S)
            asked.set()
            release.wait(PATIENCE_S)

    await abus.run(admission.enqueue(q, stubborn, b"x"))
    async with serving(
        abus, q, handler, timeout_ms=50, policy=Policy(fixed(0), max_attempts=1)
    ) as worker:
        await until(state_of(abus, q, stubborn, b"dead"))
        assert await asyncio.to_thread(asked.wait, PATIENCE_S)
        await abus.run(admission.enqueue(q, fine, b"x"))
        assert worker.in_hand == 0
        assert worker._hands.out == 1
        assert await abus.run(command("ZCARD", q.pending)) == 1
        release.set()
        await until(state_of(abus, q, fine, b"gone"))


async def test_leases_are_extended_and_a_lost_one_is_told(
    abus: AsyncBus, q: QueueKeys, mint: Callable[[], bytes]
) -> None:
    job_id = mint()
    told: list[str | None] = []

    async def handler(task: AsyncTask) -> None:
        before = await abus.run(command("ZSCORE", q.active, job_id))
        while before == await abus.run(command("ZSCORE", q.active, job_id)):  # noqa: ASYNC110
            await asyncio.sleep(0.005)
        # Another worker takes it over.
        await abus.run(command("ZADD", q.active, 1, job_id))
        await abus.run(due.reap(q))
        assert await abus.run(claims.claim(q, HOUR)) is not None
        while not task.lost:  # noqa: ASYNC110 (the beat says so)
            await asyncio.sleep(0.005)
        told.append(task.cancel.check())

    await abus.run(admission.enqueue(q, job_id, b"x"))
    async with serving(abus, q, handler, lease_ms=300) as worker:

        async def over() -> bool:
            return bool(told) and worker.in_hand == 0

        await until(over)
    assert told == ["lost"]
    assert (await abus.run(row(q, job_id)))[b"state"] == b"active"  # the other one's, untouched


async def test_quiet_claims_nothing_and_says_so_and_an_end_leaves_no_trace(
    abus: AsyncBus, q: QueueKeys, mint: Callable[[], bytes]
) -> None:
    served: list[bytes] = []

    async def handler(task: AsyncTask) -> None:
        served.append(task.id)

    worker = AsyncConsumer(abus, q.name, handler, beat_ms=50, lease_ms=150)
    worker.quiet()
    running = asyncio.create_task(worker.run())
    job_id = mint()
    await abus.run(admission.enqueue(q, job_id, b"x"))

    async def says_quiet() -> bool:
        return bool(await abus.run(command("HGET", q.worker(worker.worker), "quiet")) == b"1")

    await until(says_quiet)
    assert not served
    worker.quiet(False)
    await until(state_of(abus, q, job_id, b"gone"))
    worker.stop()
    assert await running
    assert served == [job_id]
    assert not await abus.run(command("EXISTS", q.worker(worker.worker)))


async def test_jobs_in_hand_end_before_it_does_or_are_named_unsettled(
    abus: AsyncBus, q: QueueKeys, mint: Callable[[], bytes]
) -> None:
    begun, go = asyncio.Event(), asyncio.Event()

    async def handler(task: AsyncTask) -> None:
        begun.set()
        await go.wait()

    async def ended(drain_s: float, let: bool) -> bool:
        begun.clear()
        await abus.run(admission.enqueue(q, mint(), b"x"))
        worker = AsyncConsumer(abus, q.name, handler, beat_ms=50, drain_s=drain_s)
        running = asyncio.create_task(worker.run())
        await begun.wait()
        worker.stop()
        if let:
            go.set()
        return await running

    assert not await ended(0.05, let=False)
    assert await ended(PATIENCE_S, let=True)


async def test_a_server_that_goes_away_ends_no_loop(
    tmp_path: Any, q: QueueKeys, mint: Callable[[], bytes]
) -> None:
    server = Embedded(tmp_path).start()
    mine = await async_connect(server.url)
    first, second = mint(), mint()
    begun, go = asyncio.Event(), asyncio.Event()

    async def handler(task: AsyncTask) -> None:
        begun.set()
        await go.wait()

    try:
        await mine.run(admission.enqueue(q, first, b"x"))
        async with serving(mine, q, handler):
            await begun.wait()
            await asyncio.to_thread(server.kill)
            go.set()  # the verdict meets a server that is away
            await asyncio.to_thread(server.start)
            await until(state_of(mine, q, first, b"gone"))
            await mine.run(admission.enqueue(q, second, b"x"))
            await until(state_of(mine, q, second, b"gone"))
    finally:
        await mine.close()
        server.kill()


async def test_a_pump_drives_what_time_drives(
    abus: AsyncBus, q: QueueKeys, mint: Callable[[], bytes]
) -> None:
    lease, served = NodeLease(), []

    async def handler(task: AsyncTask) -> None:
        served.append(task.payload)

    pump = AsyncPump(abus, [q], lease.mint)
    pumping = asyncio.create_task(pump.run())
    await abus.run(admission.enqueue_in(q, mint(), b"due", 20))
    await abus.run(repeats.register(q, "tick", HOUR, b"repeat"))
    async with serving(abus, q, handler):

        async def both() -> bool:
            return sorted(served) == [b"due", b"repeat"]

        await until(both)
    pump.stop()
    await pumping
    await abus.run(queues.pause(q))
    await abus.run(lease.release())
