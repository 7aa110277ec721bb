"""What is drawn can be read: no word under a mark or a line, none cut at an edge, in two widths."""

from __future__ import annotations

import pytest
from playwright.sync_api import Page, expect

from echomq_admin.live.page import to_path
from queue_core import boards, ids
from queue_core.bus import Bus
from queue_core.ids import Minter
from queue_core.keys import QueueKeys, queue
from queue_core.verbs import admission, claims, repeats, settle
from tests.browser.places import at
from tests.builders import Builder, a_lane, command, server_ms

mint = Minter(13).mint
WIDTHS = (1440, 390)

COVERED = """([words, things]) => {
  const rect = (one) => one.getBoundingClientRect();
  const told = [...document.querySelectorAll(words)].filter((one) => one.textContent);
  const within = (at, low, high, rim) => at > low + rim && at < high - rim;
  const inside = (a, x, y) => within(x, a.left, a.right, 1) && within(y, a.top, a.bottom, 2);
  const points = (one) => {
    const at = rect(one);
    if (!one.getTotalLength || one.matches("circle, rect")) {
      return [[at.left + at.width / 2, at.top + at.height / 2]];
    }
    const map = one.getScreenCTM();
    return Array.from({ length: 400 }, (_, step) => {
      const to = one.getPointAtLength((one.getTotalLength() * step) / 399).matrixTransform(map);
      return [to.x, to.y];
    });
  };
  const marks = [...document.querySelectorAll(things)].flatMap(points);
  const hit = told.filter((one) => marks.some(([x, y]) => inside(rect(one), x, y)));
  const twice = told.filter((one, at) => told.slice(at + 1).some((other) => {
    const [a, b] = [rect(one), rect(other)];
    return a.left < b.right && b.left < a.right && a.top + 2 < b.bottom && b.top + 2 < a.bottom;
  }));
  return [told.length > 0, [...hit, ...twice].map((one) => one.textContent)];
}"""
"""Whether any words are told at all, and which of them a thing or other words stand upon."""

CUT = """(words) => [...document.querySelectorAll(words)].filter((one) => {
  const [own, around] = [one, one.closest("svg, th")].map((each) => each.getBoundingClientRect());
  return own.left < around.left - 1 || own.right > around.right + 1
    || own.top < around.top - 1 || own.bottom > around.bottom + 1;
}).map((one) => one.textContent)"""


PAINTED_AFTER = """(word, things) => [...document.querySelectorAll(things)].every(
  (thing) => thing.compareDocumentPosition(word) & Node.DOCUMENT_POSITION_FOLLOWING)"""


WIDER = """(cells) => [...document.querySelectorAll(cells)].filter((one) => {
  const cell = one.closest("td");
  return cell.clientWidth && cell.scrollWidth > cell.clientWidth && !cell.matches(".err");
}).map((one) => one.textContent)"""
"""Cells that hold more than they show; an error is cut on purpose."""


@pytest.fixture
def q(request: pytest.FixtureRequest) -> QueueKeys:
    return queue("drawn-" + str(abs(hash(request.node.name)) % 100_000))


def sized(page: Page, width: int) -> Page:
    page.set_viewport_size({"width": width, "height": 900})
    return page


@pytest.mark.parametrize("width", WIDTHS)
@pytest.mark.parametrize(
    "late_ms",
    [
        [400 + 11 * one for one in range(30)],
        [200 + 1_300 * one for one in range(40)],
        [150, 2_500, 9_000],
        [54_000 + 40 * one for one in range(140)],
    ],
    ids=["just late", "an outage", "a few", "many at once"],
)
def test_the_words_of_late_marks_are_read(
    page: Page, console_bus: Bus, q: QueueKeys, width: int, late_ms: list[int]
) -> None:
    now = console_bus.run(server_ms())
    scored = [part for ms in late_ms for part in (now - ms, mint())]
    console_bus.run(command("ZADD", q.schedule, *scored))
    console_bus.run(admission.enqueue_in(q, mint(), b"far", 3_600_000))
    sized(page, width).goto(at("schedule", q))
    expect(page.locator("#fence .mark.is-late").first).to_be_visible()
    things = ".mark.is-late .face, .mark.is-late .tether, #fence .fence, #fence .fence-flag"
    told, covered = page.evaluate(COVERED, ["#fence .mark text", things])
    assert covered == []
    assert told or len(late_ms) > 100


@pytest.mark.parametrize("width", WIDTHS)
def test_no_wait_of_the_curve_stands_under_the_other_policy(
    page: Page, console_bus: Bus, q: QueueKeys, width: int
) -> None:
    console_bus.run(admission.enqueue(q, mint(), b"x"))
    sized(page, width).goto(at("backoff", q))
    expect(page.locator("#curve .curveB")).to_be_attached()
    assert page.evaluate(COVERED, ["#curve .waits text", "#curve .curveB"]) == [True, []]


