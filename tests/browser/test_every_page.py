"""Every page under the strict policy, and a tab that stays open for long."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterator
from contextlib import suppress

import pytest
from axe_playwright_python.sync_playwright import Axe
from playwright.sync_api import BrowserContext, Error, Page, Route, WebSocketRoute, expect

from echomq_admin.live.page import to_path
from queue_core import ids, keys
from queue_core.bus import Bus
from queue_core.ids import Minter
from queue_core.keys import queue
from queue_core.verbs import admission, queues, repeats
from tests.browser.console import until
from tests.browser.places import at, live
from tests.builders import Builder, a_lane, command, raw, server_ms

mint = Minter(91).mint
Q = queue("every")
GAME = b"GAM0000000EACH"
HOUR, DAY = 3_600_000, 86_400_000
PHONE = 390
PAGES = ("pending", "schedule", "active", "dead", "repeats", "backoff", "workers")
WATCHED = """
addEventListener("securitypolicyviolation", (event) => {
  (window.refused ??= []).push(`${event.violatedDirective} ${event.blockedURI}`);
});
"""


@pytest.fixture(scope="module")
def job(console: object) -> Iterator[bytes]:
    """A queue with something on each of its pages; its dead job."""
    bus: Bus = console.bus()  # type: ignore[attr-defined]
    make = Builder(bus.run, Q, mint)
    dead = make.dead().id
    make.active(), make.due(), make.in_lane(a_lane())
    bus.run(admission.enqueue(Q, mint(), b'{"text":"hello","token":"x"}'))
    bus.run(admission.enqueue_in(Q, mint(), b"far", 30 * DAY))
    bus.run(repeats.register(Q, b"digest", 60_000, b"x", 60_000))
    bus.run(command("ZADD", keys.board(GAME), 9, b"ann", 7, b"bob"))
    bus.run(command("ZADD", Q.workers, bus.run(server_ms()), b"w1"))
    yield dead
    bus.close()


@pytest.fixture
def strict(page: Page) -> Iterator[Page]:
    """A tab in which nothing fails."""
    errors: list[str] = []
    page.on("console", lambda said: errors.append(said.text) if said.type == "error" else None)
    page.on("requestfailed", lambda one: errors.append(f"{one.url} {one.failure}"))
    yield page
    assert not errors


LOW = """() => [...document.querySelectorAll(
  "button, a.btn, .seg :is(a, span), select, input:not([type=hidden], [type=range])",
)].filter((one) => one.checkVisibility()).map((one) => {
  const box = (one.matches("input, select") && one.closest(".input, label")) || one;
  return [box.getBoundingClientRect(), one.textContent || one.name];
}).filter(([at]) => at.width > 1 && at.height < 44).map(([at, told]) => `${told}: ${at.height}`)"""
"""What can be pressed or filled in and is lower than a finger is wide."""

LOST = """() => [...document.querySelectorAll("use")].map((one) => one.getAttribute("href"))
  .filter((href) => !document.querySelector(href))
  .concat([...document.querySelectorAll("[style], style")].map((one) => one.outerHTML))"""
"""Icons that are none, and styles that stand in the page."""


def every_place(job: bytes) -> list[str]:
    return [
        "/", "/audit", *(at(page, Q) for page in PAGES), at("job", Q, job),
        "/bus/main/boards", f"/bus/main/board/{to_path(GAME)}",
    ]  # fmt: skip


class Faults:
    """What is wrong with what a page shows, at each place that was looked at: whatever axe finds,
    what its policy refused or allows too much of, icons that are none, words beyond the window, and
    on a phone what is too low for a finger. `charts` counts those that were drawn."""

    def __init__(self, page: Page, theme: str, width: int) -> None:
        self._page = page
        self._theme = theme
        self.found: dict[str, object] = {}
        self.charts = 0
        page.set_viewport_size({"width": width, "height": 900})
        page.add_init_script(f"localStorage.setItem('echomq-theme', '{theme}'); {WATCHED}")

    def go(self, place: str) -> None:
        """Open a page and wait until it stands."""
        answer = self._page.goto(place)
        assert answer is not None
        policy = answer.header_value("content-security-policy") or ""
        assert "default-src 'none'" in policy
        assert "unsafe" not in policy
        assert self._page.locator("html").get_attribute("data-theme") == self._theme
        if place != "/audit":
            expect(self._page.locator("[data-live-word]")).to_have_text("Live")
        for chart in self._page.locator("figure[data-chart]").all():
            expect(chart.locator("svg").first).to_be_attached()
            self.charts += 1

    def look(self, place: str) -> None:
        """Note what is wrong here."""
        seen = Axe().run(self._page)
        if seen.violations_count:
            self.found[f"{place}: axe"] = seen.generate_report()
        if not self._page.evaluate("document.documentElement.scrollWidth <= innerWidth"):
            self.found[f"{place}: width"] = "wider than the window"
        if self._page.viewport_size["width"] == PHONE and (low := self._page.evaluate(LOW)):
            self.found[f"{place}: finger"] = low
        if wrong := [*self._page.evaluate("window.refused ?? []"), *self._page.evaluate(LOST)]:
            self.found[f"{place}: policy"] = wrong

    def end(self) -> None:
        """Fail with all that was wrong."""
        self._page.evaluate("localStorage.removeItem('echomq-theme')")
        assert not self.found


@pytest.mark.parametrize(("theme", "width"), [("dark", 1440), ("light", PHONE)])
def test_case_40_nothing_is_wrong_on_any_page_and_nothing_is_refused(
    strict: Page, job: bytes, theme: str, width: int
) -> None:
    faults = Faults(strict, theme, width)
    for place in every_place(job):
        faults.go(place)
        faults.look(place)
    assert faults.charts >= 5
    faults.end()


@pytest.mark.parametrize(("theme", "width"), [("dark", PHONE), ("light", 1440)])
def test_case_40_nothing_is_wrong_in_what_opens_and_nothing_is_refused(
    page: Page, job: bytes, theme: str, width: int
) -> None:
    """Each dialog that has a form of its own, also with words that are refused; palette, keys."""
    faults = Faults(page, theme, width)
    for place, action in (
        (at("schedule", Q), "reschedule"),
        (at("job", Q, job), "retry_dead"),
        (at("job", Q, job), "edit_payload"),
        (at("job", Q, job), "remove_job"),
        (at("pending", Q), "limit_lane"),
        (at("repeats", Q), "cancel_repeat"),
        (f"/bus/main/board/{to_path(GAME)}", "rescore"),
    ):
        faults.go(place)
        page.locator(f"main [data-action={action}]").first.click()
        expect(page.locator("#dialog[open] form")).to_be_visible()
        faults.look(action)
    page.locator("#dialog [name=score]").fill("1e3")
    page.locator("#dialog [type=submit]").click()
    expect(page.locator("#dialog .wrong, #dialog [role=alert]").first).to_be_visible()
    faults.look("refused words")
    page.keyboard.press("Escape")
    page.keyboard.press("?")
    expect(page.locator("#keys")).to_be_visible()
    faults.look("keys")
    page.keyboard.press("Escape")
    page.keyboard.press("Control+k")
    expect(page.locator("#palette-list li").first).to_be_visible()
    faults.look("palette")
    page.keyboard.press("Escape")
    page.locator(".freeze").click()
    faults.look("frozen")
    faults.end()


def test_a_dialog_is_whole_as_soon_as_it_opens(page: Page, console_bus: Bus) -> None:
    q = queue("at-once")
    console_bus.run(admission.enqueue_in(q, mint(), b"x", HOUR))
    page.goto(at("schedule", q))
    page.evaluate(
        """new MutationObserver((_, seer) => {
          seer.disconnect();
          window.told = document.querySelector("#dialog time").textContent;
          document.querySelector("#dialog [name=by]").value = "15m";
          document.querySelector("#dialog form").requestSubmit();
        }).observe(document.getElementById("dialog"), { attributeFilter: ["open"] })"""
    )
    page.locator("main [data-action=reschedule]").click()
    expect(page.locator("#toasts .toast")).to_have_attribute("data-outcome", "done")
    assert page.url.endswith("/schedule")
    assert page.evaluate("window.told").endswith(" ago")


def test_a_queue_that_was_paused_elsewhere_is_painted(page: Page, console_bus: Bus) -> None:
    """Who paused it is asked of the audit while the request waits: not on the request's thread."""
    q = queue("paused-elsewhere")
    console_bus.run(queues.pause(q))
    answer = page.goto(at("schedule", q))
    assert answer is not None
    assert answer.status == 200
    expect(page.locator("#queue-head")).to_contain_text("paused")


