"""The fence under a hand: marks that keep their element, a drag taken back, a chart held still."""

from __future__ import annotations

import re
from datetime import UTC, datetime, timedelta

import pytest
from playwright.sync_api import BrowserContext, Locator, Page, expect

from echomq_admin.live.page import to_path
from queue_core.bus import Bus
from queue_core.ids import Minter
from queue_core.keys import QueueKeys, queue
from queue_core.verbs import admission, due
from tests.browser.console import until
from tests.browser.places import at, live
from tests.builders import command, score, server_ms

AHEAD = 40 * 60_000
mint = Minter(11).mint


@pytest.fixture
def q(request: pytest.FixtureRequest) -> QueueKeys:
    return queue(re.sub(r"[^a-z0-9]+", "-", request.node.name)[-40:].strip("-"))


@pytest.fixture
def schedule(page: Page, q: QueueKeys, console_bus: Bus) -> Page:
    """The page of a schedule that holds one job far ahead."""
    console_bus.run(admission.enqueue_in(q, mint(), b"far", AHEAD))
    page.goto(at("schedule", q))
    expect(page.locator("#fence svg")).to_be_visible()
    return page


def mark(page: Page, job_id: bytes) -> Locator:
    return page.locator(f'#fence [data-mark="{to_path(job_id)}"]')


def x_of(one: Locator) -> float:
    box = one.locator(".hit").bounding_box()
    assert box is not None
    return box["x"] + box["width"] / 2


def test_a_late_job_keeps_its_mark_and_fades_when_promoted(
    schedule: Page, q: QueueKeys, console_bus: Bus
) -> None:
    job_id = mint()
    console_bus.run(admission.enqueue_in(q, job_id, b"soon", 1_200))
    one = mark(schedule, job_id)
    expect(one).to_have_class("mark")
    one.evaluate("mark => { mark.dataset.same = 'yes'; }")
    expect(one).to_have_class("mark is-late")
    assert one.get_attribute("data-same") == "yes"
    tether = one.locator(".tether")
    first = tether.bounding_box()["width"]
    until(lambda: tether.bounding_box()["width"] > first, "the tether grows with the lateness")
    console_bus.run(due.promote(q, 10))
    expect(one).to_have_count(0)


def test_escape_takes_a_drag_back(schedule: Page, q: QueueKeys, console_bus: Bus) -> None:
    job_id = mint()
    console_bus.run(admission.enqueue_in(q, job_id, b"x", 300_000))
    held = console_bus.run(score(q.schedule, job_id))
    one = mark(schedule, job_id)
    expect(one).to_be_visible()
    one.locator(".hit").hover()
    schedule.mouse.down()
    schedule.mouse.move(x_of(one) + 120, 260, steps=6)
    expect(schedule.locator("#fence .ghost")).to_have_count(1)
    expect(schedule.locator("#fence .tip + text")).to_have_text(job_id.decode())
    schedule.keyboard.press("Escape")
    expect(schedule.locator("#fence .ghost")).to_have_count(0)
    schedule.mouse.up()
    expect(schedule.locator("#dialog[open]")).to_have_count(0)
    assert console_bus.run(score(q.schedule, job_id)) == held


def test_a_job_is_moved_by_keys_alone(schedule: Page, q: QueueKeys, console_bus: Bus) -> None:
    job_id = mint()
    console_bus.run(admission.enqueue_in(q, job_id, b"x", 300_000))
    held = console_bus.run(score(q.schedule, job_id))
    expect(mark(schedule, job_id)).to_be_visible()
    schedule.locator("#fence").focus()
    schedule.keyboard.press("ArrowRight")
    expect(schedule.locator("#said")).to_contain_text(job_id.decode())
    schedule.keyboard.press("m")
    for _ in range(5):
        schedule.keyboard.press("Shift+ArrowRight")
    schedule.keyboard.press("Enter")
    dialog = schedule.locator("#dialog[open]")
    expect(dialog).to_contain_text(job_id.decode())
    dialog.locator("[type=submit]").click()
    expect(schedule.locator("#toasts")).to_contain_text("Done")
    moved = console_bus.run(score(q.schedule, job_id)) - held
    assert 200_000 < moved < 400_000


