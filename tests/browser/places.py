"""Where the pages of a queue are, and how to wait for one."""

from __future__ import annotations

from playwright.sync_api import Page, expect

from echomq_admin.live.page import to_path
from queue_core.keys import QueueKeys


def at(page: str, q: QueueKeys, item: bytes | None = None) -> str:
    """The address of a page of a queue, of one of its jobs where one is named."""
    where = f"/bus/main/queue/{to_path(q.name)}/{page}"
    return where if item is None else f"{where}/{to_path(item)}"


def live(page: Page, place: str) -> None:
    """Open a page and wait for its first frame."""
    page.goto(place)
    expect(page.locator("[data-live-word]")).to_have_text("Live")
