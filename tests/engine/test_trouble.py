"""Trouble with the server ends no loop: each waits, says so once, goes on, and no job is lost."""

from __future__ import annotations

import contextlib
import logging
import threading
from collections.abc import Callable, Iterator

import pytest

from queue_core.bus import connect
from queue_core.embedded import Embedded
from queue_core.errors import EchoMQError, UnavailableError
from queue_core.keys import QueueKeys
from queue_core.routes import slot_of
from queue_core.verbs import admission, repeats
from queue_core.work import async_pump, pump
from queue_core.work.trouble import LONGEST_MS, Trouble
from tests.builders import HOUR, command
from tests.engine.crew import PATIENCE_S, Crew, at_work, six_queues
from tests.engine.manned import manned
from tests.hush import Line
from tests.ports import free_port
from tests.servers import Cluster, ask, until

COMMAND_MS = 400
SLACK_S = 3.0
MANY = 30
"""Faults in so short a trouble of a loop that does not wait."""


@pytest.fixture(scope="module")
def troubled(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Embedded]:
    """A server of this module's own, which may be troubled."""
    port = free_port()
    server = Embedded(
        tmp_path_factory.mktemp("troubled"), port, ("--enable-debug-command", "local")
    ).start()
    yield server
    server.kill()


@pytest.fixture
def line(troubled: Embedded) -> Iterator[Line]:
    """A line to it that may fall silent."""
    made = Line(troubled.port or 0)
    yield made
    made.close()


@pytest.fixture
def brisk(monkeypatch: pytest.MonkeyPatch) -> None:
    """Pumps that look every half a second although they hear, and for ended leases as often."""
    monkeypatch.setattr(pump, "HEARD_MS", 500)
    for module in (pump, async_pump):
        monkeypatch.setattr(module, "LEASES_MS", 500)


@pytest.fixture
def crew(line: Line) -> Iterator[Crew]:
    """All loops over that line."""
    url = f"redis://127.0.0.1:{line.port}"
    with at_work(url, six_queues(), command_timeout_ms=COMMAND_MS) as made:
        yield made


class Lines:
    """What the loops have logged, by their names."""

    def __init__(self, caplog: pytest.LogCaptureFixture) -> None:
        self._caplog = caplog

    def __call__(self, crew: Crew) -> dict[str, list[str]]:
        said: dict[str, list[str]] = {name: [] for name in crew.names}
        for record in self._caplog.records:
            name, _, rest = record.getMessage().partition(": ")
            if name in said and record.levelno >= logging.WARNING:
                said[name].append(rest.partition(":")[0].partition(" after ")[0])
        return said


@pytest.fixture
def lines(caplog: pytest.LogCaptureFixture) -> Lines:
    """What the loops log from now on."""
    return Lines(caplog)


ONCE = ["trouble with the bus", "the bus serves again"]


