"""A bus or a console that goes while somebody looks: told, and over without a reload."""

from __future__ import annotations

import re

from playwright.sync_api import Page, expect

from queue_core.bus import Bus
from queue_core.ids import Minter
from queue_core.keys import queue
from queue_core.verbs import admission
from tests.browser.console import Console
from tests.browser.places import at, live
from tests.builders import command

mint = Minter(82).mint
HOUR = 3_600_000


def test_case_104_a_lost_bus_keeps_its_numbers_and_comes_back(
    page: Page, console: Console, console_bus: Bus
) -> None:
    q = queue("lost")
    console_bus.run(command("ZADD", q.dead, 0, mint()))
    live(page, at("schedule", q))
    tab = page.locator(".tabs a[data-key=d] .num")
    before = tab.inner_text()
    assert before != "0"
    console.server.kill()
    expect(page.locator("#banners")).to_contain_text("main is unreachable since")
    expect(page.locator("[data-live-word]")).to_have_text("Not live")
    expect(page.locator("body")).to_have_attribute("data-aged", "stale")
    assert tab.inner_text() == before
    console.server.start()
    expect(page.locator("#banners")).not_to_contain_text("unreachable")
    expect(page.locator("[data-live-word]")).to_have_text("Live")
    expect(page.locator("body")).to_have_attribute("data-aged", "fresh")
    assert tab.inner_text() == before


def test_a_lost_bus_stops_the_fence_where_it_was_read(
    page: Page, console: Console, console_bus: Bus
) -> None:
    q = queue("stopped")
    console_bus.run(admission.enqueue_in(q, mint(), b"x", HOUR))
    live(page, at("schedule", q))
    fence, line = page.locator("#fence"), page.locator("#fence-row .ln > span")
    expect(fence).to_contain_text("now ")
    console.server.kill()
    expect(fence).to_contain_text("as of ")
    expect(fence.locator("svg")).to_have_class("chart fencechart is-aged")
    said = re.compile(r"^as of \d\d:\d\d:\d\d, nothing was late$")
    expect(line).to_have_text(said, use_inner_text=True)
    expect(fence).to_contain_text(line.inner_text().split(",")[0])
    console.server.start()
    expect(line).to_contain_text("now ", use_inner_text=True)
    expect(fence).to_contain_text("now ")


def test_a_lost_console_is_told_and_comes_back_without_reload(page: Page, console: Console) -> None:
    live(page, "/")
    page.evaluate("document.body.dataset.mark = 'kept'")
    console.kill_daphne()
    expect(page.locator("#banner-socket")).to_be_visible()
    expect(page.locator("#banner-socket")).to_contain_text("Not live since")
    console.start_daphne()
    expect(page.locator("#banner-socket")).to_be_hidden(timeout=20_000)
    expect(page.locator("[data-live-word]")).to_have_text("Live")
    assert page.locator("body").get_attribute("data-mark") == "kept"
