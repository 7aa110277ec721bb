"""A worker is the same whether threads or tasks run it, and whether its handlers are awaited."""

from __future__ import annotations

import asyncio
import contextlib
import threading
import time
from collections import Counter
from collections.abc import Callable, Mapping
from functools import partial
from typing import Any

import pytest

from queue_core import telemetry
from queue_core.async_bus import AsyncBus
from queue_core.bus import Bus
from queue_core.embedded import Embedded
from queue_core.ids import encode
from queue_core.jobs import Lease
from queue_core.keys import QueueKeys
from queue_core.plans import Batch, Plan
from queue_core.verbs import admission, due, lanes
from queue_core.work import ledger, turns
from queue_core.work.backoff import fixed
from queue_core.work.serving import Policy
from queue_core.work.task import AsyncTask
from queue_core.work.turns import Want, turn
from queue_core.work.verdicts import Dead, Done, Failed, Later
from tests.builders import HOUR, a_lane, command, row
from tests.engine.manned import (
    KINDS,
    ONCE,
    PATIENCE_S,
    Listed,
    admit,
    done,
    manned,
    threaded,
    until,
)

TRIP_S = 0.02


@pytest.fixture(params=KINDS)
def kind(request: pytest.FixtureRequest) -> str:
    """Every kind of worker."""
    return str(request.param)


def test_what_has_ended_and_what_comes_next_travel_together(q: QueueKeys) -> None:
    lease = Lease(encode(b"JOB", 1), b"", 1, HOUR)
    want = Want(2, 1, HOUR, b"worker", 1)
    step = next(turn(q, [(lease, Done()), (lease, Failed("no"))], ONCE, want))
    assert isinstance(step, Batch)
    assert [call.name for call in step.calls] == ["complete_many", "retry", "claim_next"]


def test_quick_jobs_share_their_round_trips(
    server: Embedded, bus: Bus, q: QueueKeys, mint: Callable[[], bytes], kind: str,
    monkeypatch: pytest.MonkeyPatch,
) -> None:  # fmt: skip
    monkeypatch.setattr(turns, "SHORT_MS", 5_000.0)  # quick on a busy machine too
    _far_away(monkeypatch)
    admit(bus, mint, q, 200)
    seen: list[bytes] = []
    with (
        Listed(server, q) as listed,
        manned("consumer", kind, server.url, q.name, lambda task: seen.append(task.id)),
    ):
        until(done(bus, q, 200))
        settled, claimed = listed.count("complete"), listed.count("claim")
    assert len(seen) == len(set(seen)) == 200
    assert max(settled, claimed) <= 100, "one by one it takes 200 of each"


def _far_away(monkeypatch: pytest.MonkeyPatch) -> None:
    """Every trip to the server takes long, however busy the machine keeps the handlers."""
    blocking, awaiting = Bus.run, AsyncBus.run

    def run(bus: Bus, plan: Plan[Any]) -> Any:
        time.sleep(TRIP_S)
        return blocking(bus, plan)

    async def async_run(bus: AsyncBus, plan: Plan[Any]) -> Any:
        await asyncio.sleep(TRIP_S)
        return await awaiting(bus, plan)

    monkeypatch.setattr(Bus, "run", run)
    monkeypatch.setattr(AsyncBus, "run", async_run)


def test_quick_jobs_are_taken_ahead_and_given_back_where_none_begins_them(
    server: Embedded, bus: Bus, q: QueueKeys, mint: Callable[[], bytes], kind: str,
    monkeypatch: pytest.MonkeyPatch,
) -> None:  # fmt: skip
    monkeypatch.setattr(ledger, "WAITED_S", 0.1)
    ids = admit(bus, mint, q, 60)
    blocked, go_on = threading.Event(), threading.Event()

    def handler(task: Any) -> None:
        if task.id == ids[20]:
            blocked.set()
            go_on.wait(PATIENCE_S)
        elif task.id == ids[40] and task.attempts > 1:
            worker.tell(worker.loop.stop)

    with manned("consumer", kind, server.url, q.name, handler) as worker:
        assert blocked.wait(PATIENCE_S)
        until(lambda: worker.loop.in_hand == 1)
        assert bus.run(command("ZCARD", q.pending)) == 39
        go_on.set()
        worker.tell(worker.loop.stop)
    assert worker.drained
    assert bus.run(command("ZCARD", q.active)) == 0
    assert not bus.run(command("EXISTS", q.worker(worker.loop.worker)))


