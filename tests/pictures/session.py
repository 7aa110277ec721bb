"""Every page in both themes, full, empty, stale, unreachable and narrow."""

import os
import signal
import time
from collections.abc import Callable
from pathlib import Path

from playwright.sync_api import Browser, sync_playwright

from tests.browser.console import BROWSER, LAUNCH
from tests.pictures import index
from tests.pictures.houses import idle, paths_of, playing
from tests.pictures.scenes import PLAYED_S
from tests.pictures.shots import NARROW, THEMES, WIDE, Studio, stretch, until_unreachable

Say = Callable[[str], None]

DEAD_PAGES = frozenset({"audit"})
"""Pages that read no bus and look the same without one."""

TOGETHER = 3
HELD_S = 4.5


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
            assert house.bus is not None
            assert house.bus.pid is not None
            live = {name: path for name, path in paths.items() if name not in DEAD_PAGES}
            _stale(studio, house.bus.pid, live)
            say("stale is taken")
            _unreachable(studio, house.bus.pid, live)
            say("unreachable is taken")
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


def _stale(studio: Studio, bus: int, paths: dict[str, str]) -> None:
    """Live pages while the bus (a process) is held still: a few at a time, because after ten
    seconds they call it unreachable."""
    names = list(paths)
    for theme in THEMES:
        for at in range(0, len(names), TOGETHER):
            with studio.room(theme, WIDE) as room:
                tabs = [
                    (name, studio.open(room, paths[name])) for name in names[at : at + TOGETHER]
                ]
                for _, page in tabs:
                    stretch(page)
                os.kill(bus, signal.SIGSTOP)
                try:
                    time.sleep(HELD_S)
                    for name, page in tabs:
                        studio.shoot(page, f"{name}-stale-{theme}")
                finally:
                    os.kill(bus, signal.SIGCONT)


def _unreachable(studio: Studio, bus: int, paths: dict[str, str]) -> None:
    """Pages opened when the bus is gone. Overview, which is of all buses and has no standing of
    its own, comes when the others have said so."""
    os.kill(bus, signal.SIGKILL)
    for theme in THEMES:
        with studio.room(theme, WIDE) as room:
            for name in sorted(paths, key=lambda name: name == "overview"):
                page = studio.open(room, paths[name])
                if name != "overview":
                    until_unreachable(page)
                studio.keep(page, f"{name}-unreachable-{theme}")
                page.close()
