"""An action asked for over the socket: the same door as the POST, the answer as a frame."""

from __future__ import annotations

from typing import Any

from channels.db import database_sync_to_async

from echomq_admin.live.page import BadParameter, from_path


async def act(user: Any, wanted: Any) -> dict[str, Any]:
    """Perform `{action, id, target: {bus, queue, item, …}, params}`, raw names as ~base64url.
    The answer is a frame of topic `act` whose data repeats the id."""
    asked = wanted if isinstance(wanted, dict) else {}
    try:
        # On a thread of its own: while this waits for a bus, other sockets open and close.
        answer = await database_sync_to_async(_perform, thread_sensitive=False)(user, asked)
    except (BadParameter, TypeError, KeyError) as fault:
        answer = {"outcome": "invalid", "sentence": f"{fault}"}
    return {
        "v": 1,
        "topic": "act",
        "seq": 0,
        "at_ms": None,
        "age_ms": None,
        "complete": True,
        "why": "",
        "html": {},
        "data": {"act": {"id": asked.get("id"), **answer}},
    }


def _perform(user: Any, asked: dict[str, Any]) -> dict[str, Any]:
    from echomq_admin.actions.perform import Target, perform

    named = dict(asked["target"])
    bus = str(named.pop("bus", ""))
    target = Target(bus=bus, **{name: from_path(str(part)) for name, part in named.items()})
    answer = perform(
        user,
        str(asked["action"]),
        target,
        dict(asked.get("params", {})),
        request_id=str(asked["id"]),
        source="socket",
    )
    return {
        "outcome": answer.outcome.word,
        "word": answer.word,
        "sentence": answer.sentence,
        "audit_id": answer.audit_id,
    }