def test_case_10_ten_thousand_held_jobs_are_a_page_that_answers(
    page: Page, console_bus: Bus
) -> None:
    q = queue("held")
    now = console_bus.run(server_ms())
    for start in range(0, 10_000, 1_000):
        words = [word for n in range(start, start + 1_000) for word in (now + HOUR + n, mint())]
        console_bus.run(command("ZADD", q.active, *words))
    live(page, at("active", q))
    expect(page.locator("#held .listfoot, #held nav").first).to_contain_text("10,000")
    assert page.evaluate("document.querySelectorAll('*').length") < 4_000
    page.locator("#held [rel=next]").first.click()
    expect(page).to_have_url(re.compile("after="))
    expect(page.locator("[data-live-word]")).to_have_text("Live")
    page.keyboard.press("Control+k")
    page.locator("#palette-query").type("held dead")
    expect(page.locator("#palette-list [aria-selected=true]")).to_contain_text("held / Dead")


def busy(bus: Bus) -> int:
    """Scripts that anybody has had the server run."""
    info = bus.run(raw("INFO", "commandstats"))
    found = re.search(rb"cmdstat_evalsha_ro:calls=(\d+)", info)
    return int(found[1]) if found else 0


def still(bus: Bus) -> bool:
    """Whether nobody reads within a second and a half: twice the calm tick."""
    before = busy(bus)
    bus.run(command("BLPOP", b"emq:{none}:none", "1.5"))
    return busy(bus) == before


