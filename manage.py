#!/usr/bin/env python3
"""Django's commands, and those of EchoMQ: `./manage.py echomq --help`."""

import os
import sys
from pathlib import Path

VENV = Path(__file__).resolve().parent / ".venv"


def main() -> None:
    """Run a command; a Python without Django hands over to the one of `./dev setup`."""
    os.environ.setdefault("DJANGO_SETTINGS_MODULE", "echomq_admin.settings")
    try:
        from django.core.management import execute_from_command_line
    except ImportError:
        python = VENV / "bin" / "python"
        if Path(sys.prefix).resolve() == VENV.resolve() or not python.exists():
            sys.exit("Django is not installed here. ./dev setup installs it.")
        os.execv(python, [str(python), *sys.argv])  # noqa: S606 (our own Python)
    execute_from_command_line(sys.argv)


if __name__ == "__main__":
    main()
