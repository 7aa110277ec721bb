"""What goes wrong, told apart: never sent, sent without an answer, refused."""

from __future__ import annotations

import os
import signal
import socket
import threading

import pytest

from queue_core.bus import connect
from queue_core.errors import (
    EchoMQError,
    ForbiddenFault,
    InvalidError,
    UnavailableError,
    UnknownOutcomeError,
)
from queue_core.keys import queue
from queue_core.links import Link
from queue_core.outcomes import Word
from queue_core.plans import Batch, Call, Wait
from queue_core.verbs import admission
from tests.builders import command
from tests.engine.reach import BUSES
from tests.servers import Single, ask, running


@pytest.fixture(scope="module")
def lonely():
    """A server of this module's own, which it may stop and kill."""
    with running(Single) as servers:
        yield servers


@pytest.fixture(params=BUSES)
def bus_of(request, lonely):
    """Makes buses of each kind over it."""
    made = []

    def make(url=None, **options):
        made.append(BUSES[request.param](url or lonely.url, **options))
        return made[-1]

    yield make
    for one in made:
        one.close()


@pytest.fixture
def asleep(lonely):
    """The server while it is put to sleep: it accepts and answers nothing."""

    class Asleep:
        def __enter__(self):
            os.kill(lonely.server.pid, signal.SIGSTOP)

        def __exit__(self, *_):
            os.kill(lonely.server.pid, signal.SIGCONT)

    return Asleep()


def test_row_44_a_write_without_an_answer_is_unknown_and_happens_once(bus_of, asleep, q):
    bus = bus_of(command_timeout_ms=150)
    bus.run(command("SET", q.base, 0))
    with asleep, pytest.raises(UnknownOutcomeError):
        bus.run(command("INCR", q.base))
    assert bus.run(command("GET", q.base)) == b"1"


def test_a_read_without_an_answer_changed_nothing(bus_of, asleep, q):
    bus = bus_of(command_timeout_ms=150)
    with asleep, pytest.raises(UnavailableError) as fault:
        bus.run(command("GET", q.base))
    assert fault.value.code == "LOST"


def test_each_call_of_a_lost_pipeline_is_told_apart(bus_of, asleep, q, mint):
    bus = bus_of(command_timeout_ms=150)
    bus.run(command("SET", q.base, 0))

    def mixed():
        return (yield Batch((Call("INCR", (q.base,)), Call("GET", (q.base,)))))

    with asleep:
        write, read = bus.run(mixed())
        admitted, looked = bus.run_all([admission.enqueue(q, mint(), b""), command("GET", q.base)])
    assert isinstance(write, UnknownOutcomeError)
    assert isinstance(read, UnavailableError)
    assert isinstance(admitted, EchoMQError)
    assert isinstance(looked, UnavailableError)


def test_row_44_an_admission_of_unknown_outcome_may_be_sent_again(bus_of, asleep, q, mint):
    bus = bus_of(command_timeout_ms=150)
    bus.run(admission.enqueue(q, mint(), b""))
    job_id = mint()
    with asleep, pytest.raises(UnknownOutcomeError):
        bus.run(admission.enqueue(q, job_id, b"once"))
    assert bus.run(admission.enqueue(q, job_id, b"once")) in (Word.enqueued, Word.duplicate)
    assert bus.run(command("ZCARD", q.pending)) == 2


def test_a_killed_server_is_unavailable_and_the_bus_recovers_alone(bus_of, lonely, q):
    bus = bus_of(connect_timeout_ms=500)
    bus.run(command("SET", q.base, "kept"))
    lonely.server.kill()
    for _ in range(3):
        with pytest.raises(UnavailableError) as fault:
            bus.run(command("SET", q.base, "x"))
        assert fault.value.code == "CONNECT"
    results = bus.run_all([command("GET", q.base), command("SET", q.base, "x")])
    assert [one.code for one in results] == ["CONNECT", "CONNECT"]
    with pytest.raises(UnavailableError):
        bus_of()
    lonely.server.start()
    assert bus.run(command("GET", q.base)) == b"kept"


def test_a_wait_that_is_cut_is_a_fault_and_the_next_goes_on(bus_of, lonely, q):
    bus = bus_of()

    def wait(ms):
        return (yield Wait((q.wake,), ms))

    assert bus.run(wait(10)) is None
    killer = threading.Timer(
        0.1, lambda: ask(lonely.port, "CLIENT", "KILL", "TYPE", "NORMAL", "SKIPME", "YES")
    )
    killer.start()
    with pytest.raises(UnknownOutcomeError):
        bus.run(wait(10_000))
    killer.join()
    bus.run(command("LPUSH", q.wake, "1"))
    assert bus.run(wait(5_000)) == [q.wake, b"1"]


