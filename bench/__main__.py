"""`./dev bench [engine|pages] [--jobs N] [--rounds N] [--to FILE]`."""

import argparse
import os
import sys
import time
from pathlib import Path

import django

from bench.sections import put

JOBS = 1_000_000
DOCS = Path(__file__).resolve().parents[1] / "docs" / "benchmarks.md"


def say(line: str) -> None:
    """One line of progress."""
    print(f"{time.strftime('%H:%M:%S')}  {line}", flush=True)


def pages(arguments: argparse.Namespace) -> str:
    """Measure the console's pages."""
    os.environ.setdefault("DJANGO_SETTINGS_MODULE", "echomq_admin.settings")
    django.setup()  # the addresses of the pages are Django's
    from bench.pages import measure
    from bench.report import text

    return text(measure(arguments.jobs, say))


def engine(arguments: argparse.Namespace) -> str:
    """Measure the engine beside its peers."""
    from bench.engine.contest import measure
    from bench.engine.page import section

    report = measure(arguments.rounds, say, arguments.jobs)
    return section(report, arguments.rounds, arguments.to.parent / "pictures")


def main() -> int:
    """Measure and write the page."""
    parser = argparse.ArgumentParser(
        prog="./dev bench", description="Measure the engine and the console."
    )
    parser.add_argument("what", nargs="?", choices=["engine", "pages"], help="default both")
    parser.add_argument(
        "--jobs", type=int, default=JOBS, help="pending, and as many scheduled (default 1,000,000)"
    )
    parser.add_argument("--rounds", type=int, default=9, help="of the engine (default 9)")
    parser.add_argument("--to", type=Path, default=DOCS, help="default docs/benchmarks.md")
    arguments = parser.parse_args()
    for name, run in (("engine", engine), ("pages", pages)):
        if arguments.what in (None, name):
            put(arguments.to, name, run(arguments))
            say(f"written to {arguments.to}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
