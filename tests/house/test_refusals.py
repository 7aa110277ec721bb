"""What keeps a house from starting is told in one line that says how to mend it."""

import socket
from collections.abc import Iterator
from pathlib import Path

import pytest

from queue_core.bus import connect
from queue_core.embedded import Embedded
from tests.builders import command
from tests.house.running import configured, processes, refused
from tests.ports import free_port

PASSWORD = "correct-horse"
VERSION = "echomq:9.0.0"


@pytest.fixture(scope="module")
def foreign(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Embedded]:
    """A bus behind a password whose fence is of another version."""
    folder = tmp_path_factory.mktemp("foreign")
    server = Embedded(folder, port=free_port())
    server.start()
    bus = connect(server.url, fence=VERSION)
    bus.run(command("SET", b"{emq}:version", VERSION))
    bus.run(configured("requirepass", PASSWORD))
    bus.close()
    yield server
    server.kill()


def one_line(var: Path, *words: str) -> str:
    """The one line of a refused start, which left no process."""
    code, why = refused(var, *words)
    assert code == 1
    assert why.count("\n") == 1, why
    assert not processes(var)
    return why


def test_nobody_listens_at_the_bus(tmp_path: Path) -> None:
    port = free_port()
    why = one_line(tmp_path, "--port", str(free_port()), "--bus", f"redis://127.0.0.1:{port}/0")
    assert "Cannot reach the bus at" in why
    assert f"127.0.0.1:{port}" in why


def test_somebody_else_listens_at_the_bus(tmp_path: Path) -> None:
    """A server that accepts and says nothing holds the start no longer than its time-out."""
    with socket.create_server(("127.0.0.1", 0)) as silent:
        url = f"redis://127.0.0.1:{silent.getsockname()[1]}/0"
        assert "Cannot reach the bus at" in one_line(
            tmp_path, "--port", str(free_port()), "--bus", url
        )


def test_the_password_is_wrong_and_is_not_repeated(tmp_path: Path, foreign: Embedded) -> None:
    url = f"redis://:wrong-battery@127.0.0.1:{foreign.port}/0"
    why = one_line(tmp_path, "--port", str(free_port()), "--bus", url)
    assert "refuses the name or password" in why
    assert "wrong-battery" not in why


def test_the_fence_is_of_another_version(tmp_path: Path, foreign: Embedded) -> None:
    url = f"redis://:{PASSWORD}@127.0.0.1:{foreign.port}/0"
    why = one_line(tmp_path, "--port", str(free_port()), "--bus", url)
    assert VERSION in why
    assert "echomq:3.0.0" in why
    assert PASSWORD not in why


@pytest.mark.parametrize("url", ["http://127.0.0.1:1/", "redis://127.0.0.1:x/0", "nonsense", ""])
def test_the_url_is_none_of_a_bus(tmp_path: Path, url: str) -> None:
    assert "bus URL" in one_line(tmp_path, "--port", str(free_port()), "--bus", url)


@pytest.mark.parametrize("port", ["0", "65536", "http", ""])
def test_the_port_is_none(tmp_path: Path, port: str) -> None:
    assert "from 1 to 65535" in one_line(tmp_path, "--port", port)


def test_the_folder_cannot_be_written(tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    why = one_line(tmp_path / "file" / "var", "--port", str(free_port()))
    assert "Cannot write" in why
    assert "ECHOMQ_VAR" in why
