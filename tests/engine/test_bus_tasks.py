"""Many tasks on one awaited bus: they share a connection and never each other's answers."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Awaitable, Callable

import pytest

from queue_core.async_bus import async_connect
from queue_core.embedded import Embedded
from queue_core.errors import UnavailableError, UnknownOutcomeError
from queue_core.plans import Call, Wait
from tests.builders import command


def wait(key: bytes, ms: int):
    return (yield Wait((key,), ms))


async def connections(abus) -> int:
    def count():
        text = yield Call("INFO", (), ("clients",))
        return int(text.split(b"connected_clients:")[1].split()[0])

    return await abus.run(count())


async def until(true: Callable[[], Awaitable[object]]) -> None:
    """Wait until the server says that something holds."""
    async with asyncio.timeout(10):
        while not await true():  # noqa: ASYNC110 (a server's event)
            await asyncio.sleep(0.005)


async def test_tasks_share_a_connection_and_get_their_own_answers(abus, q):
    before = await connections(abus)
    answers = await asyncio.gather(
        *(abus.run(command("ECHO" if n % 2 else "HGET", b"%d" % n, *f(n))) for n in range(400))
    )
    assert answers[1::2] == [b"%d" % n for n in range(1, 400, 2)]
    assert set(answers[::2]) == {None}
    assert await connections(abus) == before


def f(n: int) -> tuple[str, ...]:
    return () if n % 2 else ("field",)


async def test_a_cancelled_call_leaves_no_answer_behind(abus, q):
    for n in range(50):
        task = asyncio.create_task(abus.run(command("ECHO", b"lost%d" % n)))
        await asyncio.sleep(0)
        task.cancel()
        assert await abus.run(command("ECHO", b"kept%d" % n)) == b"kept%d" % n
        assert (await asyncio.gather(task, return_exceptions=True))[0] is not None


async def test_a_wait_holds_nobody_up_and_can_be_cancelled(abus, q):
    waiting = [asyncio.create_task(abus.run(wait(q.wake, 30_000))) for _ in range(3)]
    await asyncio.sleep(0.05)
    assert await abus.run(command("ECHO", b"on")) == b"on"
    before = await connections(abus)
    waiting[0].cancel()
    await asyncio.gather(waiting[0], return_exceptions=True)

    async def gone() -> bool:
        return await connections(abus) < before

    await until(gone)  # until then the server may hand it what is pushed
    for _ in range(2):
        await abus.run(command("LPUSH", q.wake, "1"))
    assert await asyncio.gather(*waiting[1:]) == [[q.wake, b"1"]] * 2
    assert await abus.run(command("LLEN", q.wake)) == 0


async def test_a_listener_ends_when_it_is_cancelled(abus, q):
    heard: list[bytes] = []

    async def listen() -> None:
        async for _, message in abus.listen([q.events]):
            heard.append(message)
            first.set()

    first = asyncio.Event()
    before = await connections(abus)
    task = asyncio.create_task(listen())
    await until(lambda: abus.run(command("PUBLISH", q.events, "hello")))
    async with asyncio.timeout(10):
        await first.wait()
    task.cancel()
    await asyncio.gather(task, return_exceptions=True)

    async def gone() -> bool:
        return await connections(abus) <= before

    await until(gone)
    assert heard[0] == b"hello"


async def test_a_listener_hears_more_than_it_can_hold(abus, q):
    many = 5_000
    heard: list[int] = []

    async def listen() -> None:
        async for _, message in abus.listen([q.events]):
            heard.append(int(message))
            if heard[-1] == many:
                return

    task = asyncio.create_task(listen())
    await until(lambda: abus.run(command("PUBLISH", q.events, 0)))
    await abus.run_all([command("PUBLISH", q.events, n) for n in range(1, many + 1)])
    async with asyncio.timeout(10):
        await task
    assert heard == [*([0] * heard.count(0)), *range(1, many + 1)]


async def test_a_listener_is_told_when_the_bus_is_closed(abus, q):
    async def listen() -> None:
        async for _ in abus.listen([q.events]):
            pass

    task = asyncio.create_task(listen())
    await until(lambda: abus.run(command("PUBLISH", q.events, "x")))
    await abus.close()
    with pytest.raises(UnavailableError):
        await task


async def test_everything_under_way_on_a_line_that_breaks_is_in_doubt(server, q):
    bus = await async_connect(server.url + "&client_name=doomed")
    killer = await async_connect(server.url)
    await bus.run(command("SET", q.base, "0"))

    def identity():
        return (yield Call("CLIENT", (), ("ID",)))

    number = await bus.run(identity())

    def pause(ms):
        return (yield Call("CLIENT", (), ("PAUSE", ms, "WRITE")))

    def kill():
        return (yield Call("CLIENT", (), ("KILL", "ID", number)))

    await killer.run(pause(300))
    tasks = [asyncio.create_task(bus.run(command("INCR", q.base))) for _ in range(5)]
    await asyncio.sleep(0.05)
    await killer.run(kill())
    faults = await asyncio.gather(*tasks, return_exceptions=True)
    assert [type(fault) for fault in faults] == [UnknownOutcomeError] * 5
    assert await bus.run(command("GET", q.base)) == b"0"
    await bus.close()
    await killer.close()


async def test_who_is_cancelled_while_it_claims_the_fence_cuts_no_other_off(folder, q):
    alone = Embedded(folder).start()
    bus = await async_connect(alone.url)
    other = await async_connect(alone.url)

    def pause():
        return (yield Call("CLIENT", (), ("PAUSE", 300, "WRITE")))

    await other.run(pause())
    first, second = [asyncio.create_task(bus.run(command("INCR", q.base))) for _ in range(2)]
    await asyncio.sleep(0.1)
    first.cancel()
    assert (await asyncio.gather(first, second, return_exceptions=True))[1] == 1
    await bus.close()
    await other.close()
    alone.kill()


async def test_an_answer_that_lies_there_is_not_late_because_the_loop_was_held_up(server, q):
    bus = await async_connect(server.url, command_timeout_ms=150)
    await bus.run(command("SETRANGE", q.base, 3_000_000, "x"))
    reading = asyncio.create_task(bus.run(command("STRLEN", q.base)))
    whole = [asyncio.create_task(bus.run(command("GET", q.base))) for _ in range(3)]
    writing = asyncio.create_task(bus.run(command("APPEND", q.base, "y")))
    await asyncio.sleep(0)
    time.sleep(0.4)  # noqa: ASYNC251 (somebody's handler holds the loop up)
    answers = await asyncio.gather(reading, *whole, writing)
    assert [a if isinstance(a, int) else len(a) for a in answers] == [*[3_000_001] * 4, 3_000_002]
    await bus.close()
