"""What an operator meets at the edges: a bus that hangs, rights that are taken away, a console that
dies in the middle."""

from __future__ import annotations

import os
import re
import signal
import sqlite3
from collections.abc import Callable, Iterator
from contextlib import contextmanager

import pytest
from playwright.sync_api import Browser, BrowserContext, Page, expect

from echomq_admin.live.page import to_path
from queue_core import keys
from queue_core.bus import Bus
from queue_core.ids import Minter
from queue_core.keys import queue
from queue_core.verbs import admission
from tests.browser.console import Console, until
from tests.browser.places import at, live
from tests.builders import command

mint = Minter(85).mint


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
    rail = page.locator("#rail-queues .busgroup")
    expect(rail.get_by_text("stale")).to_be_hidden()
    with hanging(console):
        expect(ahead).to_have_text(re.compile("^(due now|.* late)$"))
        expect(page.locator("[data-live-word]")).to_have_text("Stale")
        assert "ago" not in ahead.inner_text()
        expect(rail.get_by_text("stale")).to_be_visible()
        assert "repeating-linear-gradient" in rail.evaluate(GROUND)
    expect(page.locator("[data-live-word]")).to_have_text("Live")
    expect(rail.get_by_text("stale")).to_be_hidden()


GROUND = "(panel) => getComputedStyle(panel).backgroundImage"


def test_the_wall_counts_what_hangs_as_stale(
    page: Page, console: Console, console_bus: Bus
) -> None:
    q = queue("hangs-too")
    console_bus.run(admission.enqueue_in(q, mint(), b"x", 2_500))
    live(page, "/")
    reading, word = page.locator("#overview-reading"), page.locator("[data-live-word]")
    totals, buses = page.locator("#totals"), page.locator("#vitals")
    lateness = page.locator(f"[id='q{to_path(b'main')}{to_path(q.name)}'] .late")
    expect(reading).to_contain_text(re.compile(r": \d+ fresh, 0 stale"))
    expect(lateness).to_contain_text("on time")
    assert "oldest number" not in totals.inner_text()
    with hanging(console):
        expect(reading).to_contain_text(re.compile(r": 0 fresh, \d+ stale"))
        expect(word).to_have_text("Stale")
        expect(buses).to_contain_text("0 of 1 bus")
        expect(totals).to_have_class(re.compile(r"\bstale\b"))
        expect(page.locator("#rail-queues .busgroup")).to_have_class(re.compile(r"\bstale\b"))
        assert re.search(r"oldest number\s+[3-9]\.\d s", totals.inner_text())
        assert "repeating-linear-gradient" in totals.evaluate(GROUND)
        assert re.search(r"was on time\s+next due \d\d:\d\d:\d\d", lateness.inner_text())
        expect(word).to_have_text("Not live")
        expect(totals).not_to_have_class(re.compile(r"\bstale\b"))
    expect(reading).to_contain_text(", 0 stale")
    expect(word).to_have_text("Live")
    expect(buses).to_contain_text("1 of 1 bus")


# ---- a socket, rights, and a console that dies -----------------------------------------------

PRESS = """(asked) => new Promise((resolve) => {
  const told = ({ detail }) => resolve(detail.data.act);
  document.addEventListener("echomq:answer", told, { once: true });
  const main = document.querySelector("script[type=module]").src;
  import(new URL("live.js", main)).then((live) => live.send({ act: asked }));
})"""


def test_an_act_is_asked_for_over_the_socket(page: Page, console_bus: Bus) -> None:
    """Through the page's own module, under its own policy, to a real Daphne."""
    q = queue("pressed")
    console_bus.run(admission.enqueue(q, mint(), b"x"))
    live(page, at("pending", q))
    target = {"bus": "main", "queue": to_path(q.name)}
    asked = {"id": "browser-1", "action": "pause_queue", "target": target, "params": {}}
    answer = page.evaluate(PRESS, asked)
    assert (answer["id"], answer["outcome"]) == ("browser-1", "done")
    assert console_bus.run(command("HGET", q.meta, "paused")) == b"1"
    expect(page.locator("#queue-head")).to_contain_text("paused by operator")
    again = page.evaluate(PRESS, asked)
    assert (again["outcome"], again["audit_id"]) == ("already", answer["audit_id"])


@pytest.fixture
def vera(console: Console, browser: Browser) -> Iterator[tuple[Page, Callable[[str], None]]]:
    """A page of somebody who may look and pause, and a hand that changes her in the database."""

    def said(code: str) -> None:
        console.manage("shell", "-v0", "-c", VERA + code)

    said("user.user_permissions.set(held('view', 'pause_queue'))")
    context = browser.new_context(viewport={"width": 1440, "height": 900}, base_url=console.url)
    page = context.new_page()
    page.goto(console.manage("echomq", "sign-in", "--user", "vera").split()[-1])
    page.get_by_role("button").first.click()
    expect(page.get_by_role("heading", level=1)).to_have_text("Overview")
    yield page, said
    context.close()


