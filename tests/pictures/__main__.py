"""`./dev pictures`: screenshots of every page into docs/pictures."""

import argparse
import os
import sys
import time
from pathlib import Path

import django

FOLDER = Path(__file__).resolve().parents[2] / "docs" / "pictures"


def say(line: str) -> None:
    """One line of progress."""
    print(f"{time.strftime('%H:%M:%S')}  {line}", flush=True)  # noqa: T201


def main() -> int:
    """Take them all."""
    parser = argparse.ArgumentParser(prog="./dev pictures", description="Take the screenshots.")
    parser.add_argument("--to", type=Path, default=FOLDER, help="default docs/pictures")
    folder = parser.parse_args().to
    folder.mkdir(parents=True, exist_ok=True)
    os.environ.setdefault("DJANGO_SETTINGS_MODULE", "echomq_admin.settings")
    django.setup()  # the addresses of the pages are Django's
    from tests.pictures.session import take_all

    take_all(folder, say)
    size = sum(file.stat().st_size for file in folder.glob("*.png"))
    say(f"{len(list(folder.glob('*.png')))} pictures in {folder}, {size / 1e6:.1f} MB")
    return 0


if __name__ == "__main__":
    sys.exit(main())
