"""Pages opened in a real browser and kept as small pictures."""

import io
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from PIL import Image
from playwright.sync_api import Browser, BrowserContext, Page, expect

THEMES = ("dark", "light")
WIDE = {"width": 1440, "height": 900}
NARROW = {"width": 390, "height": 844}
TALLEST = {1440: 1500, 390: 2400}
"""A longer page is cut there: a list goes on in the same manner."""

COLOURS, RARE = 256, 80
SETTLE_MS = 350
"""For a chart's transition to end."""

LIVE_MS = 900
"""For the first frames to come."""

DRAWN_MS = 3500
"""For a chart to be drawn; one without numbers is none."""

FRAME_MS = 60_000


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
        page.goto(path)
        page.wait_for_timeout(LIVE_MS)
        for _ in range(DRAWN_MS // SETTLE_MS):
            if page.locator("[data-chart]:not(:has(svg))").count() == 0:
                break
            page.wait_for_timeout(SETTLE_MS)
        return page

    def keep(self, page: Page, name: str) -> None:
        """Take the picture of the whole page."""
        stretch(page)
        self.shoot(page, name)

    def shoot(self, page: Page, name: str) -> None:
        """Take the picture of what the window shows. A tab behind others draws nothing."""
        page.bring_to_front()
        taken = page.screenshot(animations="disabled")
        with Image.open(io.BytesIO(taken)) as image:
            small = _few_colours(image.convert("RGB"))
        small.save(self._folder / f"{name}.png", optimize=True)


def _few_colours(image: Image.Image) -> Image.Image:
    """The image in 256 colours: the commonest exactly as they are, and a cover of all the others,
    because the rarest is the one that says that something is wrong."""
    counted = sorted(image.getcolors(1 << 24) or (), reverse=True)
    seen = [colour for _, colour in counted]
    cover = image.quantize(RARE, method=Image.Quantize.MAXCOVERAGE).getpalette() or []
    palette = [
        *seen[: COLOURS - RARE],
        *(tuple(cover[at : at + 3]) for at in range(0, len(cover), 3)),
    ][:COLOURS]
    place = {colour: _nearest(palette, colour) for colour in seen[COLOURS - RARE :]}
    place |= {colour: at for at, colour in enumerate(palette[: COLOURS - RARE])}
    small = Image.new("P", image.size)
    small.putpalette([part for colour in palette for part in colour])
    small.putdata([place[colour] for colour in image.getdata()])
    return small


def _nearest(palette: list[Any], colour: Any) -> int:
    def off(at: int) -> int:
        return sum((a - b) ** 2 for a, b in zip(palette[at], colour, strict=True))

    return min(range(len(palette)), key=off)


def stretch(page: Page) -> None:
    """Make the window as tall as its page, within reason."""
    assert page.viewport_size
    page.bring_to_front()
    width, least = page.viewport_size["width"], page.viewport_size["height"]
    height = page.locator("html").evaluate("(html) => html.scrollHeight")
    tall = max(least, min(height, TALLEST[width]))
    page.set_viewport_size({"width": width, "height": tall})
    page.wait_for_timeout(SETTLE_MS)


def until_unreachable(page: Page) -> None:
    """Wait until the page says that its bus is away."""
    expect(page.locator("body")).to_have_attribute("data-state", "unreachable", timeout=FRAME_MS)
    page.wait_for_timeout(SETTLE_MS)
