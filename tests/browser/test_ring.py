"""The ring of turns: counted while they go by too fast, and drawn again as soon as they do not."""

from __future__ import annotations

from playwright.sync_api import Page, expect

from queue_core.bus import Bus
from queue_core.ids import Minter
from queue_core.keys import QueueKeys, queue
from queue_core.verbs import admission, claims, settle
from tests.browser.console import until
from tests.browser.places import at, live
from tests.builders import a_lane

mint = Minter(14).mint
JOBS = 12


def work(bus: Bus, q: QueueKeys, many: int) -> None:
    """Take so many turns."""
    for _ in range(many):
        lease = bus.run(claims.lane_claim(q, 30_000))
        assert lease
        bus.run(settle.complete(q, lease.id, lease.token))


def test_a_ring_that_stops_is_drawn_again(page: Page, console_bus: Bus) -> None:
    q = queue("ring-that-stops")
    for _ in range(5):
        lane = a_lane()
        for _ in range(JOBS):
            console_bus.run(admission.lane_enqueue(q, lane, mint(), b"x"))
    live(page, at("pending", q))
    ring = page.locator("#ring")
    expect(ring).to_contain_text("next turn")
    page.wait_for_timeout(700)  # a rate is that of two samples
    work(console_bus, q, 40)
    expect(ring).to_contain_text("too fast to draw")
    expect(ring.locator(".pointer")).to_have_attribute("visibility", "hidden")
    expect(ring).to_contain_text("next turn")
    expect(ring.locator(".pointer")).to_have_attribute("visibility", "visible")


OFF_THE_TRACK = """(ring) => {
  const [track, word] = [".ringtrack", ".gaplabel"].map(
    (one) => ring.querySelector(one).getBoundingClientRect());
  const [x, y] = [track.x + track.width / 2, track.y + track.height / 2];
  const aside = Math.max(word.left - x, x - word.right, 0);
  return Math.hypot(aside, Math.max(word.top - y, y - word.bottom, 0)) - track.width / 2;
}"""
"""How far the nearest point of the words is outside of the track."""

NOTE_STAYS = """() => {
  const [came, stays] = [new Map(), (window.stays = [])];
  new MutationObserver((changes) => {
    for (const { addedNodes, removedNodes } of changes) {
      for (const one of addedNodes) came.set(one, performance.now());
      for (const one of removedNodes) {
        if (came.has(one)) stays.push(performance.now() - came.get(one));
      }
    }
  }).observe(document.querySelector("#ring .lanenode").parentElement, { childList: true });
}"""
"""From now on, how long each lane that comes is drawn before it goes."""


def test_the_names_of_many_lanes_stay_for_as_long_as_one_reads(
    page: Page, console_bus: Bus
) -> None:
    q = queue("ring-of-many")
    for _ in range(40):
        lane = a_lane()
        for _ in range(12):
            console_bus.run(admission.lane_enqueue(q, lane, mint(), b"x"))
    live(page, at("pending", q))
    ring = page.locator("#ring")
    expect(ring.locator(".gaplabel")).to_have_text("+ 28")
    assert ring.evaluate(OFF_THE_TRACK) > 2
    page.wait_for_timeout(700)
    work(console_bus, q, 20)
    expect(ring).to_contain_text("too fast to draw")
    page.evaluate(NOTE_STAYS)

    def left() -> list[float]:
        work(console_bus, q, 5)
        page.wait_for_timeout(160)
        stays: list[float] = page.evaluate("stays")
        return stays if len(stays) > 3 else []

    assert min(until(left, "lanes have come and gone")) > 1_000
