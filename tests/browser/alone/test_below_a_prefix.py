"""The console below /ops/a/b/, behind a proxy that leaves the prefix on, and one that does not."""

from __future__ import annotations

import contextlib
import re
import socket
import threading
from collections.abc import Iterator

import pytest
from playwright.sync_api import Browser, Page, expect

from echomq_admin.live.page import to_path
from queue_core.ids import Minter
from queue_core.keys import queue
from queue_core.verbs import admission
from tests.browser.console import Console, at_work
from tests.builders import command

PREFIX = "/ops/a/b"
Q = queue("below")
mint = Minter(92).mint


class Proxy:
    """Takes the prefix off every request and hands the rest on, one connection each."""

    def __init__(self, port: int) -> None:
        self._to = port
        self._door = socket.create_server(("127.0.0.1", 0))
        self.url = f"http://127.0.0.1:{self._door.getsockname()[1]}"
        threading.Thread(target=self._serve, daemon=True).start()

    def _serve(self) -> None:
        with contextlib.suppress(OSError):
            while True:
                caller, _ = self._door.accept()
                threading.Thread(target=self._hand_on, args=(caller,), daemon=True).start()

    def _hand_on(self, caller: socket.socket) -> None:
        with contextlib.suppress(OSError), caller:
            head = b""
            while b"\r\n\r\n" not in head:
                if not (more := caller.recv(65_536)):
                    return
                head += more
            verb, path, rest = head.split(b" ", 2)
            path = path.removeprefix(PREFIX.encode())
            if b"upgrade: websocket" not in rest.lower():
                rest = re.sub(rb"(?i)connection: keep-alive", b"Connection: close", rest)
            with socket.create_connection(("127.0.0.1", self._to)) as served:
                served.sendall(b" ".join((verb, path, rest)))
                back = threading.Thread(target=_pump, args=(served, caller), daemon=True)
                back.start()
                _pump(caller, served)
                back.join()

    def close(self) -> None:
        """Take no more calls."""
        self._door.close()


def _pump(source: socket.socket, sink: socket.socket) -> None:
    with contextlib.suppress(OSError):
        while part := source.recv(65_536):
            sink.sendall(part)
        sink.shutdown(socket.SHUT_WR)


@pytest.fixture(scope="module")
def console(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Console]:
    """A console that knows its prefix."""
    with at_work(Console(tmp_path_factory.mktemp("below"), PREFIX)) as made:
        yield made


@pytest.fixture(params=["prefix left on", "prefix taken off"])
def url(request: pytest.FixtureRequest, console: Console) -> Iterator[str]:
    """Where the browser goes."""
    if request.param == "prefix left on":
        yield console.url
        return
    proxy = Proxy(console.port)
    yield proxy.url
    proxy.close()


@pytest.fixture
def tab(browser: Browser, console: Console, url: str) -> Iterator[Page]:
    """A page of a fresh profile; nothing that it asks for may be missing or lie elsewhere."""
    context = browser.new_context(base_url=url)
    page = context.new_page()
    wrong: list[str] = []
    page.on(
        "response",
        lambda one: (
            wrong.append(f"{one.status} {one.url}")
            if one.status >= 400 or not one.url.startswith(f"{url}{PREFIX}/")
            else None
        ),
    )
    yield page
    context.close()
    assert not wrong


def test_case_124_pages_assets_socket_forms_redirects_and_cookies_lie_below_it(
    tab: Page, console: Console, url: str
) -> None:
    bus = console.bus()
    bus.run(admission.enqueue(Q, mint(), b"x"))
    bus.run(command("HDEL", Q.meta, "paused"))
    schedule = f"{PREFIX}/bus/main/queue/{to_path(Q.name)}/schedule"
    tab.goto(f"{schedule}?range=1h")
    expect(tab).to_have_url(re.compile(re.escape(f"{PREFIX}/login?next={PREFIX}/bus/main")))
    link = console.link()
    assert link.startswith(f"{console.url}{PREFIX}/sign-in/")
    tab.goto(link.replace(console.url, url))
    tab.get_by_role("button").first.click()
    expect(tab).to_have_url(f"{url}{PREFIX}/")
    expect(tab.locator("[data-live-word]")).to_have_text("Live")
    cookies = tab.context.cookies(f"{url}{PREFIX}/")
    assert {one["path"] for one in cookies} == {f"{PREFIX}/"}
    tab.goto(schedule)
    expect(tab.locator("[data-live-word]")).to_have_text("Live")
    tab.locator("#queue-head [data-action=pause_queue]").click()
    expect(tab.locator("#queue-head [data-action=resume_queue]")).to_have_count(1)
    expect(tab.locator("#toasts .toast")).to_have_count(1)
    assert bus.run(command("HGET", Q.meta, "paused")) == b"1"
    bus.close()
