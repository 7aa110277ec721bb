"""What an operator sees and does, on the real thing: every change arrives by websocket, nothing
is reloaded."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Callable, Iterator

import pytest
from playwright.sync_api import BrowserContext, Page, expect

from echomq_admin.live.page import to_path
from queue_core import Queue, boards
from queue_core.bus import Bus
from queue_core.keys import QueueKeys, queue
from queue_core.reads.jobs import get_job
from queue_core.verbs import claims, settle
from tests.browser.console import ROOT, Console, until
from tests.browser.places import at

ENQUEUE = """
import sys
from queue_core import Queue
from queue_core.bus import connect
bus = connect(sys.argv[1])
print(Queue(bus, sys.argv[2], node=9).enqueue_in(b'{"n":1}', int(sys.argv[3])).id.decode())
"""


class Stage:
    """A queue of the test's own on the console's bus, and the addresses of its pages."""

    def __init__(self, bus: Bus, name: str) -> None:
        self.bus = bus
        self.q: QueueKeys = queue(name)
        self.queue = Queue(bus, name, node=8)

    def at(self, page: str) -> str:
        return at(page, self.q)

    def gone(self, job_id: bytes) -> bool:
        return self.bus.run(get_job(self.q, job_id)).value is None


@pytest.fixture
def stage(console_bus: Bus, request: pytest.FixtureRequest) -> Stage:
    return Stage(console_bus, request.node.name.removeprefix("test_")[:40].replace("_", "-"))


@pytest.fixture
def worker(console: Console, stage: Stage) -> Iterator[subprocess.Popen[bytes]]:
    """A real worker and a real pump of this queue, each a process."""
    name = stage.q.name.decode()
    made = console.run("tests/browser/worker.py", name)
    pump = console.run("manage.py", "echomq_pump", "--queue", name)
    yield made
    for process in (made, pump):
        process.terminate()
        process.wait(15)


@pytest.fixture
def never_reloads(page: Page) -> Iterator[Callable[[], None]]:
    """Call it once the page is open; the page must still be the same one at the end."""
    loads: list[str] = []

    def watch() -> None:
        page.on("load", lambda: loads.append(page.url))

    yield watch
    assert not loads


def elsewhere(console: Console, stage: Stage, delay_ms: int) -> str:
    """A job that another process enqueues."""
    told = subprocess.run(
        [sys.executable, "-c", ENQUEUE, console.server.url, stage.q.name.decode(), str(delay_ms)],
        cwd=ROOT, env=console.env, capture_output=True, text=True, check=True,
    )  # fmt: skip
    return told.stdout.strip()


def row(page: Page, job_id: bytes | str):
    text = job_id if isinstance(job_id, str) else job_id.decode()
    return page.get_by_role("row").filter(has_text=text)


def test_a_job_crosses_the_fence(
    console: Console, stage: Stage, page: Page, worker: object, never_reloads: Callable[[], None]
) -> None:
    stage.queue.enqueue_in(b"far", 3_600_000)
    page.goto(stage.at("schedule"))
    expect(row(page, "in 59 m").or_(row(page, "in 1 h")).first).to_be_visible()
    never_reloads()
    job_id = elsewhere(console, stage, 1_500)
    mark = page.locator(f'#fence [data-mark="{to_path(job_id.encode())}"]')
    expect(row(page, job_id)).to_be_visible()
    expect(mark).to_be_visible()
    expect(row(page, job_id)).to_have_count(0)
    until(lambda: stage.gone(job_id.encode()), "the job finished")
    expect(mark).to_have_count(0)


def test_run_now(
    stage: Stage, page: Page, worker: object, never_reloads: Callable[[], None]
) -> None:
    job_id = stage.queue.enqueue_in(b"later", 3_600_000).id
    page.goto(stage.at("schedule"))
    never_reloads()
    row(page, job_id).get_by_title("Run now").click()
    expect(page.locator("#toasts")).to_contain_text("Done")
    expect(row(page, job_id)).to_have_count(0)
    until(lambda: stage.gone(job_id), "the job ran")


def test_drag_to_another_time(stage: Stage, page: Page, never_reloads: Callable[[], None]) -> None:
    job_id = stage.queue.enqueue_in(b"later", 120_000).id
    stage.queue.enqueue_in(b"far", 40 * 60_000)
    page.goto(stage.at("schedule"))
    never_reloads()
    before = stage.bus.run(_score(stage.q, job_id))
    page.locator(f'#fence [data-mark="{to_path(job_id)}"] .hit').hover()
    box = page.locator(f'#fence [data-mark="{to_path(job_id)}"] .hit').bounding_box()
    assert box is not None
    x, y = box["x"] + box["width"] / 2, box["y"] + box["height"] / 2
    page.mouse.move(x, y)
    page.mouse.down()
    page.mouse.move(x + 60, y - 20, steps=6)
    page.mouse.up()
    dialog = page.get_by_role("dialog")
    expect(dialog).to_contain_text(job_id.decode())
    dialog.locator("[type=submit]").click()
    expect(page.locator("#toasts")).to_contain_text("Done")
    after = until(
        lambda: (now := stage.bus.run(_score(stage.q, job_id))) != before and now, "it moved"
    )
    assert float(after) > float(before) + 10_000
    expect(row(page, job_id).locator(f'time[data-ms="{int(float(after))}"]').first).to_be_visible()


def test_pause_and_resume(
    stage: Stage, page: Page, worker: object, never_reloads: Callable[[], None]
) -> None:
    first = stage.queue.enqueue(b"one").id
    until(lambda: stage.gone(first), "the worker serves")
    page.goto(stage.at("pending"))
    never_reloads()
    page.locator('[data-action="pause_queue"]').click()
    expect(page.locator('[data-action="resume_queue"]')).to_be_visible()
    held = stage.queue.enqueue(b"two").id
    expect(row(page, held)).to_be_visible()
    page.wait_for_timeout(1_500)  # longer than the worker's beat: it would have come by now
    assert not stage.gone(held)
    page.locator('[data-action="resume_queue"]').click()
    until(lambda: stage.gone(held), "the worker goes on")
    expect(row(page, held)).to_have_count(0)


def test_retry_a_dead_job(stage: Stage, page: Page, never_reloads: Callable[[], None]) -> None:
    job_id = stage.queue.enqueue(b"doomed").id
    lease = stage.bus.run(claims.claim(stage.q, 30_000))
    assert lease is not None
    stage.bus.run(settle.retry(stage.q, lease.id, lease.token, 0, 1, b"502 <b>bad</b> gateway"))
    page.goto(stage.at("dead"))
    never_reloads()
    expect(row(page, job_id)).to_contain_text("502 <b>bad</b> gateway")
    row(page, job_id).locator('[data-action="retry_dead"]').click()
    page.get_by_role("dialog").locator("[type=submit]").click()
    expect(row(page, job_id)).to_have_count(0)
    again = until(lambda: stage.bus.run(claims.claim(stage.q, 30_000)), "it is pending again")
    assert (again.id, again.attempts) == (job_id, 2)


def test_two_players_change_ranks(
    console_bus: Bus, page: Page, never_reloads: Callable[[], None]
) -> None:
    game = b"GAM0000000TEST"
    for player, score in ((b"PLR0000000Mira", 300), (b"PLR000000Pavel", 200)):
        console_bus.run(boards.fold(game, player, score))
    page.goto(f"/bus/main/board/{to_path(game)}")
    never_reloads()
    names = page.get_by_role("row").filter(has_text="PLR0")
    expect(names.nth(0)).to_contain_text("Mira")
    console_bus.run(boards.fold(game, b"PLR000000Pavel", 480))
    expect(names.nth(0)).to_contain_text("Pavel")
    expect(names.nth(0)).to_contain_text("480")
    expect(names.nth(1)).to_contain_text("Mira")


def _score(q: QueueKeys, job_id: bytes):
    from queue_core.plans import Call

    return (yield Call("ZSCORE", (q.schedule,), (job_id,)))


def test_the_keyboard_is_enough(signed_in: BrowserContext, stage: Stage, page: Page) -> None:
    """Run now, by keys alone: skip link, row, button."""
    job_id = stage.queue.enqueue_in(b"later", 3_600_000).id
    page.goto(stage.at("schedule"))
    button = row(page, job_id).get_by_title("Run now")
    for _ in range(80):
        page.keyboard.press("Tab")
        if button.evaluate("one => one === document.activeElement"):
            break
    expect(button).to_be_focused()
    page.keyboard.press("Enter")
    expect(page.locator("#toasts")).to_contain_text("Done")
    expect(row(page, job_id)).to_have_count(0)