def said_each_change(said: list[str]) -> bool:
    """Whether a loop has said every change of its state once, and is served."""
    return said == ONCE * (len(said) // 2)


# ---- what may happen to a server ---------------------------------------------------------------


@contextlib.contextmanager
def readonly(server: Embedded) -> Iterator[None]:
    ask(server.port, "REPLICAOF", "127.0.0.1", 1)
    try:
        yield
    finally:
        ask(server.port, "REPLICAOF", "NO", "ONE")


@contextlib.contextmanager
def misconf(server: Embedded) -> Iterator[None]:
    """It cannot write its snapshot, and so takes no more writes."""
    in_the_way = server.folder / "dump.rdb" / "x"
    in_the_way.parent.mkdir()
    in_the_way.touch()
    ask(server.port, "CONFIG", "SET", "save", "3600 1000000")
    try:
        ask(server.port, "BGSAVE")
        until(
            lambda: b"rdb_last_bgsave_status:err" in ask(server.port, "INFO", "persistence"),
            "a snapshot fails",
        )
        yield
    finally:
        ask(server.port, "CONFIG", "SET", "save", "")
        in_the_way.unlink()
        in_the_way.parent.rmdir()


@contextlib.contextmanager
def beside(server: Embedded, *words: str | int) -> Iterator[None]:
    """A command that takes its time, on a line of its own."""

    def sent() -> None:
        with contextlib.suppress(EchoMQError):
            ask(server.port, *words)

    thread = threading.Thread(target=sent)
    thread.start()
    try:
        yield
    finally:
        thread.join()


@contextlib.contextmanager
def busy(server: Embedded) -> Iterator[None]:
    ask(server.port, "CONFIG", "SET", "busy-reply-threshold", 10)
    with beside(server, "EVAL", "while true do end", 0):
        try:
            yield
        finally:
            until(lambda: ask(server.port, "SCRIPT", "KILL"), "the script ends")


@contextlib.contextmanager
def loading(server: Embedded) -> Iterator[None]:
    """It reads its data set, a ms for each key."""
    ask(server.port, "DEBUG", "POPULATE", 700, "filling")
    ask(server.port, "CONFIG", "SET", "loading-process-events-interval-bytes", 1024)
    ask(server.port, "CONFIG", "SET", "key-load-delay", 1000)
    try:
        with beside(server, "DEBUG", "RELOAD"):
            yield
    finally:
        ask(server.port, "CONFIG", "SET", "key-load-delay", 0)


STATES = {"READONLY": readonly, "MISCONF": misconf, "BUSY": busy, "LOADING": loading}


@pytest.mark.parametrize("code", STATES)
def test_row_43_a_server_that_cannot_serve_ends_no_loop(
    troubled: Embedded, crew: Crew, lines: Lines, code: str
) -> None:
    asked = crew.hold() | crew.admit()
    with STATES[code](troubled):
        crew.met(crew.names, code)
        crew.go.set()  # what ends now is settled later
        assert all(loop.faults for loop in crew.loops)
    asked |= crew.admit()
    crew.served(asked)
    until(lambda: all(said == ONCE for said in lines(crew).values()), "each is served again")
    assert set(crew.done.values()) == {1}
    assert all(loop.faults < MANY for loop in crew.loops)


def test_a_server_without_memory_refuses_what_admits_alone(
    troubled: Embedded, crew: Crew, lines: Lines
) -> None:
    asked = crew.hold() | crew.admit()
    for q in crew.queues:
        crew.bus.run(repeats.register(q, "again", HOUR, b"again", first_in_ms=100))
    ask(troubled.port, "CONFIG", "SET", "maxmemory", 1)
    try:
        crew.met(crew.pumps, "OOM")
        crew.go.set()
        crew.served(asked)
    finally:
        ask(troubled.port, "CONFIG", "SET", "maxmemory", 0)
    until(lambda: crew.done[b"again"] == len(crew.queues), "the repeats run")
    said = lines(crew)
    assert not any(said[name] for name in crew.workers)
    until(lambda: all(lines(crew)[name] == ONCE for name in crew.pumps), "the pumps go on")


def test_scripts_that_are_forgotten_are_no_trouble(
    troubled: Embedded, crew: Crew, lines: Lines
) -> None:
    asked = crew.hold() | crew.admit()
    ask(troubled.port, "SCRIPT", "FLUSH")
    crew.go.set()
    crew.served(asked | crew.admit())
    assert not any(lines(crew).values())


def test_connections_that_are_closed_are_made_anew(
    troubled: Embedded, crew: Crew, lines: Lines
) -> None:
    asked = crew.hold()
    for _ in range(3):
        ask(troubled.port, "CLIENT", "KILL", "TYPE", "normal", "SKIPME", "yes")
        asked |= crew.admit()
    crew.go.set()
    crew.served(asked | crew.admit())
    until(lambda: all(map(said_each_change, lines(crew).values())), "all is well")


@pytest.mark.usefixtures("brisk")  # before the crew is at work
def test_a_line_that_falls_silent_is_noticed_in_the_stated_time(
    crew: Crew, line: Line, lines: Lines
) -> None:
    asked = crew.hold() | crew.admit()
    line.hush()
    # Workers ask every five beats, pumps as often as this says; then it takes a command's time.
    within_s = 0.5 + COMMAND_MS / 1000 + SLACK_S
    until(lambda: all(loop.faults for loop in crew.loops), "each has noticed", within_s)
    crew.go.set()
    asked |= crew.admit()
    crew.served(asked)
    until(lambda: all(map(said_each_change, lines(crew).values())), "each is served again")


@pytest.mark.parametrize("kind", ["threads", "tasks"])
@pytest.mark.parametrize("which", ["consumer", "metronome"])
def test_a_worker_that_cannot_settle_ends_all_the_same(
    troubled: Embedded, mint: Callable[[], bytes], which: str, kind: str
) -> None:
    q, *_ = six_queues()
    bus = connect(troubled.url)
    bus.run(admission.enqueue(q, mint(), b"x"))
    begun, go = threading.Event(), threading.Event()

    def handler(_task: object) -> None:
        begun.set()
        assert go.wait(PATIENCE_S)

    served = q.name if which == "consumer" else {q.name: handler}
    rest = (handler,) if which == "consumer" else ()
    with manned(which, kind, troubled.url, served, *rest, drain_s=0.2) as worker:
        assert begun.wait(PATIENCE_S)
        with readonly(troubled):
            go.set()
            assert worker.end() is False
    assert bus.run(command("ZCARD", q.active)) == 1  # by its lease it returns
    bus.close()


# ---- several servers -----------------------------------------------------------------------------


def owner(cluster: Cluster, q: QueueKeys) -> int:
    """The port of the node that serves a queue."""
    for port in cluster.ports():
        with contextlib.suppress(EchoMQError):
            ask(port, "EXISTS", q.pending)
            return port
    raise AssertionError(q)


def test_slots_that_nobody_serves_end_no_loop(cluster: Cluster, lines: Lines) -> None:
    until(cluster.whole, "the cluster is whole")
    first = cluster.ports()[0]
    with at_work(cluster.url, six_queues(lambda q: owner(cluster, q) == first)) as crew:
        slots = {slot_of(q.base) for q in crew.queues}
        asked = crew.hold() | crew.admit()
        ask(first, "CLUSTER", "DELSLOTS", *slots)
        try:
            crew.met(crew.names, "CLUSTERDOWN")
            crew.go.set()
        finally:
            ask(first, "CLUSTER", "ADDSLOTS", *slots)
        crew.served(asked | crew.admit())
        until(lambda: all(said == ONCE for said in lines(crew).values()), "each is served again")
        assert set(crew.done.values()) == {1}
        assert all(loop.faults < MANY for loop in crew.loops)


@pytest.mark.usefixtures("brisk")
def test_no_job_is_lost_while_its_slot_moves(cluster: Cluster) -> None:
    until(cluster.whole, "the cluster is whole")
    source, target = cluster.ports()[:2]
    queues = six_queues(lambda q: owner(cluster, q) == source)
    with at_work(cluster.url, queues, lease_ms=600) as crew:
        asked = crew.hold()
        crew.tell("quiet")
        for _ in range(3):
            asked |= crew.admit()
        until(lambda: not crew.late(), "all that is due waits")
        names = {port: ask(port, "CLUSTER", "MYID").decode() for port in (source, target)}
        slots = [slot_of(q.base) for q in crew.queues]
        for slot in slots:
            ask(target, "CLUSTER", "SETSLOT", slot, "IMPORTING", names[source])
            ask(source, "CLUSTER", "SETSLOT", slot, "MIGRATING", names[target])
        crew.tell("quiet", False)
        # Sets before rows: whoever follows a set to its new place finds no rows there yet.
        for rows in (False, True):
            for slot in slots:
                for key in ask(source, "CLUSTER", "GETKEYSINSLOT", slot, 1000):
                    if rows or b":job:" not in key:
                        ask(source, "MIGRATE", "127.0.0.1", target, key, 0, 5000)
            if not rows:
                crew.met(crew.workers, "TRYAGAIN")
        for slot in slots:
            for port in (target, source):
                ask(port, "CLUSTER", "SETSLOT", slot, "NODE", names[target])
        crew.go.set()
        asked |= crew.admit()
        crew.served(asked)


# ---- what a loop does about it -------------------------------------------------------------------


def test_waits_grow_up_to_a_cap_and_are_spread_and_said_once(
    caplog: pytest.LogCaptureFixture,
) -> None:
    trouble = Trouble("loop", logging.getLogger("queue_core.work"))
    fault = UnavailableError("OOM", "no room")
    for row in range(12):
        most = min(LONGEST_MS, 100 << row) / 1000
        assert most / 2 <= trouble.met(fault) <= most
    assert len({trouble.met(fault) for _ in range(20)}) > 1
    assert trouble.met(fault, "beat") <= 0.1  # a part of its own
    trouble.over()
    assert trouble.faults == 33
    assert len(caplog.messages) == 1
    trouble.over("beat")
    trouble.over("beat")
    assert caplog.messages == [
        "loop: trouble with the bus: no room", "loop: the bus serves again after 33 faults",
    ]  # fmt: skip
