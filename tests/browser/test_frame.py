"""The frame around every page: live, steady under the hand, honest when it is not live."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator

import pytest
from playwright.sync_api import BrowserContext, Page, WebSocketRoute, expect

from echomq_admin.live.page import to_path
from queue_core.bus import Bus
from queue_core.ids import Minter
from queue_core.keys import queue
from queue_core.verbs import admission, queues
from tests.browser.places import at, live
from tests.builders import command

mint = Minter(81).mint
CM = queue("cm")
SCHEDULE = at("schedule", CM)


@pytest.fixture(autouse=True)
def filled(console_bus: Bus) -> None:
    """Queues of several kinds on the wall."""
    for name in ("cm", "billing", "mail.digest"):
        q = queue(name)
        console_bus.run(admission.enqueue(q, mint(), b"x"))
        console_bus.run(admission.enqueue_in(q, mint(), b"x", 60_000))
        console_bus.run(command("ZADD", q.dead, 0, mint()))


@pytest.fixture
def refusals(page: Page) -> Iterator[list[str]]:
    """What the browser refused, the content policy above all; there must be none."""
    seen: list[str] = []
    page.on("console", lambda said: seen.append(said.text) if said.type == "error" else None)
    yield seen
    assert not seen


def waiting(bus: Bus) -> int:
    """Jobs in flat pending of cm, as the bus has them."""
    return bus.run(command("ZCARD", CM.pending))


def row_of(name: bytes) -> str:
    return f"[id='q{to_path(b'main')}{to_path(name)}']"


def pending_of(page: Page, name: bytes) -> str:
    return f"{row_of(name)} [data-k=Pending] .num"


def test_the_wall_moves_without_reload_under_the_strict_policy(page, console_bus, refusals):
    page.goto("/")
    cell = page.locator(pending_of(page, b"cm"))
    before = waiting(console_bus)
    expect(cell).to_have_text(str(before))
    console_bus.run(admission.enqueue(CM, mint(), b"x"))
    expect(cell).to_have_text(str(before + 1))
    expect(page.locator("[data-live-word]")).to_have_text("Live")


def test_the_theme_is_there_before_the_first_paint(page):
    page.goto("/")
    page.evaluate("localStorage.setItem('echomq-theme', 'light')")
    page.add_init_script(
        "addEventListener('DOMContentLoaded', () => document.documentElement.dataset.seen ="
        " document.documentElement.dataset.theme)"
    )
    page.goto("/")
    assert page.locator("html").get_attribute("data-seen") == "light"
    page.keyboard.press("t")
    assert page.locator("html").get_attribute("data-theme") == "system"
    page.evaluate("localStorage.removeItem('echomq-theme')")


def test_case_126_typing_is_left_alone_while_the_page_moves(page, console_bus):
    page.goto("/")
    cell = page.locator(pending_of(page, b"cm"))
    before = waiting(console_bus)
    expect(cell).to_have_text(str(before))
    page.keyboard.press("/")
    field = page.locator("input[name=q]")
    expect(field).to_be_focused()
    field.type("cmx")
    page.keyboard.press("ArrowLeft")
    page.keyboard.press("Backspace")
    field.evaluate("field => field.setSelectionRange(1, 2)")
    hidden = page.locator(row_of(b"billing"))
    expect(hidden).to_be_hidden()
    page.evaluate("scrollTo(0, 40)")
    scrolled = page.evaluate("scrollY")
    for _ in range(3):
        before += 1
        console_bus.run(admission.enqueue(CM, mint(), b"x"))
        console_bus.run(admission.enqueue(queue("billing"), mint(), b"x"))
        expect(page.locator(pending_of(page, b"cm"))).to_have_text(str(before))
    expect(field).to_be_focused()
    assert field.input_value() == "cx"
    assert field.evaluate("field => [field.selectionStart, field.selectionEnd]") == [1, 2]
    assert page.evaluate("scrollY") == scrolled
    expect(hidden).to_be_hidden()


def test_case_126_a_dialog_stays_open_and_a_swapped_button_works(page, console_bus):
    live(page, SCHEDULE)
    page.keyboard.press("?")
    expect(page.locator("#keys")).to_be_visible()
    console_bus.run(queues.pause(CM))
    resume = page.locator("#queue-head [data-action=resume_queue]")
    expect(resume).to_have_count(1)
    expect(page.locator("#keys")).to_be_visible()
    page.keyboard.press("Escape")
    expect(page.locator("#keys")).to_be_hidden()
    resume.click()
    expect(page.locator("#queue-head [data-action=pause_queue]")).to_have_count(1)
    expect(page.locator("#toasts .toast")).to_have_count(1)


def test_case_122_a_dropped_frame_is_noticed_and_the_whole_is_fetched(signed_in, console_bus):
    page = signed_in.new_page()
    dropped, asked = [], []

    def between(route: WebSocketRoute) -> None:
        server = route.connect_to_server()

        def from_page(text: str) -> None:
            if "snapshot" in text:
                asked.append(text)
            server.send(text)

        def from_server(text: str) -> None:
            if not dropped and json.loads(text).get("seq") == 2:
                dropped.append(text)
            else:
                route.send(text)

        route.on_message(from_page)
        server.on_message(from_server)

    page.route_web_socket(re.compile("/ws/live"), between)
    page.goto("/")
    cell = page.locator(pending_of(page, b"cm"))
    before = waiting(console_bus)
    expect(cell).to_have_text(str(before))
    console_bus.run(admission.enqueue(CM, mint(), b"x"))
    expect(cell).to_have_text(str(before + 1))
    assert dropped
    console_bus.run(admission.enqueue(CM, mint(), b"x"))
    expect(cell).to_have_text(str(before + 2))
    assert len(asked) == 1
    page.close()


def test_case_56_due_is_judged_by_the_servers_clock(signed_in: BrowserContext):
    page = signed_in.new_page()
    page.add_init_script("{ const now = Date.now; Date.now = () => now() - 3_600_000; }")
    page.goto(SCHEDULE)
    banner = page.locator("#banner-skew")
    expect(banner).to_contain_text(re.compile("Clocks differ by (1 h|59 m)"))
    expect(banner).to_contain_text("behind")
    shown = page.locator(".vitals [data-clock]").inner_text()
    hour = page.evaluate("new Date(performance.timeOrigin + performance.now()).getUTCHours()")
    assert int(shown[:2]) == hour
    page.close()


def test_everything_is_reached_by_keyboard(page):
    live(page, SCHEDULE)  # the rail has the first queues, and that of the page
    page.keyboard.press("Tab")
    expect(page.locator(".skip")).to_be_focused()
    page.keyboard.press("Control+k")
    field = page.locator("#palette-query")
    expect(field).to_be_focused()
    field.type("cm dead")
    expect(page.locator("#palette-list [aria-selected=true]")).to_contain_text("cm / Dead")
    page.keyboard.press("Enter")
    expect(page).to_have_url(re.compile("/dead$"))
    expect(page.locator("[data-live-word]")).to_have_text("Live")
    page.keyboard.press("g")
    page.keyboard.press("s")
    expect(page).to_have_url(re.compile("/schedule$"))


def test_the_palette_opens_a_job_by_its_id(page):
    page.goto(SCHEDULE)
    job_id = mint().decode()
    page.keyboard.press("Control+k")
    page.locator("#palette-query").type(job_id)
    expect(page.locator("#palette-list")).to_contain_text("job in cm")
    page.locator("#palette-list li", has_text="job in cm").click()
    expect(page).to_have_url(re.compile(re.escape(f"/job/{to_path(job_id.encode())}")))


def test_a_frozen_view_stands_still_until_it_is_let_go(page, console_bus):
    live(page, "/")
    page.keyboard.press(" ")
    expect(page.locator("[data-live-word]")).to_have_text("Frozen")
    cell = page.locator(pending_of(page, b"cm"))
    before = waiting(console_bus)
    console_bus.run(admission.enqueue(CM, mint(), b"x"))
    page.keyboard.press(" ")
    expect(cell).to_have_text(str(before + 1))
    expect(page.locator("[data-live-word]")).to_have_text("Live")


@pytest.mark.parametrize("width", [1440, 390])
def test_a_button_freezes_the_view(page: Page, console_bus: Bus, width: int) -> None:
    page.set_viewport_size({"width": width, "height": 844})
    live(page, SCHEDULE)
    word = page.locator("[data-live-word]")
    button = page.get_by_role("button", name="Freeze the view")
    expect(button).to_have_attribute("aria-pressed", "false")
    button.click()
    expect(button).to_have_attribute("aria-pressed", "true")
    expect(word).to_have_text("Frozen")
    console_bus.run(admission.enqueue(CM, mint(), b"x"))
    page.wait_for_timeout(700)
    expect(button).to_have_attribute("aria-pressed", "true")
    button.press(" ")
    expect(button).to_have_attribute("aria-pressed", "false")
    expect(word).to_have_text("Live")
    box = button.bounding_box()
    assert box is not None
    assert min(box["width"], box["height"]) >= (44 if width == 390 else 24)
    assert box["x"] + box["width"] <= width
    assert page.evaluate("document.documentElement.scrollWidth") <= width


def test_the_list_of_keys_names_freezing_only_where_it_freezes(page: Page) -> None:
    for place, many in (("/", 1), ("/audit", 0)):
        page.goto(place)
        page.keyboard.press("?")
        expect(page.locator("#keys li", has_text="All keys")).to_be_visible()
        expect(page.locator("#keys li", has_text="Freeze the view")).to_have_count(many)


def test_a_frame_that_was_under_way_does_not_move_a_frozen_view(signed_in: BrowserContext):
    page = signed_in.new_page()
    frames: list[str] = []
    routes: list[WebSocketRoute] = []

    def between(route: WebSocketRoute) -> None:
        server = route.connect_to_server()
        routes.append(route)
        server.on_message(lambda text: (frames.append(text), route.send(text)))

    page.route_web_socket(re.compile("/ws/live"), between)
    live(page, "/")
    page.keyboard.press(" ")
    word = page.locator("[data-live-word]")
    expect(word).to_have_text("Frozen")
    page.evaluate("""document.addEventListener("echomq:frame", () => { window.moved = true; })""")
    late = json.loads(frames[-1])
    late["data"]["frame"]["full"] = True
    routes[0].send(json.dumps(late))
    page.wait_for_timeout(300)
    assert not page.evaluate("window.moved")
    expect(word).to_have_text("Frozen")
    page.keyboard.press(" ")
    expect(word).to_have_text("Live")
    assert page.evaluate("window.moved")
    page.close()


def test_a_line_that_falls_silent_is_told_and_opened_anew(signed_in: BrowserContext):
    page = signed_in.new_page()
    routes: list[WebSocketRoute] = []

    def between(route: WebSocketRoute) -> None:
        server = route.connect_to_server()
        routes.append(route)
        mute = len(routes) == 1
        heard: list[str] = []

        def from_server(text: str) -> None:
            heard.append(text)
            if not mute or len(heard) == 1:
                route.send(text)

        server.on_message(from_server)

    page.route_web_socket(re.compile("/ws/live"), between)
    live(page, "/")
    word = page.locator("[data-live-word]")
    expect(word).to_have_text("Stale")
    expect(word).to_have_text("Not live")
    expect(word).to_have_text("Live")
    assert len(routes) == 2
    page.close()


def test_on_a_phone_the_rail_is_a_drawer(page):
    page.set_viewport_size({"width": 390, "height": 844})
    page.goto("/")
    expect(page.locator("#rail")).to_be_hidden()
    page.locator(".phonebar button", has_text="More").click()
    expect(page.locator("#rail")).to_be_visible()
    page.keyboard.press("Escape")
    expect(page.locator("#rail")).to_be_hidden()
    assert page.evaluate("document.documentElement.scrollWidth") <= 390