def test_case_12_a_frozen_page_reads_nothing(page: Page, job: bytes, console_bus: Bus) -> None:
    live(page, at("dead", Q))
    assert not still(console_bus)
    page.keyboard.press(" ")
    expect(page.locator("[data-live-word]")).to_have_text("Frozen")
    until(lambda: still(console_bus), "nothing is read")


@pytest.fixture
def replayed(signed_in: BrowserContext) -> Iterator[tuple[Page, Callable[[int], None]]]:
    """A tab, and a hand that sends it its first whole frame and the next so many times more."""
    page = signed_in.new_page()
    routes: list[WebSocketRoute] = []
    frames: list[dict[str, object]] = []

    def between(route: WebSocketRoute) -> None:
        server = route.connect_to_server()
        routes.append(route)

        def from_server(text: str) -> None:
            frames.append(json.loads(text))
            if len(frames) == 1:
                route.send(text)

        server.on_message(from_server)

    page.route_web_socket(re.compile("/ws/live"), between)

    def send(count: int) -> None:
        whole = frames[0]
        panels = whole["html"]
        assert isinstance(panels, dict)
        for number in range(count):
            html = {
                name: text.replace("</section>", f'<i class="n">{number}</i></section>')
                for name, text in panels.items()
            }
            routes[0].send(json.dumps({**whole, "html": html}))
        expect(page.locator("#schedule-list i.n")).to_have_text(str(count - 1))

    yield page, send
    page.close()


def test_case_20_hundreds_of_updates_leave_heap_and_nodes_flat(
    replayed: tuple[Page, Callable[[int], None]], job: bytes, console_bus: Bus
) -> None:
    page, send = replayed
    tools = page.context.new_cdp_session(page)
    tools.send("Performance.enable")
    live(page, at("schedule", Q))

    def measured() -> dict[str, float]:
        for _ in range(2):
            tools.send("HeapProfiler.collectGarbage")
        found = tools.send("Performance.getMetrics")["metrics"]
        return {one["name"]: one["value"] for one in found}

    send(50)
    before = measured()
    send(400)
    after = measured()
    assert after["Nodes"] - before["Nodes"] < 400
    assert after["JSEventListeners"] - before["JSEventListeners"] < 40
    assert after["JSHeapUsedSize"] - before["JSHeapUsedSize"] < 2_000_000
    page.close()
    until(lambda: still(console_bus), "nobody on the server watches any more")


def test_case_52_a_month_ahead_counts_down_and_nothing_runs_in_a_loop(
    page: Page, job: bytes, console_bus: Bus
) -> None:
    q = queue("month")
    console_bus.run(admission.enqueue_in(q, mint(), b"far", 30 * DAY))
    page.add_init_script(
        "window.waits = []; for (const name of ['setTimeout', 'setInterval'])"
        " { const real = window[name]; window[name] = (work, ms, ...more) =>"
        " { waits.push(ms ?? 0); return real.call(window, work, ms, ...more); }; }"
    )
    asked: list[str] = []
    page.on("request", lambda one: asked.append(one.url))
    page.goto(at("schedule", q))
    expect(page.locator("#schedule-list")).to_contain_text("in 29 d 23 h")
    expect(page.locator("[data-live-word]")).to_have_text("Live")
    begun, loaded = page.evaluate("waits.length"), len(asked)
    console_bus.run(command("BLPOP", b"emq:{none}:none", "2"))
    assert page.evaluate("Math.max(...waits)") < 2**31
    assert page.evaluate("waits.length") - begun < 150
    assert len(asked) == loaded
    expect(page.locator("#schedule-list")).to_contain_text("in 29 d 23 h")


def test_case_64_what_was_minted_ahead_is_no_age(page: Page, console_bus: Bus) -> None:
    q = queue("ahead")
    ahead = console_bus.run(server_ms()) + 600_000
    console_bus.run(command("ZADD", q.pending, 0, ids.encode("JOB", ids.min_for(ahead))))
    page.goto(at("pending", q))
    expect(page.locator("#waiting .wait")).to_contain_text(" ahead")


def test_case_128_a_slow_filter_never_bounces_back(
    page: Page, job: bytes, console_bus: Bus
) -> None:
    """The network holds the filter's answer; meanwhile a job is opened."""

    def late(route: Route) -> None:
        page.wait_for_timeout(1)
        held.append(route)

    held: list[Route] = []
    page.route(re.compile(r"/\?.*q="), late)
    page.goto("/")
    page.keyboard.press("/")
    field = page.locator("input[name=q]")
    field.type("ever")
    field.press("Enter", no_wait_after=True)
    until(lambda: page.wait_for_timeout(20) or held, "the filter is asked")
    where = at("job", Q, job)
    live(page, where)
    for route in held:
        with suppress(Error):  # the browser gave the request up, as it should
            route.continue_()
    page.wait_for_timeout(300)
    expect(page).to_have_url(re.compile(re.escape(where)))
    expect(page.locator("#why")).to_be_visible()
