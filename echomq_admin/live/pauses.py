"""Who paused a queue: the bus does not say, our audit does where it was done here."""

from __future__ import annotations

import logging

from asgiref.sync import sync_to_async
from django.db import DatabaseError

from echomq_admin.live.scene import Scene

log = logging.getLogger(__name__)


async def note_pauses(scene: Scene) -> None:
    """Look up, once per pause, who paused the queues that are paused now."""
    for queue in scene.unexplained():
        try:
            who, since_ms = await sync_to_async(_paused)(scene.bus, queue)
        except DatabaseError as fault:
            log.info("who paused %r is not known: %s", queue, fault)
            who, since_ms = "", None
        scene.note_pauser(queue, who, since_ms)


def _paused(bus: str, queue: bytes) -> tuple[str, int | None]:
    """The last one who paused it from here, and when (host ms); nobody where the last word was
    to resume, so that somebody else paused it since."""
    from echomq_admin.models import AuditEntry

    last = (
        AuditEntry.objects.filter(
            bus=bus, queue=queue, outcome="done", action__in=("pause_queue", "resume_queue")
        )
        .order_by("-pk")
        .first()
    )
    if last is None or last.action != "pause_queue":
        return "", None
    at = last.closed_at or last.opened_at
    return last.who, round(at.timestamp() * 1000)
