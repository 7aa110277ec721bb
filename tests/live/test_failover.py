"""A primary hands over: reads recover alone, what cannot be written says so, events come again."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Callable, Iterator
from pathlib import Path

import pytest

from echomq_admin.live import sampler
from echomq_admin.live.frames import View
from echomq_admin.live.page import Watch
from echomq_admin.live.pages import PAGES
from echomq_admin.live.sampler import Observer
from echomq_admin.live.scene import Scene, host_ms
from echomq_admin.live.surroundings import banners
from queue_core.bus import connect
from queue_core.embedded import Embedded
from queue_core.errors import EchoMQError, UnavailableError
from queue_core.ids import Minter
from queue_core.keys import queue
from queue_core.outcomes import Word
from queue_core.verbs import admission, queues
from tests.builders import raw
from tests.servers import Sentinels, ask, running

mint = Minter(84).mint
CM = queue("cm")
WATCH = Watch("main", "pending", b"cm")


@pytest.fixture(scope="module")
def sentinels() -> Iterator[Sentinels]:
    with running(Sentinels) as servers:
        yield servers


@pytest.fixture
async def looking() -> AsyncIterator[Callable[[str], Observer]]:
    """`looking(url)`: an observer of the bus there."""
    made: list[Observer] = []

    def look(url: str) -> Observer:
        made.append(Observer(Scene("main", url, [b"cm"]), url))
        return made[-1]

    yield look
    for one in made:
        await one.close()


async def until(observer: Observer, true: Callable[[Scene], object]) -> None:
    """Tick until something holds."""
    for _ in range(200):
        await observer.tick([], walled=True)
        if true(observer.scene):
            return
        await asyncio.sleep(0.05)
    raise AssertionError(observer.scene.status)


def has_read(scene: Scene) -> bool:
    seen = scene.sample(b"cm")
    return scene.state == "live" and seen is not None and seen.value.pending == 1


async def test_case_106_reads_recover_alone_and_events_come_again(
    sentinels: Sentinels, looking: Callable[[str], Observer], monkeypatch: pytest.MonkeyPatch
) -> None:
    bus = connect(sentinels.url)
    bus.run(admission.enqueue(CM, mint(), b"x"))
    bus.close()
    observer = looking(sentinels.url)
    view = View(PAGES["pending"], WATCH)
    await until(observer, has_read)
    await observer.tick([view], walled=False)
    observer.hear([b"cm"])
    await asyncio.to_thread(sentinels.fail_over)
    now = observer.scene.now_ms
    await until(observer, lambda scene: has_read(scene) and scene.sample(b"cm").at_ms > now)
    assert observer.scene.no_writes(b"cm") == ""
    await observer.tick([view], walled=False)
    assert not any(isinstance(result, EchoMQError) for result in view.results)
    await heard_again(observer, sentinels, monkeypatch)


async def test_case_106_a_primary_that_became_a_replica_says_that_it_takes_no_writes(
    tmp_path: Path, looking: Callable[[str], Observer], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sampler, "HEALTH_MS", 0)
    server = Embedded(tmp_path / "old")
    server.start()
    bus = connect(server.url)
    bus.run(admission.enqueue(CM, mint(), b"x"))
    observer = looking(server.url)
    await until(observer, has_read)
    assert observer.scene.no_writes(b"cm") == ""
    bus.run(raw("REPLICAOF", "127.0.0.1", 1))
    await until(observer, lambda scene: scene.no_writes(b"cm"))
    assert has_read(observer.scene)
    assert "writes are unavailable" in observer.scene.no_writes(b"cm")
    told = banners({"main": observer.scene}, WATCH)
    assert [one["title"] for one in told] == ["main is a replica"]
    with pytest.raises(UnavailableError, match="READONLY"):
        bus.run(queues.pause(CM))
    bus.run(raw("REPLICAOF", "NO", "ONE"))
    await until(observer, lambda scene: not scene.no_writes(b"cm"))
    assert banners({"main": observer.scene}, WATCH) == []
    assert bus.run(queues.pause(CM)) is Word.ok
    bus.close()
    server.kill()


async def heard_again(
    observer: Observer, sentinels: Sentinels, monkeypatch: pytest.MonkeyPatch
) -> None:
    """What the new primary publishes brings the next tick at once."""
    monkeypatch.setattr(sampler, "GLANCE_MS", 600_000)
    for _ in range(100):
        observer.hear([b"cm"])
        paused = asyncio.create_task(observer.pause(host_ms(), watched=False))
        ask(sentinels.ports()[0], "PUBLISH", CM.events, '{"event":"progress"}')
        done, _ = await asyncio.wait({paused}, timeout=0.5)
        if done:
            return
        paused.cancel()
    raise AssertionError("nobody heard")
