"""Telling whoever listens what became of a job (protocol part 5.2). At most once, kept nowhere."""

import json
from collections.abc import Mapping

from queue_core import ids
from queue_core.errors import InvalidError
from queue_core.keys import QueueKeys
from queue_core.plans import Call, Plan

_OWN = {"event", "job"}


def publish(
    q: QueueKeys, event: str, job_id: bytes | str, extras: Mapping[str, str] | None = None
) -> Plan[int]:
    """Publish one event of a job to the queue's channel: one flat JSON object of texts, fully
    escaped (part 10, row 46). Answers how many heard it on the server that was told.

    Raises `InvalidError` before anything is sent for an ill-formed id, and for extras that are no
    text or are called `event` or `job`.
    """
    told = {"event": event, "job": ids.check(job_id).decode("ascii")}
    for name, value in (extras or {}).items():
        if name in _OWN or not isinstance(value, str):
            raise InvalidError(f"an event's extras are texts beside event and job, got {name!r}")
        told[name] = value
    return int((yield Call("PUBLISH", (q.events,), (json.dumps(told, separators=(",", ":")),))))
