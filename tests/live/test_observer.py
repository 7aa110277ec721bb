"""The observer when the bus is slow, goes away, comes back, or lacks a part."""

import asyncio
from collections.abc import AsyncIterator, Iterator
from dataclasses import replace
from pathlib import Path

import pytest

from echomq_admin.charts.throughput import UNKNOWN, latest
from echomq_admin.live import observatory, sampler
from echomq_admin.live.frames import View
from echomq_admin.live.page import Watch
from echomq_admin.live.pages import PAGES
from echomq_admin.live.sampler import Observer
from echomq_admin.live.scene import STALE_MS, Scene, host_ms
from echomq_admin.live.signs import flags, unserved
from queue_core.bus import Bus, connect
from queue_core.embedded import Embedded
from queue_core.errors import EchoMQError
from queue_core.ids import Minter
from queue_core.keys import queue
from queue_core.reads.sample import sample
from queue_core.verbs import admission, claims
from tests.builders import HOUR, command, raw, server_ms
from tests.trips import counted

mint = Minter(79).mint
CM = queue("cm")


@pytest.fixture
def own(tmp_path: Path) -> Iterator[Embedded]:
    """A server that a test may stop."""
    server = Embedded(tmp_path / "own")
    server.start()
    yield server
    server.kill()


@pytest.fixture
def filled(own: Embedded) -> Iterator[Bus]:
    """A bus to it, with three jobs waiting in cm."""
    bus = connect(own.url)
    for _ in range(3):
        bus.run(admission.enqueue(CM, mint(), b"x"))
    yield bus
    bus.close()


@pytest.fixture
async def observer(own: Embedded) -> AsyncIterator[Observer]:
    made = Observer(Scene("main", own.url, [b"cm"]), own.url)
    yield made
    await made.close()


def view(page: str = "dead") -> View:
    return View(PAGES[page], Watch("main", page, b"cm"))


async def until(observer: Observer, state: str) -> None:
    """Tick until the bus stands so."""
    for _ in range(100):
        await observer.tick([], walled=True)
        if observer.scene.status.state == state:
            return
        await asyncio.sleep(0.1)
    raise AssertionError(observer.scene.status)


async def test_a_tick_is_one_round_trip_however_many_look(observer, filled):
    views = [view("dead"), view("active"), view("schedule"), view("dead")]
    await observer.tick(views, walled=True)
    with counted() as trips:
        await observer.tick(views, walled=True)
    assert len(trips) == 1
    assert trips.calls[0].count("reads/sample") == 1


async def test_case_104_the_last_value_stays_when_the_bus_goes(observer, filled, own):
    await observer.tick([], walled=True)
    assert observer.scene.sample(b"cm").value.pending == 3
    own.kill()
    await until(observer, "unreachable")
    status = observer.scene.status
    assert observer.scene.sample(b"cm").value.pending == 3
    assert status.why
    assert status.since_ms <= observer.scene.now_ms
    assert status.next_try_ms is not None


async def test_case_106_it_recovers_alone(observer, filled, own):
    await observer.tick([], walled=True)
    own.kill()
    await until(observer, "unreachable")
    own.start()
    await until(observer, "live")
    assert observer.scene.sample(b"cm").value.pending == 3
    assert observer.scene.status.next_try_ms is None


async def test_a_panel_keeps_what_it_had_and_a_new_one_says_unknown(observer, filled, own):
    seen, fresh = view(), view()
    await observer.tick([seen], walled=False)
    own.kill()
    await until(observer, "unreachable")
    kept = list(seen.results)
    await observer.tick([seen, fresh], walled=False)
    assert seen.results == kept
    assert all(isinstance(result, EchoMQError) for result in fresh.results)


async def test_case_4_a_slow_bus_stretches_the_tick_and_is_never_asked_twice(observer, filled):
    await observer.tick([], walled=True)
    with counted() as trips:
        filled.run(raw("CLIENT", "PAUSE", 900, "ALL"))
        await asyncio.gather(*(observer.tick([view()], walled=False) for _ in range(3)))
        assert trips.at_once == 1
    assert observer.scene.status.state == "live"
    await observer.tick([], walled=True)
    assert observer.scene.age_ms() < STALE_MS


