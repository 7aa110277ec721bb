"""What the contest needs: the peers, installed apart from the project, and processes on a core of
their own."""

from __future__ import annotations

import hashlib
import json
import os
import shutil
import subprocess
import sys
import venv
from collections.abc import Callable
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parents[2]
BED = ROOT / "var" / "bench"
PEERS = ("huey", "Dramatiq", "Celery", "RQ", "arq", "SAQ", "taskiq")
BULLMQ = "BullMQ"


def install(say: Callable[[str], None]) -> list[str]:
    """Install the peers into var/bench, once; those that stand ready. BullMQ needs Node and is
    left out, with a word, where there is none."""
    BED.mkdir(parents=True, exist_ok=True)
    python = BED / "venv" / "bin" / "python"
    wanted = ROOT / "bench" / "requirements.txt"
    if _changed(wanted):
        say("installing the peers")
        venv.create(BED / "venv", with_pip=True, clear=True)
        _run(
            [str(python), "-m", "pip", "install", "-q", "--disable-pip-version-check",
             "--require-hashes", "-r", str(wanted)]
        )  # fmt: skip
        _note(wanted)
    if not (shutil.which("node") and shutil.which("npm")):
        say("no Node here: BullMQ is left out")
        return [*PEERS]
    lock = ROOT / "bench" / "package-lock.json"
    if _changed(lock):
        for name in ("package.json", "package-lock.json"):
            shutil.copy(ROOT / "bench" / name, BED)
        _run(["npm", "ci", "--ignore-scripts", "--no-audit", "--no-fund", "--silent"])
        _note(lock)
    return [*PEERS, BULLMQ]


def _run(words: list[str]) -> None:
    subprocess.run(words, cwd=BED, check=True)


def _stamp(path: Path) -> tuple[Path, str]:
    return BED / f"{path.name}.stamp", hashlib.sha256(path.read_bytes()).hexdigest()


def _changed(path: Path) -> bool:
    stamp, value = _stamp(path)
    return not stamp.exists() or stamp.read_text() != value


def _note(path: Path) -> None:
    stamp, value = _stamp(path)
    stamp.write_text(value)


def versions() -> dict[str, str]:
    """The versions of the peers."""
    listed = subprocess.run(
        [BED / "venv" / "bin" / "python", "-m", "pip", "list", "--format", "json"],
        capture_output=True, text=True, check=True,
    ).stdout  # fmt: skip
    found = {one["name"].lower(): one["version"] for one in json.loads(listed)}
    known = {name: found.get(name.lower(), "") for name in PEERS}
    package = BED / "node_modules" / "bullmq" / "package.json"
    if package.exists():
        known[BULLMQ] = json.loads(package.read_text())["version"]
    return known


def cores() -> tuple[int, int]:
    """The server's core and the clients'; (-1, -1) where they cannot be set apart."""
    if not hasattr(os, "sched_setaffinity") or len(os.sched_getaffinity(0)) < 2:
        return -1, -1
    first, second, *_ = sorted(os.sched_getaffinity(0))
    return first, second


def pin(pid: int, core: int) -> None:
    """Keep a process, with all its threads, on one core."""
    if core >= 0:
        for thread in Path(f"/proc/{pid}/task").iterdir():
            os.sched_setaffinity(int(thread.name), {core})


class Contestant:
    """A process that measures itself: a line of words in, a line of numbers out."""

    def __init__(self, name: str, url: str, sock: str, core: int) -> None:
        self.name = name
        here = Path(__file__).parent
        if name == BULLMQ:
            words = ["node", str(here / "peer.mjs"), sock, str(BED)]
        elif name in PEERS:
            database = str(2 + PEERS.index(name))  # one empties only its own
            python = str(BED / "venv" / "bin" / "python")
            words = [python, str(here / "peer.py"), name, sock, database, str(core)]
        else:
            words = [sys.executable, "-m", "bench.engine.ours", url, str(core)]
        self._process = subprocess.Popen(
            words, cwd=ROOT, stdin=subprocess.PIPE, stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL, text=True, bufsize=1,
        )  # fmt: skip
        if name == BULLMQ:
            pin(self._process.pid, core)

    def ask(self, *words: Any) -> Any:
        """One measure; None where the contestant has no such thing or failed at it."""
        assert self._process.stdin is not None
        assert self._process.stdout is not None
        try:
            self._process.stdin.write(json.dumps(words) + "\n")
            self._process.stdin.flush()
            answer = json.loads(self._process.stdout.readline() or "null")
        except (BrokenPipeError, json.JSONDecodeError):
            return None
        return None if isinstance(answer, dict) and "error" in answer else answer

    def end(self) -> None:
        """Be gone."""
        self._process.kill()
        self._process.wait()
