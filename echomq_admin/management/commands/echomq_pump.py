"""`manage.py echomq_pump`: a pump process."""

from __future__ import annotations

import logging
from argparse import ArgumentParser
from typing import Any

from django.core.management.base import BaseCommand, CommandError

from echomq_admin import config
from echomq_admin.working.buses import serving
from echomq_admin.workshop import cast
from queue_core.errors import InvalidError
from queue_core.keys import queue
from queue_core.nodes import NodeLease
from queue_core.work.pump import MAX_STALLED, Pump
from queue_core.work.signals import run_until_signalled


class Command(BaseCommand):
    """Drives what time drives until SIGTERM."""

    help = "Promote due jobs, end leases that ran out, fire repeats and deliver flows of queues."

    def add_arguments(self, parser: ArgumentParser) -> None:
        """The command's words."""
        parser.add_argument("--queue", action="append", default=[], help="as often as needed")
        parser.add_argument("--workshop", action="store_true", help="pump the demo's queues")
        parser.add_argument("--bus", help="a configured bus or a URL, by default the first")
        parser.add_argument("--max-stalled", type=int, default=MAX_STALLED)

    def handle(self, *_args: Any, **options: Any) -> None:
        """Run until told to end."""
        logging.basicConfig(level=logging.INFO, format="%(asctime)s %(levelname)s %(message)s")
        names = [*options["queue"], *(cast.QUEUES if options["workshop"] else ())]
        names = names or list(config.handlers())
        if not names:
            raise CommandError("Nothing to pump: give --queue, or set ECHOMQ_HANDLERS.")
        try:
            queues = [queue(name) for name in dict.fromkeys(names)]
        except InvalidError as error:
            raise CommandError(str(error)) from None
        bus = serving(options["bus"], self.stderr.write)
        lease = NodeLease()
        pump = Pump(bus, queues, lease.mint, options["max_stalled"])
        self.stdout.write(f"Pumping {', '.join(q.name.decode() for q in queues)}")
        run_until_signalled([pump], self.stdout.write)
        bus.run(lease.release())
        bus.close()
