"""Idle loops hear of work at once over every kind of server, and look where they may not hear."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator
from pathlib import Path

import pytest

from queue_core.async_bus import async_connect
from queue_core.bus import Bus, connect
from queue_core.embedded import Embedded
from queue_core.errors import UnavailableError
from queue_core.keys import QueueKeys
from queue_core.work import pump
from queue_core.work.turns import look
from tests.builders import command, raw
from tests.engine.crew import at_work, six_queues
from tests.hush import Line
from tests.servers import Single
from tests.tls import Door, certificate

MINUTE = 60_000


@pytest.fixture(params=["tls", "sentinels", "cluster"])
def url(request: pytest.FixtureRequest, server: Embedded, tmp_path: Path) -> Iterator[str]:
    """Servers of every kind but a single plain one, which other tests use."""
    if request.param != "tls":
        yield request.getfixturevalue(request.param).url
        return
    door = Door(server.socket, *certificate(tmp_path))
    yield f"rediss://127.0.0.1:{door.port}?ssl_ca_certs={door.cert}"
    door.close()


def test_all_loops_hear_over_every_kind_of_server(
    url: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(pump, "HEARD_MS", MINUTE)
    with at_work(url, six_queues(), beat_ms=MINUTE) as crew:
        for _ in range(3):  # from the second on they rest
            crew.served(crew.admit())
        assert all(watch.tracks for watch in crew.watches)
        assert not any(loop.faults for loop in crew.loops)


def test_all_loops_look_where_an_access_list_forbids_hearing(server: Embedded, bus: Bus) -> None:
    user = "deafcrew"
    bus.run(raw("ACL", "SETUSER", user, "on", ">x", "~*", "&*", "+@all", "-client|tracking"))
    try:
        with at_work(server.url.replace("unix://", f"unix://{user}:x@"), six_queues()) as crew:
            crew.served(crew.admit())
            crew.served(crew.admit())
            assert not any(watch.tracks for watch in crew.watches)
            assert not any(loop.faults for loop in crew.loops)
    finally:
        bus.run(raw("ACL", "DELUSER", user))


@pytest.fixture
def line(single: Single) -> Iterator[Line]:
    """A line to a server that may fall silent."""
    made = Line(single.port)
    yield made
    made.close()


def test_a_watch_on_a_silent_line_is_noticed_by_the_next_look(line: Line, q: QueueKeys) -> None:
    bus = connect(f"redis://127.0.0.1:{line.port}", command_timeout_ms=150)
    watch = bus.watch(q.pending)
    assert watch.look(look(q)) is not None
    line.hush()
    assert watch.wait(0.01) == []
    with pytest.raises(UnavailableError, match="watching line"):
        watch.look(look(q))
    assert watch.look(look(q)) is not None
    watch.wait(0)  # nothing told while it was lost
    bus.run(command("ZADD", q.pending, 0, "x"))
    assert watch.wait(20) == [q.pending]
    watch.close()
    bus.close()


async def test_an_awaited_watch_on_a_silent_line_is_noticed_by_the_next_look(
    line: Line, q: QueueKeys
) -> None:
    bus = await async_connect(f"redis://127.0.0.1:{line.port}", command_timeout_ms=150)
    event = asyncio.Event()
    watch = bus.watch(q.pending, event)
    assert await watch.look(look(q)) is not None
    line.hush()
    with pytest.raises(UnavailableError, match="watching line"):
        await watch.look(look(q))
    assert await watch.look(look(q)) is not None
    watch.taken()
    event.clear()
    with pytest.raises(UnavailableError):
        await bus.run(command("EXISTS", q.pending))  # its own line was silent too
    await bus.run(command("ZADD", q.pending, 0, "x"))
    async with asyncio.timeout(20):
        await event.wait()
    assert watch.taken() == [q.pending]
    watch.close()
    await bus.close()
