"""What a hand does: keys alone, the focus after each act, presses that follow one another."""

from __future__ import annotations

import pytest
from playwright.sync_api import Page, expect

from echomq_admin.live.page import to_path
from queue_core import keys
from queue_core.bus import Bus
from queue_core.ids import Minter
from queue_core.keys import QueueKeys, queue
from queue_core.verbs import admission
from tests.browser.places import at, live
from tests.builders import Builder, a_lane, command

mint = Minter(89).mint

ON = """() => {
  const on = document.activeElement;
  if (!on || on === document.body) return null;
  const box = on.getBoundingClientRect();
  const rings = [on, on.closest(".input"), on.querySelector(".lane-c")].filter(Boolean);
  const seen = document.elementFromPoint(box.x + box.width / 2, box.y + box.height / 2);
  return {
    what: (on.getAttribute("aria-label") || on.innerText || on.id || on.tagName).slice(0, 60),
    at: [...document.querySelectorAll("*")].indexOf(on),
    sized: box.width > 1 && box.height > 1,
    ringed: on.matches("a:has(.lane-c)")
      || rings.some((one) => getComputedStyle(one).outlineStyle !== "none"),
    box: [box.x, box.y, box.right, box.bottom],
    bare: Boolean(seen) && (on.contains(seen) || seen.contains(on)),
  };
}"""


@pytest.fixture
def worked(console_bus: Bus) -> QueueKeys:
    """A queue with rows on each of its lists."""
    q = queue("by-keys")
    make = Builder(console_bus.run, q, mint)
    if not console_bus.run(command("ZCARD", q.dead)):
        for made in (make.dead, make.dead, make.dead, make.pending, make.pending, make.scheduled):
            made()
        make.in_lane(a_lane())
    return q


@pytest.mark.parametrize("width", [1440, 390])
@pytest.mark.parametrize("name", ["", "pending", "dead", "schedule", "active"])
def test_tab_goes_through_a_page_in_its_order_and_is_seen_everywhere(
    page: Page, worked: QueueKeys, name: str, width: int
) -> None:
    page.set_viewport_size({"width": width, "height": 900})
    live(page, at(name, worked) if name else "/")
    there = {"": "by-keys", "active": "Active"}.get(name, "JOB")
    expect(page.locator("#main a", has_text=there).first).to_be_visible()
    stops = []
    for _ in range(150):
        page.keyboard.press("Tab")
        stop = page.evaluate(ON)
        if stop is None or (stops and stop["what"] == stops[0]["what"]):
            break
        stops.append(stop)
    assert stops[0]["what"] == "Skip to the page"
    assert [stop["at"] for stop in stops] == sorted(stop["at"] for stop in stops)
    odd = [stop for stop in stops if not (stop["sized"] and stop["ringed"] and stop["bare"])]
    assert not odd
    words = " ".join(stop["what"] for stop in stops)
    wanted = {"": "by-keys", "dead": "Retry", "pending": "Remove", "schedule": "Run now"}
    assert wanted.get(name, "Workers") in words


def test_the_skip_link_leads_to_the_page(page: Page, worked: QueueKeys) -> None:
    live(page, at("dead", worked))
    page.keyboard.press("Tab")
    page.keyboard.press("Enter")
    expect(page.locator("#main")).to_be_focused()
    page.keyboard.press("Tab")
    assert page.evaluate("document.activeElement.closest('#main') !== null")


@pytest.mark.parametrize("key", ["Enter", " "])
def test_a_dialog_by_keys_alone_and_back_to_its_row(
    page: Page, worked: QueueKeys, console_bus: Bus, key: str
) -> None:
    live(page, at("dead", worked))
    verb = page.locator("#graves [data-action=retry_dead]")
    before = verb.count()
    verb.first.focus()
    page.keyboard.press(key)
    dialog = page.locator("#dialog")
    expect(dialog).to_be_visible()
    for _ in range(12):  # the focus does not leave what is asked
        page.keyboard.press("Tab")
        assert page.evaluate("document.activeElement.closest('#dialog, body') !== null")
        assert page.evaluate("!document.activeElement.closest('#main')")
    page.keyboard.press("Escape")
    expect(dialog).to_be_hidden()
    expect(verb.first).to_be_focused()
    page.keyboard.press(key)
    expect(dialog.get_by_label("Reason")).to_be_visible()
    dialog.get_by_label("Reason").focus()
    page.keyboard.type("by keys")
    page.keyboard.press("Enter")
    expect(page.locator("#toasts .toast")).to_have_attribute("data-outcome", "done")
    expect(verb).to_have_count(before - 1)
    assert page.evaluate("document.activeElement.closest('#graves') !== null"), "the next row's"
    expect(verb.first).to_be_focused()


