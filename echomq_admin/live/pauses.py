"""Who paused a queue: the bus does not say, our audit does where it was done here."""

from __future__ import annotations

import logging
from collections.abc import Mapping, Sequence

from channels.db import database_sync_to_async
from django.db import DatabaseError
from django.db.models import Max, Q
from django.utils import timezone

from echomq_admin.live.scene import Scene

log = logging.getLogger(__name__)

AT_ONCE = 200
"""Queues looked up together; the others follow with the next tick."""


async def note_pauses(scene: Scene) -> None:
    """Look up, once per pause, who paused the queues that are paused now."""
    queues = scene.unexplained()[:AT_ONCE]
    if not queues:
        return
    found: Mapping[bytes, tuple[str, int | None]] = {}
    try:
        # Not on the thread that sockets share, where an act may wait for a bus that hangs.
        asked = database_sync_to_async(_paused, thread_sensitive=False)
        found = await asked(scene.bus, queues)
    except DatabaseError as fault:
        log.info("who paused queues of %s is not known: %s", scene.bus, fault)
    for queue in queues:
        scene.note_pauser(queue, *found.get(queue, ("", None)))


def _paused(bus: str, queues: Sequence[bytes]) -> dict[bytes, tuple[str, int | None]]:
    """By queue the last one who paused it from here, and when (host ms); nobody where the last
    word was to resume, so that somebody else paused it since. A pause that is in hand counts: the
    bus may show it before the audit is closed."""
    from echomq_admin.models import IN_HAND, AuditEntry

    counts = Q(outcome="done") | Q(outcome="", opened_at__gte=timezone.now() - IN_HAND)
    last = (
        AuditEntry.objects.filter(
            counts, bus=bus, queue__in=queues, action__in=("pause_queue", "resume_queue")
        )
        .order_by()
        .values("queue")
        .annotate(last=Max("pk"))
    )
    entries = AuditEntry.objects.filter(pk__in=[one["last"] for one in last], action="pause_queue")
    return {
        bytes(entry.queue): (
            entry.who,
            round((entry.closed_at or entry.opened_at).timestamp() * 1000),
        )
        for entry in entries
    }
