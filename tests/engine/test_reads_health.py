"""How a bus fares, and which right is missing where it will not say."""

from collections.abc import Iterator
from urllib.parse import urlsplit

import pytest

from queue_core.bus import Bus, connect
from queue_core.embedded import Embedded
from queue_core.keys import QueueKeys
from queue_core.reads.health import health
from queue_core.reads.sample import sample
from tests.builders import Run, command, raw, server_ms


def test_health_tells_clock_fence_memory_and_policy(run: Run, q: QueueKeys) -> None:
    run(command("HSET", q.meta, "max", 1))  # the first write claims the fence
    before = run(server_ms())
    seen = run(health())
    assert before <= seen.now_ms
    assert seen.fence == b"echomq:3.0.0"
    assert seen.memory > 0
    assert seen.role == "master"
    assert seen.policy == "noeviction"
    assert not seen.evicts
    assert seen.missing == ()


def test_case_112_an_evicting_policy_is_a_danger(bus: Bus) -> None:
    bus.run(raw("CONFIG", "SET", "maxmemory-policy", "allkeys-lru"))
    try:
        seen = bus.run(health())
        assert (seen.policy, seen.evicts) == ("allkeys-lru", True)
    finally:
        bus.run(raw("CONFIG", "SET", "maxmemory-policy", "noeviction"))


@pytest.fixture
def reader(bus: Bus, server: Embedded) -> Iterator[Bus]:
    """A login that reads, without INFO."""
    rules = [
        "on",
        ">secret-1",
        "~*",
        "&*",
        "+@read",
        "+@connection",
        "+@scripting",
        "+time",
        "-info",
    ]
    bus.run(raw("ACL", "SETUSER", "reader", "reset", *rules))
    made = connect(with_login(server.url, "reader", "secret-1"), observe=True)
    yield made
    made.close()
    bus.run(raw("ACL", "DELUSER", "reader"))


def with_login(url: str, user: str, password: str) -> str:
    """The same server, as somebody else."""
    parts = urlsplit(url)
    return parts._replace(netloc=f"{user}:{password}@{parts.netloc}").geturl()


def test_case_110_a_missing_right_is_named_and_the_rest_stands(reader: Bus) -> None:
    seen = reader.run(health())
    assert seen.missing == ("INFO",)
    assert seen.memory is None
    assert seen.policy is None
    assert not seen.evicts
    assert seen.fence == b"echomq:3.0.0"


def test_case_110_a_queue_whose_keys_are_refused_in_part(
    bus: Bus, server: Embedded, q: QueueKeys
) -> None:
    bus.run(command("ZADD", q.pending, 0, b"JOBx"))
    name = q.name.decode()
    rules = [
        "on",
        ">secret-2",
        f"%R~emq:{{{name}}}:*",
        "%R~{emq}:version",
        "+@read",
        "+@connection",
    ]
    rules += ["+@scripting", "+time", "-hget", "-hmget", "-zcount"]
    bus.run(raw("ACL", "SETUSER", "half", "reset", *rules))
    half = connect(with_login(server.url, "half", "secret-2"), observe=True)
    try:
        seen = half.run(sample(q))
        assert seen.value.pending == 1
        assert seen.value.paused is None
        assert seen.value.workers is None
        assert seen.value.completed is None
        assert not seen.complete
        assert "access list refuses" in seen.why
        assert {fault.kind for fault in seen.value.faults} == {"forbidden"}
    finally:
        half.close()
        bus.run(raw("ACL", "DELUSER", "half"))
