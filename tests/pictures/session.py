"""Every page in both themes, full, empty, stale, unreachable and narrow."""

import os
import signal
from collections.abc import Callable
from contextlib import ExitStack
from pathlib import Path

from playwright.sync_api import Browser, sync_playwright

from echomq_admin.house.house import House
from tests.browser.console import BROWSER, LAUNCH
from tests.pictures import index
from tests.pictures.houses import idle, paths_of, playing
from tests.pictures.scenes import PLAYED_S
from tests.pictures.shots import NARROW, THEMES, WIDE, Studio, until_standing

Say = Callable[[str], None]

DEAD_PAGES = frozenset({"audit"})
"""Pages that read no bus and look the same without one."""


def take_all(folder: Path, say: Say) -> None:
    """Take every picture into `folder`."""
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=BROWSER, args=list(LAUNCH))
        with playing(say) as house:
            studio = Studio(browser, house.url, house.link, folder)
            say("the demo plays, and somebody looks")
            with studio.room("dark", WIDE) as room:
                studio.open(room, "/").wait_for_timeout(PLAYED_S * 1000)
            paths = paths_of(house)
            _each(studio, paths, WIDE, "")
            say("full is taken")
            _each(studio, paths, NARROW, "-narrow")
            say("narrow is taken")
            _without_bus(studio, house, paths)
            say("stale and unreachable are taken")
        _empty(browser, folder, say)
        browser.close()
    (folder / "README.md").write_text(index.text(folder, paths))


def _empty(browser: Browser, folder: Path, say: Say) -> None:
    with idle(say) as (house, paths):
        _each(Studio(browser, house.url, house.link, folder), paths, WIDE, "-empty")
    say("empty is taken")


def _each(studio: Studio, paths: dict[str, str], size: dict[str, int], mark: str) -> None:
    for theme in THEMES:
        with studio.room(theme, size) as room:
            for name, path in paths.items():
                page = studio.open(room, path)
                studio.keep(page, f"{name}{mark}-{theme}")
                page.close()


def _without_bus(studio: Studio, house: House, paths: dict[str, str]) -> None:
    """Pages that live when their bus is held still, and pages opened when it is gone."""
    bus = house.bus
    assert bus is not None
    assert bus.pid is not None
    # Overview is of all buses and has no standing of its own: it comes last, when the others have.
    live = [name for name in paths if name not in ("overview", *DEAD_PAGES)] + ["overview"]
    with ExitStack() as rooms:
        tabs = []
        for theme in THEMES:
            room = rooms.enter_context(studio.room(theme, WIDE))
            tabs += [(name, theme, studio.open(room, paths[name])) for name in live]
        os.kill(bus.pid, signal.SIGSTOP)
        for name, theme, page in tabs:
            if name != "overview":
                until_standing(page, "stale", "unreachable")
            studio.keep(page, f"{name}-stale-{theme}")
        os.kill(bus.pid, signal.SIGKILL)
        for name, theme, page in tabs:
            if name != "overview":
                until_standing(page, "unreachable")
            page.reload()
            studio.keep(page, f"{name}-unreachable-{theme}")
