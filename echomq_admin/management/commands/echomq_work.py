"""`manage.py echomq_work`: a worker process."""

from __future__ import annotations

import logging
from argparse import ArgumentParser
from collections.abc import Mapping
from typing import Any, cast

from django.core.management.base import BaseCommand, CommandError

from echomq_admin import config
from echomq_admin.working import handlers
from echomq_admin.working.buses import serving
from echomq_admin.workshop.handlers import POLICY
from echomq_admin.workshop.handlers import Handlers as Workshop
from queue_core.bus import Bus
from queue_core.errors import InvalidError
from queue_core.nodes import NodeLease
from queue_core.work.consumer import Consumer
from queue_core.work.hands import Handler
from queue_core.work.loops import BEAT_MS, DEFAULT_POLICY, DRAIN_S, LEASE_MS
from queue_core.work.metronome import Metronome
from queue_core.work.rounds import Handlers
from queue_core.work.serving import Policy
from queue_core.work.signals import Loop, run_until_signalled
from queue_core.work.task_hands import AsyncHandler


class Command(BaseCommand):
    """Serves queues until SIGTERM: what is in hand is settled, nothing more is claimed. Each has
    hands of its own, or a metronome's in common."""

    help = "Serve queues with handlers: QUEUE=dotted.path each, by default ECHOMQ_HANDLERS."

    def add_arguments(self, parser: ArgumentParser) -> None:
        """The command's words."""
        parser.add_argument("handlers", nargs="*", metavar="QUEUE=HANDLER")
        parser.add_argument("--workshop", action="store_true", help="serve the demo's queues")
        parser.add_argument("--bus", help="a configured bus or a URL, by default the first")
        parser.add_argument(
            "--concurrency", type=int, default=4,
            help="jobs of each queue at once; of all of them with --metronome",
        )  # fmt: skip
        parser.add_argument(
            "--metronome", action="store_true", help="one set of hands serves all the queues"
        )
        parser.add_argument(
            "--most", type=int, help="with --metronome: jobs of one queue at once, by default all"
        )
        parser.add_argument("--lease-ms", type=int, default=LEASE_MS)
        parser.add_argument("--beat-ms", type=int, default=BEAT_MS)
        parser.add_argument("--drain-s", type=float, default=DRAIN_S)

    def handle(self, *_args: Any, **options: Any) -> None:
        """Run until told to end."""
        logging.basicConfig(level=logging.INFO, format="%(asctime)s %(levelname)s %(message)s")
        if options["concurrency"] < 1:
            raise CommandError("--concurrency takes a number from 1.")
        if options["most"] is not None and not options["metronome"]:
            raise CommandError("--most goes with --metronome.")
        try:
            words = handlers.pairs(options["handlers"]) or dict(config.handlers())
            chosen = handlers.named(words)
        except InvalidError as error:
            raise CommandError(str(error)) from None
        if not chosen and not options["workshop"]:
            raise CommandError(
                "Nothing to serve: give QUEUE=dotted.path.to.handler, or set ECHOMQ_HANDLERS."
            )
        bus = serving(options["bus"], self.stderr.write)
        lease = NodeLease()
        policy = DEFAULT_POLICY
        if options["workshop"]:
            chosen, policy = Workshop(bus, lease.mint).by_queue(), POLICY
        try:
            loops = self._loops(bus, chosen, policy, options)
        except InvalidError as error:
            raise CommandError(str(error)) from None
        self.stdout.write(f"Serving {', '.join(name.decode() for name in chosen)}")
        ended_well = run_until_signalled(loops, self.stdout.write)
        bus.run(lease.release())
        bus.close()
        if not ended_well:
            raise CommandError("Not every job in hand was settled in time; they return by lease.")

    def _loops(
        self,
        bus: Bus,
        chosen: Mapping[bytes, Handler | AsyncHandler],
        policy: Policy,
        options: dict[str, Any],
    ) -> list[Loop]:
        """A consumer for each queue, or one metronome for all of them."""
        terms: Any = {
            "lease_ms": options["lease_ms"], "beat_ms": options["beat_ms"],
            "drain_s": options["drain_s"], "policy": policy,
        }  # fmt: skip
        at_once = options["concurrency"]
        if options["metronome"]:
            handlers = cast(Handlers, chosen)
            return [Metronome(bus, handlers, workers=at_once, most=options["most"], **terms)]
        return [
            Consumer(bus, name, handler, concurrency=at_once, **terms)
            for name, handler in chosen.items()
        ]