@pytest.fixture
def taken_up(schedule: Page, q: QueueKeys, console_bus: Bus) -> bytes:
    """A job that keys alone have walked to, and would move. It is due between two seconds."""
    job_id = mint()
    now = console_bus.run(server_ms())
    console_bus.run(admission.enqueue_at(q, job_id, b"x", now - now % 1000 + 300_400))
    expect(mark(schedule, job_id)).to_be_visible()
    schedule.locator("#fence").focus()
    schedule.keyboard.press("ArrowRight")
    schedule.keyboard.press("m")
    return job_id


def test_a_mark_that_keys_move_says_where_it_is_and_that_it_was_put_back(
    schedule: Page, q: QueueKeys, console_bus: Bus, taken_up: bytes
) -> None:
    said = schedule.locator("#said")
    was = datetime.fromtimestamp(console_bus.run(score(q.schedule, taken_up)) // 1000, UTC)
    expect(said).to_have_text(f"{was:%H:%M:%S} UTC, +0 s")
    for minutes in range(1, 4):
        schedule.keyboard.press("Shift+ArrowRight")
        moment = was + timedelta(minutes=minutes)
        expect(said).to_have_text(f"{moment:%H:%M:%S} UTC, +{minutes} m")
    schedule.keyboard.press("ArrowLeft")
    moment -= timedelta(seconds=10)
    expect(said).to_have_text(f"{moment:%H:%M:%S} UTC, +2 m 50 s")
    schedule.keyboard.press("Escape")
    expect(said).to_have_text(f"{taken_up.decode()} was put back, {was:%H:%M:%S} UTC")


def test_a_mark_that_keys_move_is_put_back_where_they_leave_the_chart(
    schedule: Page, q: QueueKeys, console_bus: Bus, taken_up: bytes
) -> None:
    held = console_bus.run(score(q.schedule, taken_up))
    fence = schedule.locator("#fence")
    schedule.keyboard.press("Shift+ArrowRight")
    expect(fence.locator(".ghost")).to_have_count(1)
    schedule.keyboard.press("Tab")
    expect(fence).not_to_be_focused()
    expect(fence.locator(".ghost")).to_have_count(0)
    expect(schedule.locator("#said")).to_contain_text(f"{taken_up.decode()} was put back")
    expect(fence).to_contain_text("now ")
    schedule.keyboard.press("Shift+Tab")
    schedule.keyboard.press("Enter")
    expect(schedule.locator("#dialog[open]")).to_have_count(0)
    assert console_bus.run(score(q.schedule, taken_up)) == held


def test_escape_from_the_dialog_leaves_the_mark_to_the_keys(
    schedule: Page, q: QueueKeys, console_bus: Bus, taken_up: bytes
) -> None:
    held = console_bus.run(score(q.schedule, taken_up))
    fence, dialog = schedule.locator("#fence"), schedule.locator("#dialog")
    for _ in range(2):
        schedule.keyboard.press("Shift+ArrowRight")
        schedule.keyboard.press("Enter")
        expect(dialog).to_contain_text(taken_up.decode())
        schedule.keyboard.press("Escape")
        expect(dialog).to_be_hidden()
        expect(schedule.locator("#said")).to_contain_text(f"{taken_up.decode()} was put back")
        expect(fence).to_be_focused()
        expect(fence.locator(".selring")).to_have_count(1)
        schedule.keyboard.press("m")
        expect(fence.locator(".ghost")).to_have_count(1)
    schedule.keyboard.press("Escape")
    assert console_bus.run(score(q.schedule, taken_up)) == held
    schedule.keyboard.press("Enter")
    expect(schedule).to_have_url(re.compile(re.escape(to_path(taken_up)) + "$"))


def test_a_mark_moved_by_keys_is_moved_again(
    schedule: Page, q: QueueKeys, console_bus: Bus, taken_up: bytes
) -> None:
    said, shown = schedule.locator("#said"), schedule.locator("#fence .tip ~ text")
    before = console_bus.run(score(q.schedule, taken_up))
    for _ in range(2):
        schedule.keyboard.press("Shift+ArrowRight")
        heard = said.inner_text()
        schedule.keyboard.press("Enter")
        schedule.locator("#dialog [name=reason]").press("Enter")
        until(lambda held=before: console_bus.run(score(q.schedule, taken_up)) > held, "moved")
        before = console_bus.run(score(q.schedule, taken_up))
        expect(schedule.locator("#fence .selring")).to_have_count(1)
        assert said.inner_text() == heard, "nothing was put back"
        expect(shown.filter(has_text=heard.split(",")[0])).to_have_count(1)
        schedule.keyboard.press("m")


@pytest.mark.parametrize(("tries", "words"), [(1, "tried once"), (2, "tried 2 times")])
def test_the_words_of_a_mark_count_its_tries(
    schedule: Page, q: QueueKeys, console_bus: Bus, tries: int, words: str
) -> None:
    job_id = mint()
    console_bus.run(admission.enqueue_in(q, job_id, b"x", 300_000))
    console_bus.run(command("HSET", q.row(job_id), "attempts", tries))
    schedule.reload()
    expect(mark(schedule, job_id)).to_be_visible()
    schedule.locator("#fence").focus()
    schedule.keyboard.press("ArrowRight")
    expect(schedule.locator("#said")).to_have_text(re.compile(f"{re.escape(words)}$"))


@pytest.mark.parametrize("late", [0, 1, 2])
def test_the_line_of_a_frozen_list_speaks_of_the_moment_it_was_read(
    schedule: Page, q: QueueKeys, console_bus: Bus, late: int
) -> None:
    for _ in range(late):
        console_bus.run(admission.enqueue_at(q, mint(), b"x", 1_700_000_000_000))
    line = schedule.locator("#fence-row .ln > span")
    clock = schedule.locator(".vitals [data-clock]")
    live(schedule, at("schedule", q))
    going = r"now \d\d:\d\d:\d\d" + ("" if late else ", nothing is late")
    expect(line).to_have_text(re.compile(f"^{going}$"), use_inner_text=True)
    schedule.keyboard.press(" ")
    was = ("nothing was late", "1 was late", "2 were late")[late]
    standing = re.compile(rf"^as of (\d\d:\d\d:\d\d), {was}$")
    expect(line).to_have_text(standing, use_inner_text=True)
    read = line.inner_text()
    expect(schedule.locator("#fence")).to_contain_text(read.split(",")[0])
    for _ in range(2):
        before = clock.inner_text()
        expect(clock).not_to_have_text(before)
        assert line.inner_text() == read
    schedule.keyboard.press(" ")
    expect(line).to_have_text(re.compile(f"^{going}$"), use_inner_text=True)
    expect(schedule.locator("#fence")).to_contain_text("now ")


def test_a_pointer_holds_the_chart_and_a_chip_says_what_waits(
    schedule: Page, q: QueueKeys, console_bus: Bus
) -> None:
    job_id = mint()
    schedule.locator("#fence").hover(position={"x": 700, "y": 240})
    expect(schedule.locator("#fence")).to_contain_text("held")
    console_bus.run(admission.enqueue_in(q, job_id, b"x", 60_000))
    expect(schedule.locator("#fence")).to_contain_text("1 change held")
    expect(mark(schedule, job_id)).to_have_count(0)
    schedule.mouse.move(10, 880)
    expect(mark(schedule, job_id)).to_be_visible()


def test_the_upright_axis_of_a_phone(
    signed_in: BrowserContext, q: QueueKeys, console_bus: Bus
) -> None:
    job_id, late = mint(), mint()
    console_bus.run(admission.enqueue_in(q, job_id, b"x", AHEAD))
    console_bus.run(admission.enqueue_at(q, late, b"x", 1_700_000_000_000))
    now = console_bus.run(command("ZADD", q.schedule, 1, late))
    assert now == 0
    page = signed_in.new_page()
    page.set_viewport_size({"width": 390, "height": 844})
    page.goto(at("schedule", q))
    line = page.locator("#fence .fence").bounding_box()
    ahead = mark(page, job_id).locator(".hit").bounding_box()
    behind = mark(page, late).locator(".hit").bounding_box()
    assert behind["y"] < line["y"] < ahead["y"]
    assert page.evaluate("() => document.documentElement.scrollWidth") <= 390
    page.close()
