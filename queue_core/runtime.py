"""Where the socket of an embedded server lives: a folder of its own in the temporary directory,
since a socket's path must stay under 108 bytes, whatever the path of the data is.

Its owner holds a lock in it for as long as it lives, so that a later start can tell, and remove,
what an owner left that was killed.
"""

from __future__ import annotations

import contextlib
import fcntl
import hashlib
import os
import re
import socket
import stat
import tempfile
import time
from pathlib import Path
from typing import IO

from queue_core.errors import UnavailableError

SOCKET = "valkey.sock"
LOCK = "lock"
HELD_S = 5.0
"""A sweep holds a lock for a moment; whoever holds one longer is an owner."""


class Runtime:
    """The folder for the server over `data`. `take` and `release` may be called again."""

    def __init__(self, data: Path) -> None:
        short = hashlib.sha256(os.fsencode(data)).hexdigest()[:12]
        self.folder = Path(tempfile.gettempdir()) / f"emq-{os.getuid()}-{short}"
        self.socket = self.folder / SOCKET
        self._lock: IO[bytes] | None = None

    def take(self) -> None:
        """Make it and hold it. `UnavailableError` with code FOLDER where it cannot be made or
        others may look into it, INUSE where another process holds it."""
        deadline = time.monotonic() + HELD_S
        while self._lock is None:
            try:
                self.folder.mkdir(mode=0o700, exist_ok=True)
                with contextlib.suppress(FileNotFoundError):  # swept since
                    self._require_ours()
                    self._lock = _held(self.folder)
            except OSError as error:
                why = f"cannot write {error.filename}: {error.strerror}"
                raise UnavailableError("FOLDER", why) from None
            if self._lock is None:
                if time.monotonic() > deadline:
                    raise UnavailableError("INUSE", f"another process holds {self.folder}")
                time.sleep(0.01)

    def release(self) -> None:
        """Remove it and let go."""
        if self._lock is not None:
            _remove(self.folder)
            self._lock.close()
            self._lock = None

    def _require_ours(self) -> None:
        found = self.folder.lstat()
        if found.st_uid != os.getuid() or found.st_mode & 0o077 or not stat.S_ISDIR(found.st_mode):
            raise UnavailableError("FOLDER", f"{self.folder} is open to others; remove it")


def sweep() -> None:
    """Remove the folders whose owners are gone: nobody holds the lock and nobody listens. Where
    a server outlives its owner its folder stays, for the next start over its data to find."""
    ours = re.compile(rf"emq-{os.getuid()}-[0-9a-f]{{12}}")
    with os.scandir(tempfile.gettempdir()) as entries:
        found = [Path(entry.path) for entry in entries if ours.fullmatch(entry.name)]
    for folder in found:
        with contextlib.suppress(OSError):  # another sweep was first
            if folder.lstat().st_uid == os.getuid():
                _clear(folder)


def _clear(folder: Path) -> None:
    lock = _held(folder)
    if lock is not None:
        with lock:
            if not _listens(folder / SOCKET):
                _remove(folder)


def _held(folder: Path) -> IO[bytes] | None:
    """The lock of a folder in our hand, None while it is in another's. `FileNotFoundError` where
    the folder went away meanwhile."""
    lock = (folder / LOCK).open("ab")
    try:
        fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        if (folder / LOCK).stat().st_ino != os.fstat(lock.fileno()).st_ino:
            raise FileNotFoundError
    except BlockingIOError:
        lock.close()
        return None
    except BaseException:
        lock.close()
        raise
    return lock


def _listens(path: Path) -> bool:
    with socket.socket(socket.AF_UNIX) as sock:
        sock.settimeout(1.0)
        try:
            sock.connect(str(path))
        except (ConnectionError, FileNotFoundError):
            return False
        except OSError:
            return True
        return True


def _remove(folder: Path) -> None:
    for name in (SOCKET, LOCK):
        (folder / name).unlink(missing_ok=True)
    with contextlib.suppress(OSError):  # something of somebody else's lies in it
        folder.rmdir()
