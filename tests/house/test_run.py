"""A whole house: it starts, mends itself, refuses a second one, and leaves nothing behind."""

import os
import signal
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from echomq_admin.house import notice
from queue_core.bus import connect
from queue_core.keys import queue
from queue_core.verbs import admission
from tests.builders import command
from tests.house.running import ROOT, Running, environment, gone, processes, refused
from tests.ports import free_port
from tests.servers import until
from tests.visitor import Visitor

Q = queue("kept-by-the-house")


@pytest.fixture
def started() -> Iterator[list[Running]]:
    """Houses that a failing test must not leave behind."""
    houses: list[Running] = []
    yield houses
    for house in houses:
        for pid in processes(house.var):
            os.kill(pid, signal.SIGKILL)


def test_a_house_from_its_start_to_the_next(
    tmp_path: Path, started: list[Running], mint: object
) -> None:
    """One long story, because a house takes seconds to start."""
    port = free_port()
    house = Running(tmp_path, "--port", str(port))
    started.append(house)
    url = house.said(r"The console is at (\S+)")[1]
    link = house.said(r"Sign in, once, with (\S+)")[1]
    assert url == f"http://127.0.0.1:{port}/"

    # The link signs in, once.
    visitor = Visitor(url)
    visitor.sign_in(link)
    status, page = visitor.get("/")
    assert status == 200
    assert "main" in page
    assert Visitor(url).get(link.removeprefix(url.rstrip("/")))[0] == 410

    # A command of another shell prints a link to this console; nobody else may read its files.
    asked = subprocess.run(
        [sys.executable, "manage.py", "echomq", "sign-in", "--user", "operator"],
        cwd=ROOT, env={**environment(tmp_path), "ECHOMQ_BUS_URL": "", "ECHOMQ_URL": ""},
        capture_output=True, text=True, check=True,
    )  # fmt: skip
    assert asked.stdout.startswith(f"{url}sign-in/")
    kept = [tmp_path / "console.sqlite3", tmp_path / "log", tmp_path / "valkey"]
    assert not [path for path in kept if path.stat().st_mode & 0o077]

    # A second start says so, in the same folder and on the same port.
    code, why = refused(tmp_path, "--port", str(free_port()))
    assert (code, why.count("\n")) == (1, 1)
    assert f"It runs already: {url} (process" in why
    code, why = refused(tmp_path / "other", "--port", str(port))
    assert (code, why.count("\n")) == (1, 1)
    assert f"Port {port} is taken" in why
    assert not processes(tmp_path / "other")

    # What is killed comes back.
    for words, name in (
        ("daphne", "console"), ("echomq_work ", "worker"), ("valkey-server", "valkey"),
    ):  # fmt: skip
        pid = house.child(words)
        assert pid
        os.kill(pid, signal.SIGKILL)
        house.said(f"{name} started again")
        until(lambda old=pid, words=words: house.child(words) not in (None, old), f"a new {name}")

    # The supervisor is killed: nothing of the house outlives it, and no accepted job is lost.
    first = notice.read(tmp_path)
    assert isinstance(first, notice.Notice)
    bus = connect(first.bus)
    bus.run(admission.enqueue_in(Q, mint(), b"kept", 3_600_000))
    bus.close()
    visitor.close()
    assert house.ended(signal.SIGKILL) == -signal.SIGKILL
    assert gone(tmp_path)

    # The next house goes on with the data of the first, and Ctrl-C ends it in order.
    house = Running(tmp_path, "--port", str(port))
    started.append(house)
    house.said("Sign in, once, with")
    second = notice.read(tmp_path)
    assert isinstance(second, notice.Notice)
    bus = connect(second.bus)
    assert bus.run(command("ZCARD", Q.schedule)) == 1
    bus.close()
    assert visitor.get("/")[0] == 200, "the session of the first house still holds"
    assert house.ended(signal.SIGINT) == 0
    assert house.lines[-1].endswith("Stopped; nothing of it runs any more.")
    assert gone(tmp_path)
    assert notice.read(tmp_path) is None


def test_a_house_that_is_stopped_while_it_starts_leaves_nothing(
    tmp_path: Path, started: list[Running]
) -> None:
    house = Running(tmp_path, "--port", str(free_port()))
    started.append(house)
    house.said("Starting")
    assert house.ended(signal.SIGTERM) == 0
    assert gone(tmp_path)