async def test_a_first_paint_does_not_wait_for_a_bus_that_hangs(observer, filled, monkeypatch):
    monkeypatch.setattr(sampler, "FIRST_S", 0.2)
    await observer.tick([], walled=True)
    filled.run(raw("CLIENT", "PAUSE", 1500, "ALL"))
    page = PAGES["dead"]
    seen = await observer.first(page, Watch("main", "dead", b"cm"), walled=False)
    assert all(isinstance(result, EchoMQError) for result in seen.results)
    assert observer.scene.sample(b"cm").value.pending == 3


async def test_another_wire_version_is_told_apart(own, filled):
    filled.run(command("SET", b"{emq}:version", "echomq:9.0.0"))
    observer = Observer(Scene("main", own.url), own.url)
    await observer.tick([], walled=True)
    assert observer.scene.status.state == "fence"
    assert "9.0.0" in observer.scene.status.why
    await observer.close()


async def test_a_wrong_password_is_told_apart(own, filled):
    filled.run(raw("CONFIG", "SET", "requirepass", "right-1"))
    observer = Observer(Scene("main", own.url), own.url)
    await observer.tick([], walled=True)
    assert observer.scene.status.state == "forbidden"
    await observer.close()


async def test_an_event_brings_the_next_tick_at_once(observer, filled, monkeypatch):
    monkeypatch.setattr(sampler, "GLANCE_MS", 600_000)
    await observer.tick([], walled=True)
    observer.hear([b"cm"])
    paused = asyncio.create_task(observer.pause(host_ms(), watched=False))
    for _ in range(100):
        filled.run(command("PUBLISH", CM.events, '{"event":"progress"}'))
        done, _ = await asyncio.wait({paused}, timeout=0.1)
        if done:
            return
    raise AssertionError("nobody heard")


async def test_an_observer_writes_nothing(observer, filled, own):
    def changes() -> bytes:
        info = filled.run(raw("INFO", "persistence"))
        return next(one for one in info.splitlines() if one.startswith(b"rdb_changes"))

    before = changes()
    for _ in range(3):
        await observer.tick([view(page) for page in PAGES if page != "overview"], walled=True)
    assert changes() == before


def shifted(scene: Scene, bus: Bus, seconds: int) -> None:
    """A look at cm as if it were `seconds` later."""
    seen = bus.run(sample(CM))
    scene.note_sample(b"cm", replace(seen, at_ms=seen.at_ms + seconds * 1000))


def words_of(scene: Scene) -> set[str]:
    return {flag.word for flag in flags(scene, b"cm")}


def test_case_114_no_workers_is_said_when_nobody_holds_or_beats(filled):
    scene = Scene("main", "", [b"cm"])
    shifted(scene, filled, 0)
    assert words_of(scene) == {"no workers"}
    oldest = scene.sample(b"cm").value.oldest_ms
    shifted(scene, filled, 30)
    assert scene.sample(b"cm").value.oldest_ms == oldest
    assert latest(scene.history(b"cm")) == UNKNOWN
    filled.run(claims.claim(CM, 60_000))
    shifted(scene, filled, 31)
    assert "no workers" not in words_of(scene)


def worker_heard(bus: Bus, name: bytes, ago_ms: int) -> int:
    """A worker whose last heartbeat was so long ago; its moment."""
    at = bus.run(server_ms()) - ago_ms
    bus.run(command("ZADD", CM.workers, at, name))
    return at


def signs_of(scene: Scene) -> list[tuple[str, int | None]]:
    return [(f"{flag.word} {flag.joint}", flag.since_ms) for flag in flags(scene, b"cm")]


def test_a_worker_that_fell_silent_is_missing_since_its_last_heartbeat(filled):
    """Also while it still holds a job, others have finished, nothing waits or the queue is
    paused: none of that shows that anybody works."""
    scene = Scene("main", "", [b"cm"])
    at = worker_heard(filled, b"w1", 9_000)
    shifted(scene, filled, 0)
    assert signs_of(scene) == []
    filled.run(command("ZADD", CM.workers, at := at - 2_000, b"w1"))
    for second in (1, 20, 40):
        filled.run(claims.claim(CM, 60_000))
        filled.run(command("HINCRBY", CM.metrics_completed, "count", 1))
        shifted(scene, filled, second)
        assert signs_of(scene) == [("no worker heard for", at)]
    assert scene.sample(b"cm").value.waiting == 0
    filled.run(command("HSET", CM.meta, "paused", "1"))
    shifted(scene, filled, 41)
    assert ("no worker heard for", at) in signs_of(scene)


