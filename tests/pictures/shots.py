"""Pages opened in a real browser and kept as small pictures."""

import io
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from urllib.parse import urlsplit

from PIL import Image
from playwright.sync_api import Browser, BrowserContext, Page, expect

THEMES = ("dark", "light")
WIDE = {"width": 1440, "height": 900}
NARROW = {"width": 390, "height": 844}
TALLEST = {1440: 1500, 390: 2400}
"""A longer page is cut there: a list goes on in the same manner."""

COLOURS = 256
SETTLE_MS = 350
"""For a chart's transition to end."""

FRAME_MS = 20_000


class Studio:
    """A browser in which the operator is signed in, and the folder of the pictures."""

    def __init__(self, browser: Browser, url: str, link: str, folder: Path) -> None:
        self._browser, self._url, self._folder = browser, url.rstrip("/"), folder
        context = browser.new_context()
        page = context.new_page()
        page.goto(link)
        page.get_by_role("button").first.click()
        expect(page.get_by_role("heading", level=1)).to_have_text("Overview")
        self._cookies = context.cookies()
        context.close()

    @contextmanager
    def room(self, theme: str, size: dict[str, int]) -> Iterator[BrowserContext]:
        """A profile with this theme and window."""
        context = self._browser.new_context(
            viewport={"width": size["width"], "height": size["height"]},
            base_url=self._url,
            reduced_motion="reduce",
        )
        context.add_cookies([{**cookie} for cookie in self._cookies])  # type: ignore[typeddict-item]
        context.add_init_script(f"localStorage.setItem('echomq-theme', '{theme}')")
        try:
            yield context
        finally:
            context.close()

    def open(self, context: BrowserContext, path: str) -> Page:
        """The page, drawn, and live where it lives."""
        page = context.new_page()
        page.goto(path, wait_until="networkidle")
        page.wait_for_timeout(SETTLE_MS)
        return page

    def keep(self, page: Page, name: str) -> None:
        """Take the picture."""
        width = page.viewport_size["width"] if page.viewport_size else WIDE["width"]
        height = page.locator("html").evaluate("(html) => html.scrollHeight")
        page.set_viewport_size(
            {"width": width, "height": max(_sized(width), min(height, TALLEST[width]))}
        )
        page.wait_for_timeout(SETTLE_MS)
        taken = page.screenshot(animations="disabled")
        page.set_viewport_size({"width": width, "height": _sized(width)})
        with Image.open(io.BytesIO(taken)) as image:
            # The rarest colour is the one that says that something is wrong: cover them all.
            small = image.convert("RGB").quantize(
                COLOURS, method=Image.Quantize.MAXCOVERAGE, dither=Image.Dither.NONE
            )
            small.save(self._folder / f"{name}.png", optimize=True)


def _sized(width: int) -> int:
    """The height of the window, before it is stretched over its page."""
    return (WIDE if width == WIDE["width"] else NARROW)["height"]


def until_standing(page: Page, *standings: str) -> None:
    """Wait until the page says that it stands so."""
    for _ in range(FRAME_MS // 100):
        if page.locator("body").get_attribute("data-state") in standings:
            page.wait_for_timeout(SETTLE_MS)
            return
        page.wait_for_timeout(100)
    raise AssertionError(f"{urlsplit(page.url).path} never became {' or '.join(standings)}")
