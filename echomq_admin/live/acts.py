"""An action asked for over the socket: the same door as the POST, the answer as a frame."""

from __future__ import annotations

from typing import Any

from channels.db import database_sync_to_async

from echomq_admin.heard import texts
from echomq_admin.live.page import BadParameter


async def act(user: Any, wanted: Any) -> dict[str, Any]:
    """Perform `{action, id, target: {bus, queue, item, …}, params}`, raw names as ~base64url.
    The answer is a frame of topic `act` whose data repeats the id."""
    asked = wanted if isinstance(wanted, dict) else {}
    try:
        # On a thread of its own: while this waits for a bus, other sockets open and close.
        answer = await database_sync_to_async(_perform, thread_sensitive=False)(user, asked)
    except BadParameter as fault:
        answer = {"outcome": "invalid", "sentence": f"{fault}."}
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
    from echomq_admin.actions.perform import perform
    from echomq_admin.views.asked import target_of

    target, params = asked.get("target"), asked.get("params", {})
    if not isinstance(target, dict) or not isinstance(params, dict) or not asked.get("id"):
        raise BadParameter("an act has an id, a target, and parameters by name")
    answer = perform(
        user,
        str(asked.get("action")),
        target_of(texts(target)),
        texts(params),
        request_id=str(asked["id"]),
        source="socket",
    )
    return {
        "outcome": answer.outcome.word,
        "word": answer.word,
        "sentence": answer.sentence,
        "audit_id": answer.audit_id,
    }