def test_a_verb_without_a_dialog_keeps_the_focus(
    page: Page, worked: QueueKeys, console_bus: Bus
) -> None:
    live(page, at("pending", worked))
    page.locator("#queue-head [data-action=pause_queue]").focus()
    page.keyboard.press("Enter")
    resume = page.locator("#queue-head [data-action=resume_queue]")
    expect(resume).to_be_focused()
    expect(resume).to_have_text("Resume")  # what has the focus is drawn anew as well
    page.keyboard.press(" ")
    expect(page.locator("#queue-head [data-action=pause_queue]")).to_be_focused()


SLOW = """window.passed = 0;
Object.defineProperty(Event.prototype, "timeStamp", { get: () => window.passed });"""
"""The page's own time of each press, in ms: it passes as the test says, not as the machine does."""


def test_presses_that_follow_at_once_are_one_act(page: Page, console_bus: Bus) -> None:
    """The row is gone after the first, and another is where the pointer or the focus is."""
    q = queue("one-press")
    page.add_init_script(SLOW)
    make = Builder(console_bus.run, q, mint)
    for _ in range(5):
        make.scheduled()
    left = lambda: console_bus.run(command("ZCARD", q.schedule))  # noqa: E731
    live(page, at("schedule", q))
    verb = page.locator("[data-action=run_now]")
    place = verb.first.bounding_box()
    assert place is not None
    for _ in range(3):
        page.mouse.click(place["x"] + 5, place["y"] + 5)
        page.wait_for_timeout(250)  # a frame comes between
        page.evaluate("window.passed += 250")  # slower than a double click is
    expect(verb).to_have_count(4)
    assert left() == 4
    verb.first.focus()
    page.keyboard.down("Enter")
    expect(verb).to_have_count(3)
    expect(verb.first).to_be_focused()
    for _ in range(3):
        page.keyboard.down("Enter")  # held, it repeats
    page.keyboard.up("Enter")
    page.keyboard.press("Enter")
    page.wait_for_timeout(600)
    assert left() == 3
    page.evaluate("window.passed += 600")
    verb.first.click()
    expect(verb).to_have_count(2)


VERBS = "#schedule-list [data-action]"
COVERED = """(verbs) => [...document.querySelectorAll(verbs)].filter((verb) => {
  const { x, y, width, height } = verb.getBoundingClientRect();
  const seen = document.elementFromPoint(x + width / 2, y + height / 2);
  return y + height < innerHeight && !verb.contains(seen);
}).length"""


@pytest.mark.parametrize(("width", "shown"), [(1440, 2), (390, 1)])
def test_toasts_leave_the_verbs_of_the_rows_bare(
    page: Page, console_bus: Bus, width: int, shown: int
) -> None:
    q = queue(f"told-{width}")
    for minutes in range(20):
        console_bus.run(admission.enqueue_in(q, mint(), b"x", 3_600_000 + 60_000 * minutes))
    page.set_viewport_size({"width": width, "height": 844})
    live(page, at("schedule", q))
    page.locator("#schedule-list").evaluate("list => list.scrollIntoView()")
    told = page.locator("#toasts .toast:visible")
    for many in range(1, 5):
        row = page.locator("#schedule-list tr[id^=due-]").first
        job = row.locator(".job").inner_text().strip()
        row.locator("[data-action=run_now]").evaluate("verb => verb.click()")
        expect(told.first).to_contain_text(f"Done job {job}")
        expect(told).to_have_count(min(many, shown))
        expect(page.locator(f"#schedule-list :text('{job}')")).to_have_count(0)
    if width == 1440:
        assert page.evaluate(COVERED, VERBS) == 0
    else:
        foot, bar = told.first.bounding_box(), page.locator(".phonebar").bounding_box()
        assert foot["y"] + foot["height"] <= bar["y"]
    rest = page.locator("#toasts-rest")
    expect(rest).to_have_text(f"{4 - shown} earlier")
    newest = told.first.inner_text()
    page.keyboard.press("Escape")
    expect(told.first).not_to_have_text(newest, use_inner_text=True)
    expect(told).to_have_count(shown)
    rest.press("Enter")
    expect(told).to_have_count(3)
    for left in (2, 1, 0):
        page.keyboard.press("Escape")
        expect(told).to_have_count(left)
    page.route("**/act/run_now", lambda route: route.abort())
    job = page.locator("#schedule-list .job").first.inner_text().strip()
    page.locator("#schedule-list [data-action=run_now]").first.evaluate("verb => verb.click()")
    expect(told).to_contain_text(f"Outcome unknown {job}")


