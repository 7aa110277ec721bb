"""A Cluster: every shard is read, one that is missing is said to be, a failover is survived."""

import asyncio
from collections.abc import AsyncIterator, Callable, Iterator
from typing import Any

import pytest

from echomq_admin.live.sampler import Observer
from echomq_admin.live.scene import Scene
from queue_core.bus import connect
from queue_core.ids import Minter
from queue_core.keys import queue
from queue_core.verbs import admission
from tests.servers import Cluster, ask, running

mint = Minter(83).mint
NAMES = [f"q{number}".encode() for number in range(12)]


@pytest.fixture(scope="module")
def cluster() -> Iterator[Cluster]:
    """Queues on every shard; a lost one does not stop the others."""
    with running(Cluster) as made:
        for port in made.nodes:
            ask(port, "CONFIG", "SET", "cluster-require-full-coverage", "no")
        bus = connect(made.url)
        for name in NAMES:
            bus.run(admission.enqueue(queue(name), mint(), b"x"))
        bus.close()
        yield made


@pytest.fixture
async def observer(cluster: Cluster) -> AsyncIterator[Observer]:
    made = Observer(Scene("play", cluster.url), cluster.url)
    yield made
    await made.close()


async def until(observer: Observer, true: Callable[[Scene], Any]) -> None:
    """Tick until the scene is so."""
    for _ in range(100):
        await observer.tick([], walled=True)
        if true(observer.scene):
            return
        await asyncio.sleep(0.1)
    raise AssertionError((observer.scene.status, observer.scene.partial))


def all_read(scene: Scene) -> bool:
    return all(scene.sample(name) is not None for name in NAMES)


async def test_case_118_every_shard_is_scanned_and_read(observer):
    await until(observer, all_read)
    assert observer.scene.primaries == 3
    assert observer.scene.partial == ""
    assert all(observer.scene.sample(name).value.pending == 1 for name in NAMES)


async def test_case_106_a_failover_is_survived_alone(observer, cluster):
    await until(observer, all_read)
    fallen = cluster.kill_primary()
    before = observer.scene.now_ms
    await until(
        observer,
        lambda scene: (
            not scene.partial
            and scene.status.state == "live"
            and all(scene.sample(name).at_ms > before for name in NAMES)
        ),
    )
    cluster.mend(fallen)


async def test_case_118_a_missing_shard_is_partial_and_keeps_its_last_numbers(observer, cluster):
    await until(observer, all_read)
    replica_of = {
        int(ask(port, "ROLE")[2]) for port in cluster.nodes if port not in cluster.ports()
    }
    lost = next(port for port in cluster.ports() if port not in replica_of)
    cluster.nodes[lost].kill()
    await until(observer, lambda scene: "went unanswered" in scene.partial)
    scene = observer.scene
    assert scene.status.state == "live"
    now = scene.now_ms
    await until(observer, lambda scene: any(scene.sample(name).at_ms > now for name in NAMES))
    assert {name for name in NAMES if scene.sample(name).at_ms <= now}
    assert all(scene.sample(name).value.pending == 1 for name in NAMES)
