"""One house per data folder: a second start says where the first one is."""

import fcntl
import os
import time
from pathlib import Path
from typing import IO

from echomq_admin.house.refusal import RefusedError

GLANCE_S = 0.5
"""How long a start waits for a lock that may be held by a look only."""


class Tenancy:
    """Holds `house.lock` of a folder while the process lives; the system lets go of it even
    where the process is killed. Its text tells a second start where to look."""

    def __init__(self, folder: Path) -> None:
        self._path = folder / "house.lock"
        self._file: IO[str] | None = None

    def take(self, url: str) -> None:
        """Raises `RefusedError` where another house holds the folder or it cannot be written."""
        try:
            self._path.parent.mkdir(parents=True, exist_ok=True)
            file = self._path.open("a+")
        except OSError as error:
            raise RefusedError(
                f"Cannot write {self._path.parent}: {error.strerror}. Make it writable, or set "
                "ECHOMQ_VAR to a folder that is."
            ) from None
        if not _locked(file):
            file.seek(0)
            holder = file.read().strip() or "starting"
            file.close()
            raise RefusedError(
                f"It runs already: {holder}. Stop it with Ctrl-C there, or set ECHOMQ_VAR to "
                "another folder for a second one."
            )
        file.seek(0)
        file.truncate()
        file.write(f"{url} (process {os.getpid()})\n")
        file.flush()
        self._file = file

    def leave(self) -> None:
        """Let the next one in."""
        if self._file is not None:
            self._file.truncate(0)
            self._file.close()
            self._file = None


def _locked(file: IO[str]) -> bool:
    """Whether the lock is ours now. A command that only looks (`is_taken`) has it for a moment."""
    until = time.monotonic() + GLANCE_S
    while True:
        try:
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
            return True
        except OSError:
            if time.monotonic() > until:
                return False
        time.sleep(0.02)


def is_taken(folder: Path) -> bool:
    """Whether a house holds the folder now. The system answers, so that a number that another
    process has got since deceives nobody."""
    try:
        file = (folder / "house.lock").open()
    except OSError:
        return False
    with file:
        try:
            fcntl.flock(file, fcntl.LOCK_SH | fcntl.LOCK_NB)
        except OSError:
            return True
    return False
