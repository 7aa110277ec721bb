"""The worker, the console and the server killed, one after another, under load: the page says
what is missing and since when, recovers by itself, and every job is done with its payload."""

from __future__ import annotations

import json
import re
import threading
from collections.abc import Iterator
from contextlib import suppress

import pytest
from playwright.sync_api import BrowserContext, Page, expect

from echomq_admin.live.page import to_path
from queue_core import Queue
from queue_core.bus import Bus
from queue_core.errors import EchoMQError
from queue_core.keys import queue
from queue_core.reads.sample import sample
from tests.browser.console import Console, until

NAME = b"under-load"
JOBS_A_SECOND = 40


class Load:
    """Enqueues from a thread, and remembers each id that was acknowledged."""

    def __init__(self, bus: Bus) -> None:
        self.admitted: set[bytes] = set()
        self._queue = Queue(bus, NAME, node=11)
        self._ended = threading.Event()
        self._thread = threading.Thread(target=self._run, daemon=True)
        self._thread.start()

    def _run(self) -> None:
        number = 0
        while not self._ended.wait(1 / JOBS_A_SECOND):
            number += 1
            payload = json.dumps({"n": number, "takes_ms": 30})
            with suppress(EchoMQError):
                self.admitted.add(self._queue.enqueue(payload).id)

    def stop(self) -> int:
        """End it; how many were acknowledged."""
        self._ended.set()
        self._thread.join()
        return len(self.admitted)


@pytest.fixture
def load(console_bus: Bus) -> Iterator[Load]:
    made = Load(console_bus)
    yield made
    made.stop()


KEEP_SIGNS = """() => {
  window.withoutSign = 0;
  const head = document.getElementById("queue-head").parentElement;
  const look = () => { window.withoutSign += !head.textContent.includes("no worker heard for"); };
  new MutationObserver(look).observe(head, {childList: true, subtree: true, characterData: true});
}"""
"""Counts how often the head is drawn without the sign."""


def words() -> tuple[str, ...]:
    return ("tests/browser/worker.py", NAME.decode())


def test_killed_one_after_another(
    console: Console, console_bus: Bus, signed_in: BrowserContext, page: Page, load: Load
) -> None:
    q = queue(NAME)
    worker = console.run(*words())
    console.run("manage.py", "echomq_pump", "--queue", NAME.decode())
    until(lambda: load.admitted, "the first job")  # nobody knows the queue before it
    page.goto(f"/bus/main/queue/{to_path(NAME)}/pending")
    head = page.locator("#queue-head")
    expect(head).to_contain_text(re.compile(r"Workers\s*1"))
    expect(head).not_to_contain_text("no worker")

    worker.kill()
    expect(head).to_contain_text(re.compile(r"no worker heard for 1\d s"))
    page.evaluate(KEEP_SIGNS)
    expect(head).to_contain_text(re.compile(r"no worker heard for (1[4-9]|2\d) s"))
    assert page.evaluate("window.withoutSign") == 0
    console.run(*words())
    expect(head).to_contain_text("1 of 2 workers silent for")
    expect(head).not_to_contain_text("no worker heard")

    console.kill_daphne()
    silence = page.locator("#banner-socket")
    expect(silence).to_contain_text("Not live since")
    console.start_daphne()
    expect(silence).to_be_hidden(timeout=30_000)

    console.server.kill()
    banners = page.locator("#banners")
    expect(banners).to_contain_text("main is unreachable since")
    console.server.start()
    expect(banners).not_to_contain_text("unreachable", timeout=30_000)

    assert load.stop() > JOBS_A_SECOND
    _all_done(console_bus, load, q)


def _all_done(bus: Bus, load: Load, q) -> None:
    """No job is lost: each acknowledged one was completed. None is dead, and none was handed to
    the handler without a payload, which would have failed it."""

    def drained() -> bool:
        with suppress(EchoMQError):
            seen = bus.run(sample(q)).value
            return (seen.held, seen.dead) == (0, 0)
        return False

    until(drained, "everything is worked off", within_s=60)
    completed = bus.run(sample(q)).value.completed
    assert completed is not None
    assert completed >= len(load.admitted)
