"""What the processes of the crash test write of themselves, and what that adds up to."""

from __future__ import annotations

import os
import time
from collections import Counter, defaultdict
from dataclasses import dataclass, field
from pathlib import Path

from queue_core.keys import QueueKeys


class Journal:
    """Lines that outlive the process."""

    def __init__(self, path: str) -> None:
        self._file = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_APPEND)

    def note(self, what: str, q: QueueKeys, job_id: bytes, detail: str = "-") -> None:
        """One line, with one write."""
        line = f"{time.monotonic_ns()} {what} {q.name.decode()} {job_id.decode()} {detail}\n"
        os.write(self._file, line.encode())


@dataclass
class Told:
    """The journals, by queue and id."""

    acked: dict[tuple[str, str], str] = field(default_factory=dict)
    tries: Counter[tuple[str, str]] = field(default_factory=Counter)
    began: dict[tuple[str, str], list[int]] = field(default_factory=lambda: defaultdict(list))
    verdicts: dict[tuple[str, str], list[tuple[int, str]]] = field(
        default_factory=lambda: defaultdict(list)
    )
    appended: set[str] = field(default_factory=set)
    read: set[str] = field(default_factory=set)

    def duplicates(self) -> int:
        """Runs beyond the first that no verdict of the run before asked for."""
        return sum(
            max(0, len(runs) - 1 - sum(word in ("Failed", "Later") for _, word in verdicts))
            for job, runs in self.began.items()
            if (verdicts := self.verdicts[job]) is not None
        )


def journals(folder: Path) -> Told:
    """All that the processes wrote. A line cut short was never acted upon."""
    told = Told()
    for path in sorted(folder.glob("*.journal")):
        for line in path.read_text().splitlines():
            at, what, name, job_id, detail = line.split(" ")
            job = (name, job_id)
            if what == "ack":
                told.acked[job] = detail
            elif what in ("try", "tryflow"):
                told.tries[job] += 1
            elif what in ("appended", "read"):
                (told.appended if what == "appended" else told.read).add(job_id)
            elif what == "begin":
                told.began[job].append(int(at))
            else:
                told.verdicts[job].append((int(at), what))
    return told
