"""What an operator meets at the edges: a bus that hangs, rights that are taken away, a console that
dies in the middle, and a hand that has only keys."""

from __future__ import annotations

import os
import re
import signal
from collections.abc import Iterator
from contextlib import contextmanager

from playwright.sync_api import BrowserContext, Page, expect

from echomq_admin.live.page import to_path
from queue_core.bus import Bus
from queue_core.ids import Minter
from queue_core.keys import QueueKeys, queue
from queue_core.verbs import admission
from tests.browser.console import Console
from tests.builders import command

mint = Minter(85).mint


def at(page: str, q: QueueKeys, item: bytes | None = None) -> str:
    where = f"/bus/main/queue/{to_path(q.name)}/{page}"
    return where if item is None else f"{where}/{to_path(item)}"


def live(page: Page, place: str) -> None:
    """Open a page and wait for its first frame."""
    page.goto(place)
    expect(page.locator("[data-live-word]")).to_have_text("Live")


@contextmanager
def hanging(console: Console) -> Iterator[None]:
    """The bus takes connections and answers nothing."""
    assert console.server.pid
    os.kill(console.server.pid, signal.SIGSTOP)
    try:
        yield
    finally:
        os.kill(console.server.pid, signal.SIGCONT)


# ---- a bus that hangs ------------------------------------------------------------------------


def test_a_hanging_bus_is_stale_before_it_is_unreachable(
    page: Page, console: Console, console_bus: Bus
) -> None:
    q = queue("hangs")
    console_bus.run(admission.enqueue_in(q, mint(), b"x", 2_500))
    live(page, at("schedule", q))
    ahead = page.locator("#fence-panel header time[data-format=in]")
    expect(ahead).to_have_text(re.compile(r"^in \d"))
    with hanging(console):
        expect(ahead).to_have_text(re.compile("^(due now|.* late)$"))
        expect(page.locator("[data-live-word]")).to_have_text("Stale")
        assert "ago" not in ahead.inner_text()
    expect(page.locator("[data-live-word]")).to_have_text("Live")


def test_the_wall_counts_what_hangs_as_stale(
    page: Page, console: Console, console_bus: Bus
) -> None:
    console_bus.run(admission.enqueue(queue("hangs"), mint(), b"x"))
    live(page, "/")
    reading = page.locator("#overview-reading")
    expect(reading).to_contain_text(re.compile(r": \d+ fresh, 0 stale"))
    with hanging(console):
        expect(reading).to_contain_text(re.compile(r": 0 fresh, \d+ stale"))
    expect(reading).to_contain_text(", 0 stale")


# ---- a payload in a form ---------------------------------------------------------------------


def test_a_payload_is_edited_and_copied_byte_by_byte(
    page: Page, signed_in: BrowserContext, console_bus: Bus
) -> None:
    signed_in.grant_permissions(["clipboard-read", "clipboard-write"])
    q, job = queue("edited"), mint()
    raw = '\n{"n":9007199254740993,\n\t"t":"é🐙</textarea>"}\n'.encode()
    console_bus.run(admission.enqueue(q, job, raw))
    live(page, at("job", q, job))
    page.locator("#payload .copy").click()
    expect(page.locator("#payload .copy")).to_have_attribute("data-told", "Copied")
    assert page.evaluate("navigator.clipboard.readText()").encode() == raw
    page.locator(".crumbs .copy").click()
    expect(page.locator(".crumbs .copy")).to_have_attribute("data-told", "Copied")
    assert page.evaluate("navigator.clipboard.readText()") == job.decode()

    page.locator("#acts [data-action=edit_payload]").click()
    text = page.locator("#dialog textarea")
    expect(text).to_be_focused()
    page.keyboard.press("Control+End")
    page.keyboard.type("more")
    page.keyboard.press("Enter")
    page.locator("#dialog [type=submit]").click()
    expect(page.locator("#toasts .toast")).to_have_attribute("data-outcome", "done")
    expect(page.locator("#dialog")).to_be_hidden()
    assert console_bus.run(command("HGET", q.row(job), "payload")) == raw + b"more\n"


def test_the_palette_tells_the_figures_of_each_place(page: Page, console_bus: Bus) -> None:
    q = queue("figures")
    for _ in range(3):
        console_bus.run(admission.enqueue(q, mint(), b"x"))
    console_bus.run(admission.enqueue_in(q, mint(), b"x", 60_000))
    live(page, at("pending", q))
    page.keyboard.press("Control+k")
    page.locator("#palette-query").fill("figures pending")
    first = page.locator("#palette-list [aria-selected=true]")
    expect(first).to_contain_text("main, 3 waiting")
    page.locator("#palette-query").fill("figures schedule")
    expect(first).to_contain_text("main, 1 waiting")
