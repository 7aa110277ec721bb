"""Which queues a bus holds: found by their fixed keys, whatever they are called."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from queue_core.bus import Bus, connect
from queue_core.embedded import Embedded
from queue_core.keys import found
from queue_core.reads.discovery import PAGE, ROUNDS, discover
from tests.builders import command

STRANGE = [
    b"a b", b"a:b", b"a/b", b"a#b", b"a?b", b"a+b", b"a%2Fb", b"..", b"{a}", b"a}b", b"{}", b"",
    "\U0001f3b2".encode(), "‮evil".encode(), b"x" * 512, b"\xff\xfe\x00", b"x:job:1",
]  # fmt: skip


@pytest.fixture(scope="module")
def alone(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Bus]:
    """A server that holds nothing of other tests."""
    server = Embedded(Path(tmp_path_factory.mktemp("alone")))
    server.start()
    bus = connect(server.url)
    yield bus
    bus.close()
    server.kill()


def walk(bus: Bus) -> set[bytes]:
    """One whole pass."""
    names: set[bytes] = set()
    cursor = b"0"
    while True:
        step = bus.run(discover(cursor))
        names.update(step.names)
        cursor = step.cursor
        if cursor == b"0":
            return names


@pytest.mark.parametrize("name", STRANGE, ids=repr)
def test_case_26_any_name_is_found_as_it_is(alone: Bus, name: bytes) -> None:
    alone.run(command("ZADD", found(name).pending, 0, b"JOBx"))
    assert name in walk(alone)


def test_case_28_a_job_is_no_queue(alone: Bus) -> None:
    x = found(b"home")
    alone.run(command("ZADD", x.pending, 0, b"1:schedule"))
    alone.run(command("HSET", x.row(b"1:schedule"), "state", "pending"))
    alone.run(command("HSET", x.row(b"a}:meta"), "state", "pending"))
    alone.run(command("ZADD", x.lane(b"a}"), 0, b"JOBx"))
    names = walk(alone)
    assert b"home" in names
    assert not [name for name in names if name.startswith(b"home") and name != b"home"]


def test_a_key_of_another_type_names_no_queue(alone: Bus) -> None:
    alone.run(command("SET", found(b"imposter").pending, b"x"))
    assert b"imposter" not in walk(alone)


def test_a_queue_of_lanes_alone_or_paused_alone_is_found(alone: Bus) -> None:
    alone.run(command("RPUSH", found(b"only-lanes").ring, b"PRT1"))
    alone.run(command("HSET", found(b"only-paused").meta, "paused", "1"))
    assert {b"only-lanes", b"only-paused"} <= walk(alone)


def test_the_reserved_name_is_no_queue(alone: Bus) -> None:
    alone.run(command("ZADD", found(b"emq").pending, 0, b"JOBx"))
    assert b"emq" not in walk(alone)


def test_a_step_is_bounded(alone: Bus) -> None:
    filler = [word for at in range(PAGE * ROUNDS * 2) for word in (f"other:{at}", "1")]
    alone.run(command("MSET", filler[0].encode(), *filler[1:]))
    assert alone.run(discover()).cursor != b"0"
