"""The notice of a living house: on which bus it is, for commands of another shell.

A bus URL may hold a password, so the file is readable by its owner alone and its text is never
shown. It counts only while the house lives that put it up.
"""

from __future__ import annotations

import contextlib
import json
import os
from dataclasses import dataclass, field
from pathlib import Path

from echomq_admin.house.tenancy import is_taken

NAME = "house.json"


@dataclass(frozen=True, slots=True)
class Notice:
    """A house that lives: its bus's URL with secrets, where its console is, and its process."""

    bus: str = field(repr=False)
    console: str
    pid: int

    def __str__(self) -> str:
        return f"of the ./dev run at {self.console} (process {self.pid})"


@dataclass(frozen=True, slots=True)
class Doubt:
    """A notice that tells nothing for sure. `why` is a sentence that says how to go on."""

    why: str


def put_up(folder: Path, notice: Notice) -> None:
    """Write it whole or not at all, for its owner's eyes. `OSError` where that cannot be."""
    told = {"bus": notice.bus, "console": notice.console, "pid": notice.pid}
    fresh = folder / f"{NAME}.{notice.pid}"
    fresh.unlink(missing_ok=True)
    opened = os.open(fresh, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
    with os.fdopen(opened, "w", encoding="utf-8") as file:
        json.dump(told, file)
    fresh.replace(folder / NAME)


def take_down(folder: Path) -> None:
    """Nobody is here any more."""
    with contextlib.suppress(OSError):
        (folder / NAME).unlink(missing_ok=True)


def read(folder: Path) -> Notice | Doubt | None:
    """The house that lives in a folder, None where none says so. A notice whose house is gone,
    or that cannot be read, is a doubt: whoever would follow it must not, and must not guess."""
    path = folder / NAME
    try:
        told = json.loads(path.read_text(encoding="utf-8"))
        notice = Notice(str(told["bus"]), str(told["console"]), int(told["pid"]))
    except FileNotFoundError:
        if is_taken(folder):
            return Doubt(f"A ./dev run is coming up or going down: wait a moment, or {_SAY}")
        return None
    except OSError as error:
        return Doubt(f"{path} cannot be read ({error.strerror}): {_SAY}")
    except (ValueError, KeyError, TypeError):
        return Doubt(f"{path} is no notice of a ./dev run: delete it, or {_SAY}")
    if _lives(notice.pid) and is_taken(folder):
        return notice
    return Doubt(
        f"{path} was left by a ./dev run that runs no more (process {notice.pid}), and its bus is "
        f"not taken for granted. Start ./dev run again, or delete the file, or {_SAY}"
    )


_SAY = "say which bus is meant: --bus URL, or ECHOMQ_BUS_URL."


def _lives(pid: int) -> bool:
    try:
        os.kill(pid, 0)
    except PermissionError:
        return True
    except (OSError, OverflowError):
        return False
    return pid > 0
