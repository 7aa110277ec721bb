"""The ring of turns: counted while they go by too fast, and drawn again as soon as they do not."""

from __future__ import annotations

from playwright.sync_api import Page, expect

from queue_core.bus import Bus
from queue_core.ids import Minter
from queue_core.keys import QueueKeys, queue
from queue_core.verbs import admission, claims, settle
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
