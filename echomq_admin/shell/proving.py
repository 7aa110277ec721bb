"""`manage.py echomq conformance`: whether a configured bus and the engine play by the wire."""

from __future__ import annotations

from argparse import ArgumentParser, Namespace, RawDescriptionHelpFormatter

from echomq_admin import config
from echomq_admin.buses import bus_urls
from echomq_admin.shell.asking import require_named, which_bus
from echomq_admin.shell.output import Printer, Refused
from queue_core import fence
from queue_core.conformance import command
from queue_core.outcomes import Outcome


def add_words(sub: ArgumentParser) -> None:
    """The words of the engine's own command, and what it says of itself."""
    sub.description = command.ABOUT
    sub.formatter_class = RawDescriptionHelpFormatter
    command.add_words(sub)


def conformance(_printer: Printer, options: Namespace) -> int:
    """Play them. A console that only looks does not write scratch queues either."""
    if config.read_only() and not options.list:
        raise Refused(Outcome.not_permitted, "This console is read-only.")
    url = ""
    if not options.list:
        name = which_bus(options.bus)
        require_named(name)
        url = bus_urls()[name]
    return command.carry_out(url, options, fence.DEFAULT, command.print_line)
