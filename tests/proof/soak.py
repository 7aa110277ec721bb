"""`./dev soak [model|crash|clock] [--minutes N] [--seed S]`: the proofs, run long."""

from __future__ import annotations

import argparse
import os
import secrets
import shutil
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path

from queue_core.bus import connect
from queue_core.embedded import Embedded
from tests.proof import report
from tests.proof.clocks import tamper
from tests.proof.crash import crash
from tests.proof.machine import stroll
from tests.proof.report import Row

STEPS_A_WORLD = 2_000
MOVES_A_WORLD = 5_000
KILLS_A_RUN = 10
REPORT_EVERY_S = 60.0

Until = Callable[[], bool]


def say(line: str) -> None:
    """One line of progress."""
    sys.stdout.write(f"{time.strftime('%H:%M:%S')}  {line}\n")
    sys.stdout.flush()


def soak_model(seed: int, over: Until, row: Row) -> None:
    """World after world, each under a seed of its own."""
    with tempfile.TemporaryDirectory(prefix="emq-soak-") as folder:
        server = Embedded(Path(folder), extra=("--appendonly", "no")).start()
        bus = connect(server.url)
        try:
            while not over():
                row.at = f"{seed}.{row.rounds}"
                row.steps += stroll(bus, STEPS_A_WORLD, row.at)
                row.rounds += 1
        finally:
            bus.close()
            server.kill()


def soak_crash(seed: int, over: Until, row: Row) -> None:
    """Run after run of kills, each on a server and folder of its own."""
    while not over():
        row.at = f"{seed}.{row.rounds}"
        folder = Path(tempfile.mkdtemp(prefix="emq-soak-"))
        say(f"{row.at}: in {folder}, which stays where it breaks")
        found = crash(folder, KILLS_A_RUN, row.at)
        shutil.rmtree(folder)
        row.rounds += 1
        row.steps += found.kills
        row.jobs += found.admitted
        row.duplicates += found.duplicates
        say(f"{row.at}: {found}")


def soak_clock(seed: int, over: Until, row: Row) -> None:
    """Minters under clocks that are wrong and step, and leases that are lost."""
    with tempfile.TemporaryDirectory(prefix="emq-soak-") as folder:
        server = Embedded(Path(folder), extra=("--appendonly", "no")).start()
        bus = connect(server.url)
        try:
            while not over():
                row.at = f"{seed}.{row.rounds}"
                row.jobs += tamper(bus, MOVES_A_WORLD, row.at)
                row.rounds += 1
                row.steps += MOVES_A_WORLD
        finally:
            bus.close()
            server.kill()


SOAKS = {"model": soak_model, "crash": soak_crash, "clock": soak_clock}


def run(what: str, minutes: float, seed: int, to: Path) -> bool:
    """One soak and its row in the page; whether nothing broke."""
    row = Row(what=what, seed=seed, cores=os.cpu_count() or 1)
    began, told = time.monotonic(), [time.monotonic()]

    def over() -> bool:
        now = time.monotonic()
        row.minutes = (now - began) / 60
        if now - told[0] >= REPORT_EVERY_S:
            told[0] = now
            say(f"{what} {row.at}: {row.steps:,} steps")
        return row.minutes >= minutes

    say(f"{what} with seed {seed} for {minutes:g} min")
    try:
        SOAKS[what](seed, over, row)
    except AssertionError as broken:
        row.losses += 1
        row.minutes = (time.monotonic() - began) / 60
        say(f"{what} broke at {row.at}: {broken}")
    report.add(to, row)
    say(f"{what}: {row.steps:,} steps, {row.duplicates} duplicates, {row.losses} losses")
    return row.losses == 0


def main() -> int:
    """Soak what is asked for, everything in turn by default."""
    parser = argparse.ArgumentParser(prog="./dev soak", description="Run the proofs long.")
    parser.add_argument("what", nargs="?", choices=[*SOAKS, "all"], default="all")
    parser.add_argument("--minutes", type=float, default=10.0, help="of each (default 10)")
    parser.add_argument("--seed", type=int, default=None, help="default: a fresh one")
    parser.add_argument("--to", type=Path, default=report.PAGE, help="default docs/soak.md")
    arguments = parser.parse_args()
    seed = secrets.randbits(32) if arguments.seed is None else arguments.seed
    names = list(SOAKS) if arguments.what == "all" else [arguments.what]
    fine = [run(name, arguments.minutes, seed, arguments.to) for name in names]
    return 0 if all(fine) else 1


if __name__ == "__main__":
    sys.exit(main())
