"""The version fence on every connection (protocol part 3), over every kind of servers."""

from __future__ import annotations

import re

import pytest

from queue_core.errors import ContractError, FenceError, ServerFault
from queue_core.fence import DEFAULT
from queue_core.keys import VERSION
from queue_core.plans import Wait
from queue_core.reads.counts import get_counts
from queue_core.verbs import admission, claims
from tests.builders import HOUR, command
from tests.buses import watched
from tests.servers import ask

FIRST = re.compile(r'\] "(\w+)"')
NOISE = {"ECHO", "PING", "INFO", "PUBLISH", "SENTINEL", "REPLCONF"}
"""What the watch itself and the sentinels send."""


def raw(reach, *words):
    """A command past any bus, to whichever primary owns its key."""
    for port in reach.servers.ports():
        try:
            return ask(port, *words)
        except ServerFault as fault:
            if fault.code != "MOVED":
                raise
    raise AssertionError(words)


@pytest.fixture
def fence(reach):
    """Sets the fence past any bus, None for none; as we want it at the beginning and the end."""

    def set_to(value: str | None) -> None:
        raw(reach, "DEL", VERSION)
        if value is not None:
            raw(reach, "SET", VERSION, value)

    set_to(DEFAULT)
    yield set_to
    set_to(DEFAULT)


def value(reach) -> bytes | None:
    return raw(reach, "GET", VERSION)


@pytest.mark.parametrize("other", ["echomq:3.0.1", "echomq:2.4.2", "", "echomq:3.0.0 "])
def test_another_version_is_refused_and_left_alone(reach, fence, other):
    fence(other)
    with pytest.raises(FenceError) as refusal:
        reach.another()
    assert refusal.value.got == other.encode()
    assert refusal.value.expected == DEFAULT
    assert value(reach) == other.encode()


def test_a_fence_of_another_type_is_refused(reach, fence):
    fence(None)
    raw(reach, "RPUSH", VERSION, DEFAULT)
    with pytest.raises(FenceError):
        reach.another(observe=True)


def test_the_version_is_a_matter_of_configuration(reach, fence):
    fence("echomq:9.9.9")
    other = reach.another(fence="echomq:9.9.9")
    assert other.run(command("GET", VERSION)) == b"echomq:9.9.9"


def test_looking_claims_nothing_and_the_first_write_does(reach, fence, q, mint):
    fence(None)
    other = reach.another()
    assert other.run(get_counts(q)).value["pending"] == 0
    assert value(reach) is None
    other.run(admission.enqueue(q, mint(), b""))
    assert value(reach) == DEFAULT.encode()


def test_a_blocking_pop_claims_too(reach, fence, q):
    fence(None)
    other = reach.another()

    def wait():
        return (yield Wait((q.wake,), 10))

    assert other.run(wait()) is None
    assert value(reach) == DEFAULT.encode()


def test_who_finds_another_there_first_writes_nothing(reach, fence, q, mint):
    fence(None)
    other = reach.another()
    other.run(command("EXISTS", q.pending))
    fence("echomq:4.0.0")
    with pytest.raises(FenceError):
        other.run(admission.enqueue(q, mint(), b""))
    with pytest.raises(FenceError):
        raise other.run_all([admission.enqueue(q, mint(), b"")])[0]
    assert raw(reach, "EXISTS", q.pending) == 0
    assert value(reach) == b"echomq:4.0.0"


def test_a_connection_that_stands_goes_on_and_a_new_one_is_refused(reach, fence, q):
    other = reach.another()
    assert other.run(command("EXISTS", q.base)) == 0
    fence("echomq:4.0.0")
    assert other.run(command("EXISTS", q.base)) == 0
    with pytest.raises(FenceError):
        reach.another()


def test_the_fence_is_read_before_anything_else(reach, fence, q):
    with watched(reach.servers) as seen:
        other = reach.another()
        other.run(command("GET", q.base))
        lines = seen()
    ours = sorted(line for line in lines if FIRST.search(line))  # by their time
    before = {"CLIENT", "ROLE", "CLUSTER", "HELLO", "AUTH", "SELECT"}  # greetings and who serves
    words = [FIRST.search(line)[1] for line in ours]
    reads = words.index("GET")
    assert set(words[:reads]) <= before | NOISE
    assert '"{emq}:version"' in ours[reads]


def test_an_observer_writes_nothing_and_claims_nothing(reach, fence, q, mint):
    fence(None)
    with watched(reach.servers) as seen:
        other = reach.another(observe=True)
        assert other.run(get_counts(q)).value["dead"] == 0
        assert other.run(command("GET", VERSION)) is None
        for plan in (
            admission.enqueue(q, mint(), b""),
            claims.claim(q, HOUR),
            command("SET", q.base, "x"),
            blocking(q),
        ):
            with pytest.raises(ContractError):
                other.run(plan)
        with pytest.raises(ContractError):
            other.run_all([command("DEL", q.base)])
        sent = {FIRST.search(line)[1].upper() for line in seen()}
    looking = {"GET", "EVALSHA_RO", "SCRIPT", "CLIENT", "CLUSTER", "ROLE"}
    inside_the_script = {"TIME", "ZCARD", "HGET"}
    assert sent <= looking | inside_the_script | NOISE
    assert value(reach) is None


def blocking(q):
    return (yield Wait((q.wake,), 10))


def test_a_bus_that_connects_anew_meets_the_fence_of_that_moment(reach, fence, q):
    other = reach.another()
    other.run(command("EXISTS", q.base))
    fence("echomq:4.0.0")
    for port in reach.servers.ports():
        ask(port, "CLIENT", "KILL", "TYPE", "NORMAL", "SKIPME", "YES")
    with pytest.raises(FenceError):
        other.run(command("EXISTS", q.base))
    fence(DEFAULT)
    assert other.run(command("EXISTS", q.base)) == 0
