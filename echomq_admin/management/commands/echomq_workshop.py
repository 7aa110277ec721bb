"""`manage.py echomq_workshop`: the load of the demo."""

from __future__ import annotations

import logging
import threading
from argparse import ArgumentParser
from typing import Any

from django.core.management.base import BaseCommand

from echomq_admin.working.buses import serving
from echomq_admin.workshop.load import Load
from queue_core.errors import EchoMQError
from queue_core.nodes import NodeLease
from queue_core.work.signals import run_until_signalled
from queue_core.work.trouble import Trouble

EVERY_S = 0.5

_log = logging.getLogger(__name__)


class Play:
    """The load as a loop that trouble with the bus does not end."""

    def __init__(self, load: Load) -> None:
        self._load = load
        self._stopping = threading.Event()
        self._prepared = False

    def stop(self) -> None:
        """End after the tick under way."""
        self._stopping.set()

    def run(self) -> None:
        """Prepare once, then tick until `stop`."""
        trouble, wait_s = Trouble("workshop", _log), 0.0
        while not self._stopping.wait(wait_s):
            try:
                if not self._prepared:
                    self._load.prepare()
                    self._prepared = True
                self._load.tick()
                trouble.over()
                wait_s = EVERY_S
            except EchoMQError as fault:
                wait_s = trouble.met(fault)


class Command(BaseCommand):
    """Plays codemojex until SIGTERM."""

    help = "Make the load of the demo: guesses, rounds, messages that fall due. Gentle and bounded."

    def add_arguments(self, parser: ArgumentParser) -> None:
        """The command's words."""
        parser.add_argument("--bus", help="a configured bus or a URL, by default the first")

    def handle(self, *_args: Any, **options: Any) -> None:
        """Run until told to end."""
        logging.basicConfig(level=logging.INFO, format="%(asctime)s %(levelname)s %(message)s")
        bus = serving(options["bus"], self.stderr.write)
        lease = NodeLease()
        run_until_signalled([Play(Load(bus, lease.mint))], self.stdout.write)
        bus.run(lease.release())
        bus.close()
