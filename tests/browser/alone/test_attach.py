"""`./dev run --bus URL` on somebody's bus: it looks, and leaves no trace of having looked."""

import os
import re
import socket
import threading
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from playwright.sync_api import Browser, Page, expect

from queue_core import boards
from queue_core.bus import Bus, connect
from queue_core.embedded import Embedded
from queue_core.keys import queue
from queue_core.plans import Call, Plan, Reply
from queue_core.verbs import repeats
from tests.addresses import every_address
from tests.browser.console import until
from tests.builders import Builder
from tests.house.running import Running, gone
from tests.ports import free_port

Q = queue("somebodys")
GAME = b"GAM0NgWEfqGvjk"
SOAK_S = float(os.environ.get("ECHOMQ_SOAK_S", "0"))
"""How much longer to browse; 60 for a long look."""


def info() -> Plan[Reply]:
    """The server's own account of its data."""
    return (yield Call("INFO", (), ("everything",)))


def writing() -> Plan[Reply]:
    """Every command that may change data."""
    return (yield Call("COMMAND", (), ("LIST", "FILTERBY", "ACLCAT", "write")))


def changes(bus: Bus) -> int:
    """How many changes of data the server counts since it started."""
    found = re.search(rb"rdb_changes_since_last_save:(\d+)", bus.run(info()))
    assert found
    return int(found[1])


class Monitor:
    """What MONITOR tells of a server while it is open: one command name for each line."""

    def __init__(self, server: Embedded) -> None:
        self.names: list[str] = []
        self._socket = socket.socket(socket.AF_UNIX)
        self._socket.connect(str(server.socket))
        self._socket.sendall(b"MONITOR\r\n")
        assert self._socket.recv(5) == b"+OK\r\n"
        threading.Thread(target=self._listen, daemon=True).start()

    def _listen(self) -> None:
        with self._socket.makefile("rb") as lines:
            for line in lines:
                if told := re.match(rb'\+\d+\.\d+ \[[^\]]+\] "([^"]*)"', line):
                    self.names.append(told[1].decode().lower())

    def close(self) -> None:
        """Stop listening."""
        self._socket.shutdown(socket.SHUT_RDWR)
        self._socket.close()


@pytest.fixture
def theirs(tmp_path: Path) -> Iterator[Embedded]:
    """A bus of somebody else, without any queue so far."""
    server = Embedded(tmp_path / "theirs")
    server.start()
    yield server
    server.kill()


@pytest.fixture
def house(tmp_path: Path, theirs: Embedded) -> Iterator[Running]:
    """A console that is attached to it."""
    made = Running(tmp_path / "var", "--port", str(free_port()), "--bus", theirs.url)
    yield made
    made.ended(15)
    assert gone(made.var)


def settle_there(bus: Bus, mint: Callable[[], bytes]) -> dict[str, bytes]:
    """Jobs in every state, a repeat and a board; answers what pages of one thing show."""
    build = Builder(bus.run, Q, mint)
    job = build.pending()
    build.in_lane()
    build.scheduled()
    build.due()
    build.dead()
    build.active()
    bus.run(repeats.register(Q, "digest", 3_600_000, b"{}"))
    bus.run(boards.fold(GAME, b"PLR0NgWEfqGvjk", 480))
    return {"job": job.id, "board": GAME}


def listen(page: Page) -> list[str | bytes]:
    """Where the frames of the page's sockets are put."""
    frames: list[str | bytes] = []
    page.on("websocket", lambda ws: ws.on("framereceived", lambda frame: frames.append(frame)))
    return frames


def look(page: Page, frames: list[str | bytes], base: str, paths: dict[str, str]) -> None:
    """Open each page and wait until its socket has brought it a frame."""
    for name, path in paths.items():
        frames.clear()
        answer = page.goto(base + path)
        assert answer
        assert answer.status == 200, name
        if name != "audit":
            expect(page.locator("body")).to_have_attribute("data-state", "live")
            until(lambda: page.wait_for_timeout(20) or frames, f"{name} is sent a frame")


def test_browsing_an_attached_bus_writes_nothing_to_it(
    theirs: Embedded, house: Running, browser: Browser, mint: Callable[[], bytes]
) -> None:
    base = house.said(r"The console is at (\S+)/\n")[1]
    link = house.said(r"Sign in, once, with (\S+)")[1]
    assert "nothing is written" in house.said(r"It only looks: .*")[0]
    bus = connect(theirs.url)
    context = browser.new_context()
    page = context.new_page()
    frames = listen(page)
    page.goto(link)
    page.get_by_role("button").first.click()
    expect(page.get_by_role("heading", level=1)).to_have_text("Overview")

    # Nobody has used the bus: looking does not make it one of ours.
    assert changes(bus) == 0

    items = settle_there(bus, mint)
    before = changes(bus)
    forbidden = {bytes(name).decode().lower() for name in bus.run(writing())}
    heard = Monitor(theirs)
    paths = every_address("main", Q.name, items)
    look(page, frames, base, paths)
    ends = time.monotonic() + SOAK_S
    while time.monotonic() < ends:
        look(page, frames, base, paths)
    heard.close()
    context.close()

    assert {"evalsha_ro", "zcard"} <= set(heard.names), sorted(set(heard.names))
    assert not forbidden & set(heard.names)
    assert changes(bus) == before
    bus.close()
