"""A whole console of its own for the browser tests: server, Daphne, and what a test adds."""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
import time
import urllib.error
import urllib.request
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import cache
from pathlib import Path
from typing import Any

import pytest
from playwright.sync_api import Browser, BrowserContext, expect

from queue_core.bus import Bus, connect
from queue_core.embedded import Embedded
from tests.ports import free_port

ROOT = Path(__file__).resolve().parents[2]
BROWSER = os.environ.get("CHROMIUM") or "/usr/bin/chromium"
LAUNCH = (
    "--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run",
    "--disable-background-networking", "--disable-component-update", "--disable-sync",
    "--process-per-site", "--renderer-process-limit=1",
)  # fmt: skip

PATIENCE_S = 20.0
DATABASE = "console.sqlite3"


def until(holds: Callable[[], Any], what: str, within_s: float = PATIENCE_S) -> Any:
    """The first true answer of `holds`; fails naming `what` where none comes in time."""
    deadline = time.monotonic() + within_s
    while time.monotonic() < deadline:
        if answer := holds():
            return answer
        time.sleep(0.03)
    raise AssertionError(f"not within {within_s:g} s: {what}")


class Console:
    """Processes over one folder, mounted at `prefix`. `start_daphne` may be called again after
    `kill_daphne`."""

    def __init__(self, folder: Path, prefix: str = "") -> None:
        self.prefix = prefix
        self.folder = folder
        self.server = Embedded(folder / "valkey")
        self.port = free_port()
        self.url = f"http://127.0.0.1:{self.port}"
        self._daphne: subprocess.Popen[bytes] | None = None
        self._others: list[subprocess.Popen[bytes]] = []

    @property
    def env(self) -> dict[str, str]:
        """What its processes are told."""
        return {
            **os.environ,
            "DJANGO_SETTINGS_MODULE": "echomq_admin.settings",
            "ECHOMQ_BUS_URL": self.server.url,
            "ECHOMQ_URL": self.url,
            "ECHOMQ_PREFIX": self.prefix,
            "ECHOMQ_VAR": str(self.folder),
            "PYTHONPATH": str(ROOT),
        }

    def start(self) -> Console:
        """Server and console up."""
        self.server.start()
        (self.folder / DATABASE).write_bytes(_with_operator())
        self.start_daphne()
        return self

    def manage(self, *words: str) -> str:
        """A management command, run to its end."""
        done = subprocess.run(
            [sys.executable, "manage.py", *words],
            cwd=ROOT, env=self.env, capture_output=True, text=True, check=False,
        )  # fmt: skip
        assert done.returncode == 0, done.stderr or done.stdout
        return done.stdout.strip()

    def start_daphne(self) -> None:
        """The console's web process; waits until it answers."""
        log = (self.folder / "daphne.log").open("ab")
        words = ("-m", "daphne", "-v", "0", "-b", "127.0.0.1", "-p", str(self.port))
        self._daphne = subprocess.Popen(
            [sys.executable, *words, "echomq_admin.asgi:application"],
            cwd=ROOT, env=self.env, stdout=log, stderr=log,
        )  # fmt: skip
        until(self._answers, "the console answers")

    def _answers(self) -> bool:
        try:
            with urllib.request.urlopen(f"{self.url}{self.prefix}/health", timeout=5):
                return True
        except urllib.error.HTTPError:
            return True
        except OSError:
            return False

    def kill_daphne(self) -> None:
        """End the web process as a crash would."""
        assert self._daphne is not None
        self._daphne.kill()
        self._daphne.wait()

    def run(self, *words: str) -> subprocess.Popen[bytes]:
        """Another process beside it, ended with it."""
        log = (self.folder / "others.log").open("ab")
        process = subprocess.Popen(
            [sys.executable, *words], cwd=ROOT, env=self.env, stdout=log, stderr=log
        )
        self._others.append(process)
        return process

    def link(self) -> str:
        """A sign-in link that works once."""
        return self.manage("echomq", "sign-in").split()[-1]

    def bus(self) -> Bus:
        """A bus of the test's own."""
        return connect(self.server.url)

    def stop(self) -> None:
        """Everything down."""
        for process in [*self._others, *([self._daphne] if self._daphne else [])]:
            process.kill()
            process.wait()
        self.server.kill()


@contextmanager
def at_work(console: Console) -> Iterator[Console]:
    """It, up; down again at the end."""
    try:
        yield console.start()
    finally:
        console.stop()


def own(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Console]:
    """Server, Daphne and database: a fixture, for as long as its scope says."""
    with at_work(Console(tmp_path_factory.mktemp("console"))) as made:
        yield made


def operator_at(browser: Browser, console: Console) -> Iterator[BrowserContext]:
    """A browser profile in which the operator signed in by the link. A tab that does nothing stays
    open: the others share its process, which takes longer to begin than a page of ours."""
    context = browser.new_context(viewport={"width": 1440, "height": 900}, base_url=console.url)
    page = context.new_page()
    page.goto(console.link())
    page.get_by_role("button").first.click()
    # Leaving before it is answered would cancel the sign-in.
    expect(page.get_by_role("heading", level=1)).to_have_text("Overview")
    page.goto(f"{console.prefix}/static/echomq_admin/mark.svg")
    yield context
    context.close()


@cache
def _with_operator() -> bytes:
    """A console's database in which the operator is known. Made once: with a start for each of its
    commands it takes longer than all the rest of a console."""
    with tempfile.TemporaryDirectory() as name:
        made = Console(Path(name))
        made.manage("migrate", "--noinput", "--verbosity", "0")
        made.manage("createsuperuser", "--noinput", "--username", "operator", "--email", "")
        assert not (made.folder / f"{DATABASE}-wal").exists()
        return (made.folder / DATABASE).read_bytes()
