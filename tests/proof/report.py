"""docs/soak.md: a row for every soak, and what they add up to."""

from __future__ import annotations

from dataclasses import dataclass, field
from datetime import UTC, datetime
from pathlib import Path

PAGE = Path(__file__).resolve().parents[2] / "docs" / "soak.md"

_HEAD = """# Soaks

`./dev soak [model|crash|clock] --minutes N --seed S` runs the proofs of `tests/proof` long and
adds a row here. The same proofs run for seconds in every test run, with a fixed seed and a fresh
one.

A step of the model is one verb on jobs, lanes, repeats, flows, whole queues, streams or boards,
sent to a real server and done to a pure model. It breaks on an answer or a key that is not the
model's, an id in two places or in none, a state, counter or ring that disagrees, a token handed out
twice, and attempts that went down.

A step of the crash is one SIGKILL of one of two workers, the pump, a producer or the server with
its append-only file, under load; the server starts again, and whoever takes a worker's or the
pump's place is of the next kind that the seed draws: a consumer, batch consumer or metronome, or a
pump, of threads or of asyncio, with handlers of either. It breaks on an admitted job that is
neither completed, nor dead, nor waiting in exactly one place, on one that was completed without a
run of its handler, on more duplicates than the kills explain, on a record of a stream that nobody
in its group was handed, and on a process that ended by itself or tells no more that it lives.

A step of the clock is one mint, one step of a wrong clock, or one node lease taken, lost or given
back. It breaks on an id minted twice and on one that is not above the one before it.

A duplicate is a run of a handler for an attempt whose predecessor was not settled: at least once is
the promise, so a kill may cause as many as the killed one had in hand. A loss is a row in which
something broke; its seed repeats it on the code of its day: round `R` of seed `S` is drawn from the
text `S.R` (the model and the clock step by step, the crash in who is killed when and who comes).
"""

_TABLE = """
| date (UTC) | what | cores | seed | min | rounds | steps or kills | jobs | duplicates | losses |
|---|---|--:|--:|--:|--:|--:|--:|--:|--:|
"""


@dataclass
class Row:
    """One soak."""

    what: str
    seed: int
    cores: int
    minutes: float = 0.0
    rounds: int = 0
    steps: int = 0
    jobs: int = 0
    duplicates: int = 0
    losses: int = 0
    at: str = ""
    date: str = field(default_factory=lambda: datetime.now(UTC).strftime("%Y-%m-%d %H:%M"))

    def text(self) -> str:
        """The row as it stands in the page."""
        words = (
            self.date, self.what, self.cores, self.seed, f"{self.minutes:.1f}",
            f"{self.rounds:,}", f"{self.steps:,}", f"{self.jobs:,}", self.duplicates, self.losses,
        )  # fmt: skip
        return "| " + " | ".join(map(str, words)) + " |"


def add(page: Path, row: Row) -> None:
    """Write the page anew with one row more."""
    rows = [row.text()]
    if page.exists():
        rows = [line for line in page.read_text().splitlines() if line.startswith("| 2")] + rows
    page.write_text(_HEAD + _totals(rows) + _TABLE + "\n".join(rows) + "\n")


def _totals(rows: list[str]) -> str:
    sums: dict[str, list[int]] = {}
    for line in rows:
        cells = [cell.strip().replace(",", "") for cell in line.strip("|").split("|")]
        numbers = [int(cell) for cell in (cells[6], cells[8], cells[9])]
        found = sums.setdefault(cells[1], [0, 0, 0])
        sums[cells[1]] = [one + more for one, more in zip(found, numbers, strict=True)]
    lines = [
        f"- {what}: {steps:,} {'kills' if what == 'crash' else 'steps'}, "
        f"{duplicates:,} duplicates, {losses} losses"
        for what, (steps, duplicates, losses) in sorted(sums.items())
    ]
    return "\nIn all:\n\n" + "\n".join(lines) + "\n"
