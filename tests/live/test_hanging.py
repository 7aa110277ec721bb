"""A bus that takes connections and answers nothing, before anybody calls it unreachable."""

from __future__ import annotations

import os
import signal
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from echomq_admin.live import frames, observatory, scene
from echomq_admin.live.page import to_path
from echomq_admin.views import overview
from queue_core.bus import connect
from queue_core.embedded import Embedded
from queue_core.ids import Minter
from queue_core.keys import queue
from queue_core.verbs import admission

mint = Minter(83).mint
CM = queue("cm")


@pytest.fixture
def hung(watched: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Embedded]:
    """The console's bus, which a test may stop in the middle of a word. What is stale is so
    sooner, for the test's sake."""
    server = Embedded(tmp_path / "own")
    server.start()
    bus = connect(server.url)
    bus.run(admission.enqueue(CM, mint(), b"x"))
    bus.close()
    watched.ECHOMQ_BUSES = {"main": server.url}
    for module in (scene, overview):
        monkeypatch.setattr(module, "STALE_MS", 600)
    monkeypatch.setattr(observatory, "HANGS_S", 0.2)
    monkeypatch.setattr(frames, "BEAT_MS", 100)
    yield server
    assert server.pid
    os.kill(server.pid, signal.SIGCONT)
    observatory.shut()
    server.kill()


READING = "overview-reading"


async def test_a_page_of_it_turns_stale_and_back(hung: Embedded, tab: Any) -> None:
    socket = await tab()
    await socket.say(sub=f"main/dead/{to_path(CM.name)}/~")
    assert (await socket.frame())["data"]["frame"]["state"] == "live"
    assert hung.pid
    os.kill(hung.pid, signal.SIGSTOP)
    await socket.until(lambda frame: frame["data"]["frame"]["state"] == "stale")
    os.kill(hung.pid, signal.SIGCONT)
    await socket.until(lambda frame: frame["data"]["frame"]["state"] == "live")


async def test_the_wall_calls_no_stale_row_fresh(hung: Embedded, tab: Any) -> None:
    socket = await tab()
    await socket.say(sub="/overview/~/~")
    await socket.until(lambda frame: "1 fresh, 0 stale" in frame["html"].get(READING, ""))
    assert hung.pid
    os.kill(hung.pid, signal.SIGSTOP)
    frames = await socket.until(lambda one: "0 fresh, 1 stale" in one["html"].get(READING, ""))
    assert frames[-1]["data"]["frame"]["state"] == "stale"
    assert frames[-1]["age_ms"] > 600, "it is as old as its totals"
    os.kill(hung.pid, signal.SIGCONT)
    await socket.until(lambda frame: "1 fresh, 0 stale" in frame["html"].get(READING, ""))
