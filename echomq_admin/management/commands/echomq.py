"""`manage.py echomq`: the console in a shell. Exit codes are those of the outcomes."""

from __future__ import annotations

import os
import sys
from argparse import Namespace
from pathlib import Path
from typing import Any

from django.core.management.base import BaseCommand, CommandError, CommandParser
from django.db import DatabaseError

from echomq_admin import said_once
from echomq_admin.buses import close_all
from echomq_admin.shell.asking import no_database, which_bus
from echomq_admin.shell.output import Printer, Refused, shown
from echomq_admin.shell.words import add_words
from queue_core.errors import EchoMQError, ForbiddenFault, InvalidError
from queue_core.outcomes import Outcome

STOPPED = 130
"""After Ctrl-C, as shells have it. What was done by then has been printed."""


class Command(BaseCommand):
    """Queues, jobs, repeats and boards: look and act."""

    help = "Look at queues, jobs, repeats and boards, and act on them."
    requires_system_checks: list[str] = []

    def add_arguments(self, parser: CommandParser) -> None:
        """The subcommands. What is typed wrongly is raised, where argparse would print a page."""
        parser.called_from_command_line = False
        self._words = add_words(parser)

    def run_from_argv(self, argv: list[str]) -> None:
        """Run what was typed, or say in one line what is wrong with it."""
        try:
            super().run_from_argv(argv)
        except CommandError as fault:
            wrong = str(fault).removeprefix("Error: ")
            sentence = f"{wrong[:1].upper()}{wrong[1:]}. {self._manual(argv)} says what it takes."
            sys.exit(self._refuse(Printer("--json" in argv), Outcome.invalid, sentence))

    def _manual(self, argv: list[str]) -> str:
        program = Path(argv[0]).name.replace("__main__.py", "python -m django")
        return " ".join([program, *argv[1:2], *(set(argv[2:3]) & self._words), "--help"])

    def handle(self, *_args: Any, **options: Any) -> None:
        """Run one and leave with its exit code."""
        printer = Printer(options["json"])
        said_once.log.disabled = True  # the command itself tells what a bus answers
        try:
            code = self._run(printer, Namespace(**options))
        finally:
            said_once.log.disabled = False
            close_all()
        try:
            sys.stdout.flush()
        except BrokenPipeError:
            _close_pipe()
        if code:
            sys.exit(code)

    def _run(self, printer: Printer, options: Namespace) -> int:
        try:
            if options.of_bus:
                options.bus = which_bus(options.bus)
            return int(options.run(printer, options))
        except Refused as refused:
            return self._refuse(printer, refused.outcome, str(refused))
        except InvalidError as fault:
            return self._refuse(printer, Outcome.invalid, f"{fault}.")
        except ForbiddenFault as fault:
            return self._refuse(printer, Outcome.not_permitted, f"The bus refuses: {fault}")
        except EchoMQError as fault:
            return self._refuse(printer, Outcome.unavailable, f"{fault}")
        except DatabaseError as error:
            return self._refuse(printer, Outcome.unavailable, str(no_database(error)))
        except BrokenPipeError:
            _close_pipe()
            return 0
        except KeyboardInterrupt:
            return STOPPED

    def _refuse(self, printer: Printer, outcome: Outcome, sentence: str) -> int:
        """A refusal is for eyes on standard error, for programs a record like every other."""
        if printer.as_json:
            printer.record({"outcome": outcome.word, "sentence": sentence}, "")
        else:
            sys.stderr.write(f"{outcome.word}: {shown(sentence)}\n")
        return outcome.exit_code


def _close_pipe() -> None:
    """Nobody reads on (`| head`): end quietly, also at the interpreter's own last flush."""
    os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