def test_refusals_of_a_server_that_cannot_serve_have_a_code(bus_of, lonely, q):
    bus = bus_of()
    ask(lonely.port, "REPLICAOF", "127.0.0.1", "1")
    try:
        with pytest.raises(UnavailableError) as fault:
            bus.run(command("SET", q.base, "x"))
        assert fault.value.code == "READONLY"
    finally:
        ask(lonely.port, "REPLICAOF", "NO", "ONE")
    ask(lonely.port, "CONFIG", "SET", "maxmemory", "1")
    try:
        with pytest.raises(UnavailableError) as fault:
            bus.run(command("SET", q.base, "x"))
        assert fault.value.code == "OOM"
    finally:
        ask(lonely.port, "CONFIG", "SET", "maxmemory", "0")


def test_an_access_list_that_refuses_is_forbidden(bus_of, lonely, q, mint):
    rights = ("~emq:*", "%R~{emq}:version", "resetchannels", "+@read", "+evalsha", "+script|load")
    ask(lonely.port, "ACL", "SETUSER", "reader", "on", ">s3cr3t", *rights)
    bus = bus_of(lonely.url.replace("://", "://reader:s3cr3t@"))
    assert bus.run(command("GET", q.base)) is None
    with pytest.raises(ForbiddenFault):
        bus.run(command("GET", b"elsewhere"))
    with pytest.raises(ForbiddenFault):
        bus.run(admission.enqueue(q, mint(), b""))


def test_a_wrong_password_is_forbidden_and_never_shown(bus_of, lonely):
    url = lonely.url.replace("://", "://reader:hunter2@")
    ask(lonely.port, "ACL", "SETUSER", "reader", "on", ">s3cr3t", "+@all", "~*")
    with pytest.raises(ForbiddenFault) as fault:
        bus_of(url)
    assert "hunter2" not in f"{fault.value!r} {fault.value}"
    good = bus_of(url.replace("hunter2", "s3cr3t"))
    assert "s3cr3t" not in good.bus.url_safe
    assert "***@" in good.bus.url_safe


def test_a_server_that_wants_a_password_and_gets_none_is_forbidden(bus_of, lonely):
    ask(lonely.port, "CONFIG", "SET", "requirepass", "s3cr3t")
    try:
        with pytest.raises(ForbiddenFault):
            bus_of()
        bus_of(lonely.url.replace("://", "://:s3cr3t@")).run(command("GET", b"x"))
    finally:
        bus_of(lonely.url.replace("://", "://:s3cr3t@")).run(no_password())


def no_password():
    return (yield Call("CONFIG", (), ("SET", "requirepass", "")))


def test_a_database_of_its_own(bus_of, lonely, q):
    bus, other = bus_of(), bus_of(lonely.url + "/3")
    other.run(command("SET", q.base, "three"))
    assert bus.run(command("GET", q.base)) is None
    with pytest.raises(EchoMQError):
        bus_of(lonely.url + "/99")


def test_bytes_that_are_no_reply_break_the_line(bus_of):
    with socket.create_server(("127.0.0.1", 0)) as server:

        def answer():
            client, _ = server.accept()
            client.recv(1024)
            client.sendall(b"HTTP/1.1 400 Bad Request\r\n\r\n")
            client.recv(1024)

        thread = threading.Thread(target=answer, daemon=True)
        thread.start()
        with pytest.raises(UnavailableError):
            bus_of(f"redis://127.0.0.1:{server.getsockname()[1]}", command_timeout_ms=500)
        thread.join(2)


def test_a_server_that_never_greets_holds_up_no_longer_than_connecting_may_take(bus_of):
    with socket.create_server(("127.0.0.1", 0)) as server:

        def hang():
            client, _ = server.accept()
            given_up.wait(5)
            client.close()

        given_up = threading.Event()
        thread = threading.Thread(target=hang, daemon=True)
        thread.start()
        with pytest.raises(UnavailableError, match="time"):
            bus_of(
                f"redis://127.0.0.1:{server.getsockname()[1]}",
                connect_timeout_ms=150,
                command_timeout_ms=600_000,
            )
        given_up.set()
        thread.join(2)


def test_a_line_that_is_given_up_is_in_nobody_elses_hands(lonely, monkeypatch):
    bus = connect(lonely.url)
    pools, node = bus._pools, bus.primaries()[0]
    for link in [pools.take(node) for _ in range(3)]:
        pools.put(link)
    stack, closed, close = pools._idle[node], [], Link.close

    def closing(link):
        closed.append(link in stack)
        close(link)

    monkeypatch.setattr(Link, "close", closing)
    bus.close()
    assert closed == [False] * 3


def test_a_url_that_says_nothing_is_refused_before_any_socket(bus_of):
    with pytest.raises(InvalidError):
        bus_of("http://127.0.0.1:1")


def test_row_41_queues_of_a_bad_name_never_reach_the_bus():
    with pytest.raises(InvalidError):
        queue("emq")