def test_a_stem_of_the_curve_runs_behind_the_words(
    page: Page, console_bus: Bus, q: QueueKeys
) -> None:
    for wait_ms in (15_000, 40_000):
        console_bus.run(admission.enqueue(q, mint(), b"x"))
        lease = console_bus.run(claims.claim(q, 30_000, b"w1"))
        console_bus.run(settle.retry(q, lease.id, lease.token, wait_ms, 9, b"502"))
    sized(page, 390).goto(at("backoff", q))
    expect(page.locator("#curve .stem[d]").first).to_be_attached()
    words = page.locator("#curve .waits text")
    expect(words).not_to_have_count(0)
    for word in words.all():
        assert word.evaluate(PAINTED_AFTER, "#curve .stem")


def test_a_player_that_enters_is_called_new(page: Page, console_bus: Bus, q: QueueKeys) -> None:
    console_bus.run(boards.fold(q.name, b"ann", 420))
    sized(page, 1280).goto(f"/bus/main/board/{to_path(q.name)}")
    expect(page.locator(".board .mv.flat")).not_to_be_empty()
    console_bus.run(boards.fold(q.name, b"bob", 440))
    expect(page.locator(".board .mv.new")).to_have_text("new")
    assert page.evaluate(WIDER, ".board td") == []


@pytest.mark.parametrize("width", WIDTHS)
def test_no_moment_of_an_axis_is_cut(
    page: Page, console_bus: Bus, q: QueueKeys, width: int
) -> None:
    console_bus.run(repeats.register(q, b"pulse", 20_000, b"x", 1_000))
    sized(page, width).goto(at("repeats", q))
    expect(page.locator("#cadence text").first).to_be_attached()
    assert page.evaluate(CUT, "#cadence text") == []


def in_trouble(bus: Bus, q: QueueKeys) -> None:
    """Nobody promotes, and the only worker fell silent."""
    now = bus.run(server_ms())
    bus.run(command("ZADD", q.workers, now - 80_000, b"w1"))
    bus.run(command("ZADD", q.schedule, now - 60_000, mint()))


@pytest.mark.parametrize("width", WIDTHS)
def test_two_signs_of_a_queue_stand_whole_on_the_wall(
    page: Page, console_bus: Bus, q: QueueKeys, width: int
) -> None:
    in_trouble(console_bus, q)
    sized(page, width).goto("/")
    row = page.locator(f"[id='q{to_path(b'main')}{to_path(q.name)}']")
    expect(row).to_contain_text("no worker heard for 1 m")
    expect(row).to_contain_text("nothing promoting")
    assert page.evaluate(CUT, ".wall th .flag") == []


GROWN_OLD = """(row) => {
  const told = [...row.querySelectorAll(".now, .then")].filter((one) => one.checkVisibility());
  row.classList.toggle("stale");
  return told.length;
}"""
"""Draws a row as an old one, or as a fresh one again."""


@pytest.mark.parametrize("width", [1024, 1280, 1320, 1321, 1360, 1439, 1440])
def test_no_word_of_a_wall_is_cut(page: Page, console_bus: Bus, q: QueueKeys, width: int) -> None:
    now, year = console_bus.run(server_ms()), 365 * 86_400_000
    long_ago = ids.encode("JOB", ids.min_for(now - year - 4_000_000))
    late, ahead = (queue(q.name.decode() + side) for side in ("-late", "-ahead"))
    for one in (late, ahead):
        console_bus.run(command("ZADD", one.pending, 0, long_ago))
        console_bus.run(command("HSET", one.metrics_completed, "count", 1_234_567))
    console_bus.run(command("ZADD", late.schedule, now - year - 40_000_000, mint()))
    console_bus.run(command("ZADD", ahead.schedule, now + year + 40_000_000, mint()))
    console_bus.run(command("ZADD", ahead.repeat, now - 86_000_000, b"digest"))
    sized(page, width).goto("/")
    for one, said in ((late, "worst 365 d"), (ahead, "next in 365 d")):
        row = page.locator(f"[id='q{to_path(b'main')}{to_path(one.name)}']")
        expect(row.locator(".late")).to_contain_text(said)
        cells = f"[id='{row.get_attribute('id')}'] td"
        assert page.evaluate(WIDER, cells) == []
        assert row.evaluate(GROWN_OLD) > 0
        assert page.evaluate(WIDER, cells) == []
    assert page.locator("#wall").evaluate("(wall) => wall.scrollWidth - wall.clientWidth") == 0
    assert page.evaluate(WIDER, ".busrow td") == []


