"""Buses over TLS: a real server behind a TLS door, for the bundled one has none of its own."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from queue_core.embedded import Embedded
from queue_core.errors import UnavailableError
from queue_core.outcomes import Word
from queue_core.plans import Wait
from queue_core.verbs import admission
from tests.builders import command, raw
from tests.buses import Awaited, Blocking
from tests.servers import until
from tests.tls import Door, certificate


@pytest.fixture(scope="module")
def door(server: Embedded, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Door]:
    """The test server behind TLS."""
    made = Door(server.socket, *certificate(tmp_path_factory.mktemp("tls")))
    yield made
    made.close()


@pytest.fixture(params=[Blocking, Awaited])
def made(request: pytest.FixtureRequest):
    """Makes a bus of each kind over a URL."""
    buses = []

    def make(url: str):
        buses.append(request.param(url, connect_timeout_ms=2000))
        return buses[-1]

    yield make
    for bus in buses:
        bus.close()


def test_everything_goes_over_tls(door, made, q, mint):
    bus = made(f"rediss://127.0.0.1:{door.port}?ssl_ca_certs={door.cert}")
    assert bus.run(admission.enqueue(q, mint(), b"x" * 100_000)) is Word.enqueued
    assert bus.run_all([command("ZCARD", q.pending) for _ in range(50)]) == [1] * 50

    def wait():
        return (yield Wait((q.wake,), 20))

    assert bus.run(wait()) is None
    with bus.listening(q.events) as following:
        bus.run(command("PUBLISH", q.events, "hello"))
        assert following() == (q.events, b"hello")


def test_a_server_that_cannot_prove_itself_is_refused(door, made):
    with pytest.raises(UnavailableError, match=r"certificate.*ssl_ca_certs=FILE"):
        made(f"rediss://127.0.0.1:{door.port}")
    with pytest.raises(UnavailableError, match=r"(?i)mismatch.*ssl_check_hostname=false"):
        made(f"rediss://localhost:{door.port}?ssl_ca_certs={door.cert}")


def test_proof_can_be_waived_in_so_many_words(door, made, q):
    bus = made(f"rediss://localhost:{door.port}?ssl_cert_reqs=none")
    assert bus.run(command("EXISTS", q.base)) == 0
    named = made(
        f"rediss://localhost:{door.port}?ssl_ca_certs={door.cert}&ssl_check_hostname=false"
    )
    assert named.run(command("EXISTS", q.base)) == 0


def test_plain_speech_at_a_tls_door_is_unavailable(door, made):
    with pytest.raises(UnavailableError):
        made(f"redis://127.0.0.1:{door.port}")


def test_a_line_that_was_cut_while_it_rested_is_not_used(door, made, run, q):
    bus = made(f"rediss://127.0.0.1:{door.port}?ssl_ca_certs={door.cert}&client_name=rested")
    bus.run(command("SET", q.base, 0))
    rested = [
        line.split()[0].partition("=")[2]
        for line in run(raw("CLIENT", "LIST")).decode().splitlines()
        if "name=rested" in line
    ]
    for number in rested:
        run(raw("CLIENT", "KILL", "ID", number))
    until(lambda: door.passing == 0, "the door has closed")
    assert bus.run(command("INCR", q.base)) == 1


def test_lines_over_tls_are_kept(door, made, q):
    bus = made(f"rediss://127.0.0.1:{door.port}?ssl_ca_certs={door.cert}")
    bus.run(command("SET", q.base, 0))
    opened = door.opened
    for _ in range(20):
        bus.run(command("INCR", q.base))
    assert door.opened == opened
