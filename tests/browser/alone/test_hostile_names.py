"""Names, settings and keys of a hostile bus: no script runs, no chart fails, nothing overflows."""

from __future__ import annotations

import pytest
from playwright.sync_api import Page

from echomq_admin.live.page import to_path
from queue_core import keys
from queue_core.bus import Bus
from tests.builders import command

MARKUP = b'<img src=x onerror=alert(1)><div hx-get="/audit" hx-trigger="load">x</div>'
WIDER = """
() => document.documentElement.scrollWidth <= innerWidth ? []
  : [...document.querySelectorAll("body *")]
  .filter((one) => one.getBoundingClientRect().right > innerWidth && !one.closest("svg"))
  .map((one) => `${one.tagName}.${one.className} ${one.textContent.slice(0, 30)}`).slice(0, 9)
"""
NAMES = {"markup": MARKUP, "long": b"G" * 1_000, "no text": "\u202egnp".encode() + b"\x00\xff"}


@pytest.mark.parametrize(("kind", "width"), [("markup", 1280), ("long", 390), ("no text", 390)])
def test_no_page_breaks_on_what_a_name_holds(
    page: Page, console_bus: Bus, kind: str, width: int
) -> None:
    name = NAMES[kind]
    q = keys.found(name)
    for order in (
        ("ZADD", q.pending, 0, name), ("ZADD", q.dead, "inf", name),
        ("ZADD", q.schedule, "inf", name), ("ZADD", q.schedule, "-inf", b"first"),
        ("RPUSH", q.ring, name), ("HSET", q.glimit, name, -1), ("ZADD", q.lane(name), 0, name),
        ("ZADD", keys.board(name), "inf", name), ("SET", q.repeat, name),
        ("HSET", q.row(name), "attempts", b"9" * 5_000, "payload", name, "last_error", name),
    ):  # fmt: skip
        console_bus.run(command(*order))
    wrong: list[str] = []
    page.on("console", lambda said: wrong.append(said.text) if said.type == "error" else None)
    page.on("pageerror", lambda fault: wrong.append(str(fault)))
    page.on("dialog", lambda asked: (wrong.append("a script ran"), asked.dismiss()))
    page.set_viewport_size({"width": width, "height": 844})
    queue = f"/bus/main/queue/{to_path(name)}"
    board = f"/bus/main/board/{to_path(name)}"
    lists = ("pending", "schedule", "active", "dead", "repeats", "backoff", "workers")
    for place in ("/", board, f"{queue}/job/{to_path(name)}", *(f"{queue}/{one}" for one in lists)):
        answer = page.goto(place)
        assert answer is not None
        assert answer.status == 200, place
        page.wait_for_timeout(300)
        wider = page.evaluate(WIDER)
        assert not wider, (place[:60], *wider)
        assert not wrong, place
    page.set_viewport_size({"width": 1280, "height": 844})


def test_the_reason_why_a_page_is_not_read_wraps(page: Page, console_bus: Bus) -> None:
    q = keys.queue("wrong-type")
    console_bus.run(command("ZADD", q.pending, 0, b"x"))
    console_bus.run(command("SET", q.schedule, "no set"))
    page.set_viewport_size({"width": 390, "height": 844})
    page.goto(f"/bus/main/queue/{to_path(q.name)}/backoff")
    assert "not known" in page.locator("#curve-panel").inner_text()
    assert page.evaluate("document.documentElement.scrollWidth <= innerWidth")
    page.set_viewport_size({"width": 1280, "height": 844})