VERA = """
from django.contrib.auth import get_user_model
from django.contrib.auth.models import Permission
user = get_user_model().objects.get_or_create(username="vera")[0]
def held(*names):
    found = Permission.objects.filter(content_type__app_label="echomq_admin")
    return found.filter(codename__in=names)
"""


def test_case_44_a_right_that_is_taken_is_told_and_its_button_dies(
    vera: tuple[Page, Callable[[str], None]], console_bus: Bus
) -> None:
    page, said = vera
    q = queue("of-vera")
    console_bus.run(admission.enqueue(q, mint(), b"x"))
    live(page, at("pending", q))
    pause = page.locator("#queue-head button", has_text="Pause")
    expect(pause).to_be_enabled()
    expect(pause).not_to_have_attribute("aria-disabled", "true")
    said("user.user_permissions.set(held('view'))")
    expect(page.locator("#banner-rights")).to_be_visible()
    expect(pause).to_have_attribute("aria-disabled", "true")
    expect(pause).to_contain_text("Needs the permission pause_queue.")
    expect(page.locator("[data-live-word]")).to_have_text("Live")

    # Looking itself is taken: the page says so, and a hand on what is left of it does nothing.
    said("user.user_permissions.set(held('view', 'pause_queue'))")
    live(page, at("pending", q))
    expect(pause).not_to_have_attribute("aria-disabled", "true")
    said("user.is_active = False; user.save()")
    banner = page.locator("#banner-socket")
    expect(banner).to_contain_text("You are signed out, or may no longer look.")
    expect(pause).to_have_attribute("aria-disabled", "true")
    asked: list[str] = []
    page.on("request", lambda one: asked.append(one.url))
    pause.click(force=True)
    assert not asked
    assert console_bus.run(command("HGET", q.meta, "paused")) is None


def test_a_console_that_dies_in_the_middle_leaves_an_outcome_unknown(
    page: Page, console: Console, console_bus: Bus
) -> None:
    """The press waits for a bus that hangs when the console is killed."""
    q = queue("in-the-middle")
    console_bus.run(admission.enqueue(q, mint(), b"x"))
    live(page, at("pending", q))
    with hanging(console):
        page.locator("#queue-head [data-action=pause_queue]").click()
        until(lambda: _intents(console), "the intent is written")
        console.kill_daphne()
    toast = page.locator("#toasts .toast")
    expect(toast).to_contain_text("Outcome unknown")
    expect(toast).to_contain_text("it may have happened")
    console.start_daphne()
    page.goto("/audit")
    entry = page.locator("main li, main tr", has_text="in-the-middle").first
    expect(entry).to_contain_text("In hand.")
    with _audit(console) as database:
        database.execute(f"UPDATE {TABLE} SET opened_at = datetime('now', '-2 minutes') {LEFT}")
    page.reload()
    expect(entry).to_contain_text("Outcome unknown: the console stopped before the bus answered.")


TABLE, LEFT = "echomq_admin_auditentry", "WHERE outcome = ''"


@contextmanager
def _audit(console: Console) -> Iterator[sqlite3.Connection]:
    database = sqlite3.connect(console.folder / "console.sqlite3", timeout=10)
    try:
        with database:
            yield database
    finally:
        database.close()


def _intents(console: Console) -> int:
    with _audit(console) as database:
        return int(database.execute(f"SELECT count(*) FROM {TABLE} {LEFT}").fetchone()[0])


def test_presses_that_a_dead_bus_refuses_are_no_lines_in_the_log(
    page: Page, console: Console, console_bus: Bus
) -> None:
    q = queue("refusing")
    console_bus.run(admission.enqueue(q, mint(), b"x"))
    live(page, at("pending", q))
    pause = page.locator("#queue-head [data-action=pause_queue]")
    log = console.folder / "daphne.log"
    before = len(log.read_text())
    console.server.kill()
    try:
        for count in (1, 2, 3):
            pause.click()
            expect(page.locator("#toasts .toast[data-outcome=unavailable]")).to_have_count(count)
    finally:
        console.server.start()
    lines = log.read_text()[before:].splitlines()
    assert not [line for line in lines if "django.request" in line or " ERROR " in line]
    assert len([line for line in lines if "bus main does not serve" in line]) == 1


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

    long = b"x" * 10_000 + "é".encode()
    console_bus.run(command("ZADD", keys.board(b"long"), 1, long))
    live(page, f"/bus/main/board/{to_path(b'long')}")
    page.locator("main .copy").click()
    expect(page.locator("main .copy")).to_have_attribute("data-told", "Copied")
    assert page.evaluate("navigator.clipboard.readText()").encode() == long

    live(page, at("job", q, job))
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