HELD = "one => [one.isConnected, one.checkVisibility(), one.contains(document.activeElement)]"


def test_a_toast_that_keys_are_on_stays_whatever_the_pointer_does_and_what_comes_after(
    page: Page, worked: QueueKeys
) -> None:
    live(page, at("pending", worked))
    page.clock.install()
    verb = page.locator("#queue-head :is([data-action=pause_queue], [data-action=resume_queue])")
    toast = page.locator("#toasts .toast")
    verb.press("Enter")
    expect(toast).to_have_count(1)
    first = toast.element_handle()
    first.hover()
    first.query_selector("[type=submit]").focus()
    page.mouse.move(1200, 10)
    page.clock.run_for(9_000)
    assert first.evaluate(HELD) == [True, True, True]
    for count in (2, 3):
        verb.evaluate("verb => verb.click()")
        expect(toast).to_have_count(count)
    assert first.evaluate(HELD) == [True, True, True]
    first.query_selector("[data-command]").focus()
    page.clock.run_for(9_000)
    assert first.evaluate(HELD) == [True, True, True]
    verb.focus()
    page.clock.run_for(9_000)
    expect(toast).to_have_count(0)


def test_a_dialog_that_stays_open_tells_itself_what_became_of_its_request(
    page: Page, worked: QueueKeys
) -> None:
    live(page, at("dead", worked))
    page.locator("#graves [data-action=remove_job]").first.press("Enter")
    page.route("**/act/remove_job", lambda route: route.abort())
    page.keyboard.type("remove")
    told = page.locator("#dialog [role=alert]")
    for _ in range(2):
        page.locator("#dialog [type=submit]").press("Enter")
        expect(told).to_have_count(1)
        expect(told).to_contain_text("Outcome unknown. The console did not answer")
    page.unroute("**/act/remove_job")
    page.locator("#dialog [name=confirm]").fill("yes")
    page.locator("#dialog [type=submit]").press("Enter")
    expect(page.locator("#dialog .wrong")).to_be_visible()
    expect(page.locator("#dialog")).not_to_contain_text("Outcome unknown")


def test_a_name_from_right_to_left_does_not_turn_the_sentence_around_it(
    page: Page, console_bus: Bus
) -> None:
    q = queue("from-the-right")
    console_bus.run(command("ZADD", q.dead, 0, "قائمة".encode()))
    live(page, at("dead", q))
    page.locator("#graves [data-action=remove_job]").press("Enter")
    expect(page.locator("#dialog [name=confirm]")).to_be_focused()
    page.keyboard.type("remove")
    page.keyboard.press("Enter")
    sentence = page.locator("#toasts .toast p + p bdi")
    expect(sentence).to_contain_text("is not dead any more.")
    assert sentence.evaluate("one => getComputedStyle(one).direction") == "ltr"


def test_what_was_asked_wrongly_is_where_the_focus_is(page: Page, worked: QueueKeys) -> None:
    live(page, at("dead", worked))
    page.locator("#graves [data-action=remove_job]").first.focus()
    page.keyboard.press("Enter")
    field = page.locator("#dialog [name=confirm]")
    expect(field).to_be_focused()
    page.keyboard.type("yes")
    page.keyboard.press("Enter")
    expect(page.locator("#dialog .wrong")).to_be_visible()
    expect(field).to_be_focused()
    page.keyboard.press("Escape")
    expect(page.locator("#dialog")).to_be_hidden()


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


def test_what_a_field_holds_is_typed_over(page: Page, console_bus: Bus) -> None:
    board = keys.board(b"GAM0000000OVER")
    console_bus.run(command("ZADD", board, 600, b"ann"))
    live(page, f"/bus/main/board/{to_path(b'GAM0000000OVER')}")
    page.locator("main [data-action=rescore]").focus()
    page.keyboard.press("Enter")
    expect(page.locator("#dialog [name=score]")).to_be_focused()
    page.keyboard.type("1e3")
    page.keyboard.press("Enter")
    expect(page.locator("#dialog .wrong")).to_be_visible()
    expect(page.locator("#dialog [name=score]")).to_be_focused()
    page.keyboard.type("5")
    page.keyboard.press("Enter")
    expect(page.locator("#toasts .toast")).to_have_attribute("data-outcome", "done")
    assert console_bus.run(command("ZSCORE", board, b"ann")) == b"5"