def test_a_worker_forgotten_by_the_registry_is_none(filled):
    scene = Scene("main", "", [b"cm"])
    worker_heard(filled, b"w1", 24 * HOUR + 1_000)
    shifted(scene, filled, 0)
    assert words_of(scene) == {"no workers"}


def test_some_of_several_workers_are_counted_as_missing(filled):
    scene = Scene("main", "", [b"cm"])
    worker_heard(filled, b"w1", 0), worker_heard(filled, b"w2", 2_000)
    worker_heard(filled, b"w3", 300_000), worker_heard(filled, b"long gone", HOUR)
    last = worker_heard(filled, b"w4", 12_000)
    shifted(scene, filled, 0)
    assert signs_of(scene) == [("2 of 4 workers silent for", last)]


def test_a_busy_worker_that_ends_nothing_is_no_missing_consumer(filled):
    scene = Scene("main", "", [b"cm"])
    worker_heard(filled, b"w1", 0)
    filled.run(claims.claim(CM, 60_000))
    shifted(scene, filled, 0)
    shifted(scene, filled, 60)
    assert words_of(scene) == set()


def test_nothing_promoting_needs_proof(filled):
    scene = Scene("main", "", [b"cm"])
    filled.run(command("ZADD", CM.schedule, 1000, mint()))
    shifted(scene, filled, 0)
    assert "nothing promoting" not in words_of(scene)
    shifted(scene, filled, 6)
    assert "nothing promoting" in words_of(scene)


def test_no_flat_consumer_is_said_when_others_finish_and_the_head_stands(filled):
    scene = Scene("main", "", [b"cm"])
    filled.run(command("ZADD", CM.workers, 2**53, b"w"))
    shifted(scene, filled, 0)
    filled.run(command("HSET", CM.metrics_completed, "count", 9))
    shifted(scene, filled, 10)
    assert words_of(scene) == set()
    assert unserved(scene, b"cm", flat=True) is None
    shifted(scene, filled, 16)
    assert words_of(scene) == {"no flat consumer"}
    assert unserved(scene, b"cm", flat=True).word == "no flat consumer"
    assert unserved(scene, b"cm", flat=False) is None


def test_paused_since_is_known_only_where_it_was_seen(filled):
    scene = Scene("main", "", [b"cm"])
    filled.run(command("HSET", CM.meta, "paused", "1"))
    shifted(scene, filled, 0)
    assert scene.paused_since(b"cm") is None
    filled.run(command("HDEL", CM.meta, "paused"))
    shifted(scene, filled, 1)
    filled.run(command("HSET", CM.meta, "paused", "1"))
    shifted(scene, filled, 2)
    assert scene.paused_since(b"cm") is not None


async def test_a_queue_that_comes_later_is_on_the_wall_with_its_counts_a_tick_later(
    observer, filled
):
    """Searched for in every tick, by one step of the search each, and looked at in the same."""
    for _ in range(3):
        await observer.tick([], walled=True)
    for name in ("later", "later-still"):
        filled.run(command("ZADD", queue(name).pending, 0, mint()))
        with counted() as trips:
            await observer.tick([], walled=True)
        assert observer.scene.sample(name.encode()).value.pending == 1
        assert [trip.count("reads/discover") for trip in trips.calls] == [1, 0]
        assert trips.calls[1] == ["reads/sample"]


async def test_without_a_wall_the_search_rests_between_its_passes(observer, filled):
    await observer.tick([view()], walled=False)
    with counted() as trips:
        await observer.tick([view()], walled=False)
    assert "reads/discover" not in trips.calls[0]


def test_what_a_bus_brings_while_the_wall_was_just_drawn_is_drawn_soon_after(watched):
    """Without waiting for the next tick of any bus."""
    watch, here = Watch("", "overview"), observatory.observatory()
    wall = View(PAGES["overview"], watch)

    async def brought() -> list[int]:
        here._views[watch] = wall
        wall.drawn_ms = begun = host_ms()
        assert not any(here._redraw(wall) for _ in range(3))
        for _ in range(100):
            if wall.state.version:
                break
            await asyncio.sleep(0.02)
        del here._views[watch]
        return [wall.state.version, wall.drawn_ms - begun]

    version, after = here._send(brought()).result(10)
    assert version == 1
    assert after >= sampler.TICK_MS