def test_a_weighted_worker_takes_each_lane_s_weight_in_its_turn(
    server: Embedded, bus: Bus, q: QueueKeys, mint: Callable[[], bytes], kind: str
) -> None:
    heavy, light = a_lane(), a_lane()
    for lane in (heavy, light):
        admit(bus, mint, q, 4, lane)
    bus.run(lanes.weight(q, heavy, 3))
    begun: list[bytes] = []
    go = threading.Event()

    def handler(task: Any) -> None:
        begun.append(task.group)
        go.wait(PATIENCE_S)

    with manned(
        "consumer", kind, server.url, q.name, handler, concurrency=4, weighted=True
    ):  # fmt: skip
        until(lambda: len(begun) == 4)
        go.set()
    assert Counter(begun[:4]) == {heavy: 3, light: 1}


def test_this_process_is_told_of_every_job(
    server: Embedded, bus: Bus, q: QueueKeys, mint: Callable[[], bytes], kind: str
) -> None:
    told: list[tuple[str, Mapping[str, Any]]] = []
    verdicts = {b"0": None, b"1": Failed("no"), b"2": Later(HOUR), b"3": Dead("never")}
    names = ("start", "complete", "fail", "delay", "lost")

    def hear(event: str, values: Mapping[str, Any]) -> None:
        if values["queue"] == q.name:
            told.append((event, values))

    with contextlib.ExitStack() as stack:
        for name in names:
            stack.callback(telemetry.attach(f"job.{name}", hear))
        ids = admit(bus, mint, q, 4)
        with manned(
            "consumer", kind, server.url, q.name, lambda task: verdicts[task.payload],
            policy=Policy(fixed(HOUR), 3),
        ):  # fmt: skip
            until(lambda: len(told) == 8)
    ends = {values["job_id"]: (event, values) for event, values in told if event != "job.start"}
    assert {values["job_id"] for event, values in told if event == "job.start"} == set(ids)
    said = [(ends[one][0], ends[one][1]["word"], ends[one][1]["reason"]) for one in ids]
    assert said == [
        ("job.complete", "ok", None), ("job.fail", "scheduled", "no"), ("job.delay", "ok", None),
        ("job.fail", "dead", "never"),
    ]  # fmt: skip
    assert all(
        values["duration_ms"] >= 0 and values["attempts"] == 1 for _, values in ends.values()
    )


# ---- coroutines in a threaded worker -------------------------------------------------------------


once = partial(threaded, policy=ONCE)


def test_coroutines_run_side_by_side_and_reach_the_bus(
    bus: Bus, q: QueueKeys, mint: Callable[[], bytes]
) -> None:
    ids = admit(bus, mint, q, 5)
    together = asyncio.Barrier(5)

    async def handler(task: AsyncTask) -> None:
        await together.wait()
        await task.progress("there")
        await task.log("a line")
        raise ValueError("broken")

    with once(bus, q, handler, concurrency=5):
        until(lambda: bus.run(command("ZCARD", q.dead)) == 5)
    fields = bus.run(row(q, ids[0]))
    assert (fields[b"progress"], fields[b"last_error"]) == (b"there", b"ValueError: broken")
    assert bus.run(command("LRANGE", q.logs(ids[0]), 0, 9)) == [b"a line"]


def test_a_coroutine_over_its_time_is_cancelled_and_its_place_is_free(
    bus: Bus, q: QueueKeys, mint: Callable[[], bytes]
) -> None:
    stubborn, fine = mint(), mint()
    told: list[Any] = []
    release = threading.Event()

    async def handler(task: AsyncTask) -> None:
        if task.id != stubborn:
            return
        try:
            await asyncio.sleep(PATIENCE_S)
        finally:
            await asyncio.to_thread(release.wait, PATIENCE_S)
            told.append((task.lost, task.cancel.check()))

    bus.run(admission.enqueue(q, stubborn, b"x"))
    with once(bus, q, handler, timeout_ms=40):
        until(lambda: bus.run(command("ZCARD", q.dead)) == 1)
        bus.run(admission.enqueue(q, fine, b"x"))
        until(done(bus, q, 1))
        assert not told
        release.set()
        until(lambda: told)
    assert bus.run(row(q, stubborn))[b"last_error"] == b"timed out after 40 ms"
    assert told == [(True, "timeout")]


def test_a_coroutine_is_told_of_a_lost_lease_and_cancelled_at_the_end(
    bus: Bus, q: QueueKeys, mint: Callable[[], bytes]
) -> None:
    (job_id,) = admit(bus, mint, q, 1)
    told: list[str | None] = []

    async def handler(task: AsyncTask) -> None:
        try:
            while task.attempts == 1 and not task.lost:  # noqa: ASYNC110 (the beat says so)
                await asyncio.sleep(0.005)
            if task.attempts > 1:
                await asyncio.sleep(PATIENCE_S)
        finally:
            told.append(task.cancel.check())

    with once(bus, q, handler, lease_ms=150, drain_s=0.05, concurrency=2):
        until(lambda: bus.run(command("ZCARD", q.active)) == 1)
        bus.run(command("ZADD", q.active, 1, job_id))
        bus.run(due.reap(q))
        until(lambda: told == ["lost"])
    assert told == ["lost", "stop"]
