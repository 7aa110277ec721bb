"""Ends the house's processes when its supervisor is gone, where the kernel does not do it.

Linux ends a child with its parent by itself (`children.py`, `queue_core.embedded`). Elsewhere a
warden holds the reading end of a pipe: its end means that the supervisor lives no more, however
it died.
"""

import contextlib
import subprocess
import sys

_WARDEN = """
import os, signal, sys
signal.signal(signal.SIGINT, signal.SIG_IGN)
wards = set()
for line in sys.stdin:
    (wards.add if line[0] == "+" else wards.discard)(int(line[1:]))
for pid in wards:
    try:
        os.kill(pid, signal.SIGKILL)
    except ProcessLookupError:
        pass
"""


class Warden:
    """Knows which processes must not outlive this one."""

    def __init__(self) -> None:
        self._process: subprocess.Popen[str] | None = None

    def start(self) -> None:
        """Begin to watch over this process."""
        self._process = subprocess.Popen(  # noqa: S603 (our own words)
            [sys.executable, "-I", "-S", "-c", _WARDEN],
            stdin=subprocess.PIPE, text=True, start_new_session=True,
        )  # fmt: skip

    def hold(self, pid: int | None) -> None:
        """This process ends with us."""
        self._write("+", pid)

    def release(self, pid: int | None) -> None:
        """This process has ended; its number may be another's soon."""
        self._write("-", pid)

    def stop(self) -> None:
        """Watch no more; what is still held ends now."""
        if self._process is not None and self._process.stdin is not None:
            self._process.stdin.close()
            self._process.wait()
            self._process = None

    def _write(self, sign: str, pid: int | None) -> None:
        if pid is not None and self._process is not None and self._process.stdin is not None:
            with contextlib.suppress(BrokenPipeError):
                self._process.stdin.write(f"{sign}{pid}\n")
                self._process.stdin.flush()
