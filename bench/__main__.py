"""`./dev bench [pages] [--jobs N] [--to FILE]`."""

import argparse
import os
import sys
import time
from pathlib import Path

import django

JOBS = 1_000_000
DOCS = Path(__file__).resolve().parents[1] / "docs" / "benchmarks.md"


def say(line: str) -> None:
    """One line of progress."""
    print(f"{time.strftime('%H:%M:%S')}  {line}", flush=True)


def main() -> int:
    """Measure and write the page."""
    parser = argparse.ArgumentParser(prog="./dev bench", description="Measure the console.")
    parser.add_argument("what", nargs="?", choices=["pages"], default="pages")
    parser.add_argument(
        "--jobs", type=int, default=JOBS, help="pending, and as many scheduled (default 1,000,000)"
    )
    parser.add_argument("--to", type=Path, default=DOCS, help="default docs/benchmarks.md")
    arguments = parser.parse_args()
    os.environ.setdefault("DJANGO_SETTINGS_MODULE", "echomq_admin.settings")
    django.setup()  # the addresses of the pages are Django's
    from bench.pages import measure
    from bench.report import text

    arguments.to.write_text(text(measure(arguments.jobs, say)))
    say(f"written to {arguments.to}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