def test_signs_leave_the_name_of_a_queue_whole(page: Page, console_bus: Bus, q: QueueKeys) -> None:
    in_trouble(console_bus, q)
    sized(page, 1440).goto(at("schedule", q))
    expect(page.locator("#queue-head")).to_contain_text("nothing promoting")
    assert (
        page.evaluate("document.querySelector('#queue-head h1 bdi').getClientRects().length") == 1
    )


def test_a_phone_has_enqueue_and_a_lanes_verbs_beside_it(
    page: Page, console_bus: Bus, q: QueueKeys
) -> None:
    lane = ids.encode("PLR", 1_000_000_007)
    for _ in range(3):
        console_bus.run(admission.lane_enqueue(q, lane, mint(), b"x"))
    sized(page, 390).goto(at("pending", q))
    enqueue = page.locator('#queue-head [data-action="enqueue"]')
    expect(enqueue).to_be_visible()
    assert enqueue.bounding_box()["height"] >= 44
    row = page.locator(f"#lane-{to_path(lane)}".replace("~", "\\~"))
    name, verbs = (row.locator(one).bounding_box() for one in (".lnm", ".lacts"))
    assert verbs["x"] >= name["x"] + name["width"]
    assert verbs["y"] <= name["y"] + 8
    assert row.bounding_box()["height"] < 90
    assert page.evaluate("document.documentElement.scrollWidth") <= 390


def test_a_phone_has_the_verbs_of_a_row_at_its_right(
    page: Page, console_bus: Bus, q: QueueKeys
) -> None:
    now = console_bus.run(server_ms())
    console_bus.run(admission.enqueue_in(q, mint(), b"x", 3_600_000))
    late = mint()
    console_bus.run(admission.enqueue_at(q, late, b"x", now - 100_000_000))
    console_bus.run(command("HSET", q.row(late), "last_error", "a long story " * 9))
    console_bus.run(repeats.register(q, b"daily-digest-of-all-that-came", 60_000, b"x", 60_000))
    console_bus.run(repeats.register(q, b"stopped", 60_000, b"x", 60_000))
    console_bus.run(repeats.pause(q, b"stopped", "someone-of-the-night-shift"))
    for place, rows, first in (
        ("schedule", "#schedule-list tr[id^=due-]", ".job"),
        ("repeats", "#registry tr[id^=repeat-]", ".name"),
    ):
        sized(page, 390).goto(at(place, q))
        expect(page.locator(rows)).to_have_count(2)
        for row in page.locator(rows).all():
            name, verbs = (row.locator(one).bounding_box() for one in (first, ".acts"))
            assert name["x"] + name["width"] <= verbs["x"]
            assert row.bounding_box()["height"] < 110
            right = row.bounding_box()["x"] + row.bounding_box()["width"]
            assert right - 16 <= verbs["x"] + verbs["width"] <= right
        assert page.evaluate(WIDER, f"{rows} td, {rows} td *") == []


def test_no_oldest_number_is_told_where_none_is_fresh(page: Page, console_bus: Bus) -> None:
    console_bus.run(admission.enqueue(queue("fresh"), mint(), b"x"))
    sized(page, 1440).goto("/")
    expect(page.locator(".oldest")).to_be_visible()
    shown = page.evaluate("""() => {
      document.getElementById("overview-reading").dataset.fresh = "0";
      return getComputedStyle(document.querySelector(".oldest")).display;
    }""")
    assert shown == "none"


HEADS = """() => [...document.querySelectorAll(".grid th")].filter((head) => {
  const words = document.createRange();
  words.selectNodeContents(head);
  const [own, around] = [words, head].map((each) => each.getBoundingClientRect().width);
  return around > 1 && own > around;
}).map((head) => head.textContent)"""
"""Heads of columns that are wider than their column."""


@pytest.mark.parametrize("width", [730, 760, 960])
def test_a_wide_table_scrolls_in_its_panel_and_keeps_its_columns(
    page: Page, console_bus: Bus, q: QueueKeys, width: int
) -> None:
    make = Builder(console_bus.run, q, mint)
    for made in (make.dead, make.pending, make.scheduled):
        made()
    make.in_lane(a_lane())
    console_bus.run(repeats.register(q, b"hourly", 3_600_000, b"{}"))
    for name in ("pending", "schedule", "active", "dead", "repeats", "workers"):
        sized(page, width).goto(at(name, q))
        expect(page.locator("main .panel").first).to_be_visible()
        assert page.evaluate("document.documentElement.scrollWidth") <= width, name
        assert page.evaluate(HEADS) == [], name
