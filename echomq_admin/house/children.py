"""A process that is kept running: started, watched, restarted with back-off, ended in order."""

import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path

from echomq_admin.house.warden import Warden

FIRST_WAIT_S = 0.5
LONGEST_WAIT_S = 30.0
STEADY_S = 30.0
"""After this long a child counts as well again, and its next fall waits the first wait."""

LOG_BYTES = 5_000_000

# Runs in the child before it becomes the program: the kernel ends it with its parent.
_LEASH = """
import ctypes, os, signal, sys
ctypes.CDLL(None).prctl(1, signal.SIGKILL)
if os.getppid() != int(sys.argv[1]):
    sys.exit(1)
os.execv(sys.argv[2], sys.argv[2:])
"""


def _leashed(command: Sequence[str]) -> list[str]:
    if sys.platform != "linux":
        return list(command)
    return [sys.executable, "-I", "-S", "-c", _LEASH, str(os.getpid()), *command]


class Child:
    """One program of the house. `say` is told each change of its state, in one line."""

    def __init__(
        self,
        name: str,
        command: Sequence[str],
        env: Mapping[str, str],
        log: Path,
        say: Callable[[str], None],
        warden: Warden,
    ) -> None:
        self.name = name
        self._command = list(command)
        self._env = dict(env)
        self._log = log
        self._say = say
        self._warden = warden
        self._process: subprocess.Popen[bytes] | None = None
        self._started = 0.0
        self._wait_s = FIRST_WAIT_S
        self._due: float | None = None

    @property
    def pid(self) -> int | None:
        """Its process, None while none runs."""
        process = self._process
        return process.pid if process is not None and process.poll() is None else None

    def start(self) -> None:
        """Start it, in a session of its own so that Ctrl-C reaches only the supervisor."""
        if self._log.is_file() and self._log.stat().st_size > LOG_BYTES:
            self._log.replace(self._log.with_suffix(".log.1"))
        with self._log.open("ab") as log:
            self._process = subprocess.Popen(  # noqa: S603 (our own words)
                _leashed(self._command),
                env=self._env, stdin=subprocess.DEVNULL, stdout=log, stderr=log,
                start_new_session=True,
            )  # fmt: skip
        self._warden.hold(self._process.pid)
        self._started = time.monotonic()
        self._due = None

    def watch(self) -> None:
        """Note a fall, and start again once its wait is over."""
        now = time.monotonic()
        if self._process is not None and (code := self._process.poll()) is not None:
            if now - self._started > STEADY_S:
                self._wait_s = FIRST_WAIT_S
            self._due = now + self._wait_s
            self._say(f"{self.name} {_ended(code)}; again in {self._wait_s:g} s ({self._log})")
            self._wait_s = min(self._wait_s * 2, LONGEST_WAIT_S)
            self._warden.release(self._process.pid)
            self._process = None
        if self._due is not None and now >= self._due:
            self.start()
            self._say(f"{self.name} started again")

    def stop(self, within_s: float) -> None:
        """Ask it to end, and make it where it does not within the time."""
        self._due = None
        process, self._process = self._process, None
        if process is None or process.poll() is not None:
            return
        process.terminate()
        try:
            process.wait(within_s)
        except subprocess.TimeoutExpired:
            self._say(f"{self.name} did not end within {within_s:g} s and is killed")
            process.kill()
            process.wait()
        self._warden.release(process.pid)


def _ended(code: int) -> str:
    return f"was ended by {signal.Signals(-code).name}" if code < 0 else f"ended with code {code}"
