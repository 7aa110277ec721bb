"""`./dev run` as a user starts it, and the processes that it leaves in the system."""

import os
import re
import signal
import subprocess
import sys
import threading
import time
from pathlib import Path

from queue_core.plans import Call, Plan, Reply

ROOT = Path(__file__).resolve().parents[2]
WITHIN_S = 60.0


def configured(name: str, text: str) -> Plan[Reply]:
    """Set one directive of a server."""
    return (yield Call("CONFIG", (), ("SET", name, text)))


def environment(var: Path) -> dict[str, str]:
    """What a house over `var` is told; every process of it carries the folder's name."""
    return {**os.environ, "ECHOMQ_VAR": str(var), "PORT": ""}


def refused(var: Path, *words: str) -> tuple[int, str]:
    """Exit code and stderr of a `./dev run` that should not start."""
    done = subprocess.run(
        [sys.executable, "dev", "run", *words],
        cwd=ROOT, env=environment(var), capture_output=True, text=True, timeout=WITHIN_S,
        check=False,
    )  # fmt: skip
    return done.returncode, done.stderr


def _told(words: str, pids: str = "") -> list[bytes]:
    """What ps says where there is no /proc."""
    which = ["-p", pids] if pids else ["-ax"]
    return subprocess.run(
        ["ps", "-Eww", *which, "-o", f"{words}="], capture_output=True, check=False
    ).stdout.splitlines()


def lives(pid: int) -> bool:
    """Whether a process runs; one that only waits to be reaped does not."""
    if sys.platform != "linux":
        return any(not stat.startswith(b"Z") for stat in _told("stat", str(pid)))
    try:
        stat = Path(f"/proc/{pid}/stat").read_text()
    except OSError:
        return False
    return stat.rpartition(")")[2].split()[0] != "Z"


def processes(var: Path) -> set[int]:
    """Every living process that was told of this folder, or works in it: a server that sets its
    own title writes over the place where its environment was."""
    mark = f"ECHOMQ_VAR={var}".encode()
    if sys.platform != "linux":
        return {int(line.split()[0]) for line in _told("pid=,command") if mark in line}
    found = set()
    for folder in Path("/proc").iterdir():
        if folder.name.isdigit():
            try:
                told = mark in (folder / "environ").read_bytes().split(b"\0")
                works_there = (folder / "cwd").readlink().is_relative_to(var)
            except OSError:
                continue
            if (told or works_there) and lives(int(folder.name)):
                found.add(int(folder.name))
    return found


def command_line(pid: int) -> str:
    """The words that a process was started with."""
    if sys.platform != "linux":
        return b" ".join(_told("command", str(pid))).decode()
    try:
        return Path(f"/proc/{pid}/cmdline").read_bytes().replace(b"\0", b" ").decode()
    except OSError:
        return ""


class Running:
    """One `./dev run`, its lines as they come."""

    def __init__(self, var: Path, *words: str) -> None:
        self.var = var
        self.lines: list[str] = []
        self._said = threading.Condition()
        self._process = subprocess.Popen(
            [sys.executable, "dev", "run", *words],
            cwd=ROOT, env=environment(var), stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT, text=True, start_new_session=True,
        )  # fmt: skip
        threading.Thread(target=self._listen, daemon=True).start()

    @property
    def pid(self) -> int:
        """The supervisor."""
        return self._process.pid

    def _listen(self) -> None:
        assert self._process.stdout
        for line in self._process.stdout:
            with self._said:
                self.lines.append(line.rstrip())
                self._said.notify_all()

    def said(self, pattern: str) -> re.Match[str]:
        """The first match in what it says, waited for."""
        with self._said:
            deadline = time.monotonic() + WITHIN_S
            while time.monotonic() < deadline:
                if found := re.search(pattern, "\n".join(self.lines)):
                    return found
                self._said.wait(0.5)
        raise AssertionError("\n".join([f"never said {pattern}:", *self.lines]))

    def child(self, words: str) -> int | None:
        """The process of this house whose command line holds `words`."""
        return next((pid for pid in processes(self.var) if words in command_line(pid)), None)

    def ended(self, how: signal.Signals) -> int:
        """Send a signal, wait for the end, answer the exit code."""
        self._process.send_signal(how)
        return self._process.wait(WITHIN_S)


def gone(var: Path) -> bool:
    """Whether no process of the house lives, within a moment."""
    deadline = time.monotonic() + 10
    while processes(var) and time.monotonic() < deadline:
        time.sleep(0.05)
    return not processes(var)
