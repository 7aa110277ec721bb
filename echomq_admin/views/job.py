"""One job: what its id says, where it stands and why, and everything its row holds."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any

from django.http import HttpRequest, HttpResponse
from django.views.decorators.http import require_safe

from echomq_admin.charts.machine import machine
from echomq_admin.live.page import BadParameter, Page, Shaped, Watch, from_path, to_path
from echomq_admin.live.scene import Scene
from echomq_admin.payload_view import VIEWS, PayloadView, payload_view
from echomq_admin.redaction import MASK, Shown, Veil, is_secret
from echomq_admin.views.listing import trouble
from echomq_admin.views.show import show
from queue_core import ids, keys
from queue_core.errors import EchoMQError
from queue_core.plans import Plan
from queue_core.reads import standing as standing_read
from queue_core.reads.standing import Standing
from queue_core.reads.why import Reason, Why, explain
from queue_core.states import State, step

_STATE = {
    "pending": State.pending,
    "lane": State.in_lane,
    "active": State.active,
    "scheduled": State.scheduled,
    "dead": State.dead,
    "awaiting": State.awaiting_children,
    "unknown": State.unknown,
    "gone": State.absent,
}

_TOLD = frozenset({b"payload", b"last_error"})
"""Fields with a panel of their own."""

LOG_CHARS = 600

_PLAIN = re.compile(rb"[A-Za-z0-9._-]+")
"""Names that a shell takes as they are."""


@dataclass(frozen=True, slots=True)
class Letter:
    """A letter of the id and where it stands in the drawing, as an attribute is written."""

    char: str
    x: str
    brand: bool


@dataclass(frozen=True, slots=True)
class Verb:
    """A verb of the job: its action, the state it expects, why it is off, if it is, whether it is
    the one that stands out, and the lane that only the address tells."""

    action: str
    expect: str
    off: str
    look: str
    lane: bytes = b""


@dataclass(frozen=True, slots=True)
class FieldRow:
    """A field of the row as the table shows it."""

    name: bytes
    shown: Shown
    size: int
    read: bool


def _clean(raw: Mapping[str, str]) -> tuple[tuple[str, str], ...]:
    kept = []
    if lane := raw.get("lane", ""):
        from_path(lane)
        kept.append(("lane", lane))
    if view := raw.get("view", ""):
        if view not in VIEWS:
            raise BadParameter(f"view is one of {', '.join(VIEWS)}")
        kept.append(("view", view))
    return tuple(kept)


def _look(watch: Watch, _scene: Scene) -> Sequence[Plan[Any]]:
    lane = watch.param("lane")
    q = keys.found(watch.queue)
    return (standing_read.standing(q, watch.item, from_path(lane) if lane else b""),)


def _minted(ms: int) -> str:
    """29 Nov 2026 20:50:38.380, to the millisecond that the id holds."""
    moment = datetime.fromtimestamp(ms / 1000, UTC)
    return f"{moment.day} {moment:%b %Y %H:%M:%S}.{ms % 1000:03}"


def _letters(job_id: bytes) -> list[Letter]:
    return [
        Letter(char, f"{10.1 + 20.2 * at:.1f}", at < 3)
        for at, char in enumerate(job_id.decode("ascii"))
    ]


def _verbs(facts: Standing, why: Why, lane: bytes) -> list[Verb]:
    """Run now, another time, retry, edit, move, remove: as the table of states allows, and none
    but remove where the row does not fit together."""
    state = _STATE[why.state]
    score = facts.schedule.score if facts.schedule else ""
    odd = why.odd[0] if why.odd else ""
    if why.reason is Reason.orphan:
        odd = "Its data is gone."
    wanted = [
        ("run_now", "run_now", "scheduled"),
        ("reschedule", "reschedule", score),
        ("retry_dead", "reprocess_job", "dead"),
        ("edit_payload", "update_data", ""),
        ("remove_job", "remove_job", state.value),
    ]
    if facts.lane is not None:
        wanted.insert(4, ("reassign_lane", "lane_reassign", to_path(facts.lane.name)))
    found = []
    for action, verb, expect in wanted:
        allowed = step(verb, state)
        off = "" if allowed.allowed else allowed.why or "Not in this state."
        if action == "remove_job" and facts.sets:
            off = ""
        elif action != "remove_job" and not off:
            off = odd
        first = not off and action in ("run_now", "retry_dead")
        told = lane if state is State.in_lane and action == "remove_job" else b""
        found.append(Verb(action, expect, off, "primary" if first else "", told))
    return found


def _fields(facts: Standing, veil: Veil) -> list[FieldRow]:
    rows = []
    for name, field in sorted(facts.fields.items()):
        if name in _TOLD:
            continue
        shown = veil.text(field.value) if field.value is not None else Shown("", "too long")
        if is_secret(name.decode("utf-8", "replace"), veil.words):
            shown = Shown(MASK)
        rows.append(FieldRow(name, shown, field.size, field.value is not None))
    return rows


def over(facts: Standing, may_reveal: bool) -> Veil:
    """The veil over a job by its own payload; a job without a row has nothing to hide."""
    field = facts.fields.get(b"payload")
    if field is None:
        return Veil.over(b"", whole=True, may=may_reveal)
    return Veil.over(field.value, whole=field.value is not None, may=may_reveal)


def _drawn(facts: Standing, now_ms: int, watch: Watch, scene: Scene) -> dict[str, Any]:
    why = explain(facts, now_ms, paused_since_ms=scene.paused_since(watch.queue))
    veil = over(facts, watch.may("reveal_payload"))
    payload: PayloadView | None = None
    if field := facts.fields.get(b"payload"):
        payload = payload_view(veil, field.size, watch.param("view"))
    error = facts.fields.get(b"last_error")
    return {
        "job": facts,
        "standing": why,
        "machine": machine(facts, why),
        "veil": veil,
        "why_parts": [
            (part.kind, veil.text(part.value) if part.kind == "error" else part.value)
            for part in why.parts
        ],
        "badge": {"lane": "pending", "awaiting": "unknown", "gone": "unknown"}.get(
            why.state, why.state
        ),
        "payload": payload,
        "error": veil.text(error.value) if error else None,
        "error_size": error.size if error else 0,
        "error_read": error is None or error.value is not None,
        "logs": [veil.text(line[: LOG_CHARS * 4]) for line in facts.logs],
        "logs_left_out": (facts.logs_total or 0) - len(facts.logs),
        "fields": _fields(facts, veil),
        "fields_left_out": facts.fields_total - len(facts.fields),
        "verbs": _verbs(facts, why, from_path(lane) if (lane := watch.param("lane")) else b""),
        "log_chars": LOG_CHARS,
        "command": {"scheduled": "run-now", "dead": "retry"}.get(why.state, ""),
        "coded": not _PLAIN.fullmatch(watch.queue + watch.item),
        "job_tries": facts.number(b"attempts"),
        "copies": payload is not None and _copies(veil, payload),
        "views": [("tree", "Tree"), ("text", "Text"), ("hex", "Hex")],
        "may_reveal": watch.may("reveal_payload"),
    }


def _copies(veil: Veil, payload: PayloadView) -> bool:
    """Whether the page shows the whole of the payload, as a text."""
    if payload.masked or payload.hidden or veil.raw is None:
        return False
    try:
        veil.raw.decode()
    except UnicodeDecodeError:
        return False
    return True


def _shape(watch: Watch, scene: Scene, results: Sequence[Any | EchoMQError]) -> Shaped:
    seen = results[0]
    branded = ids.is_id(watch.item)
    identity = ids.decode(watch.item) if branded else None
    context: dict[str, Any] = {
        "identity": identity,
        "letters": _letters(watch.item) if branded else [],
        "digits": watch.item[3:],
        "minted": _minted(identity.unix_ms) if identity else "",
        "hex": watch.item[:64].hex(" ") + (" …" if len(watch.item) > 64 else ""),
    }
    if isinstance(seen, EchoMQError):
        return Shaped(context | {"job_trouble": trouble(seen)}, complete=False, why=str(seen))
    return Shaped(context | _drawn(seen.value, seen.at_ms, watch, scene), at_ms=seen.at_ms)


JOB = Page(
    name="job",
    title="Job",
    reading="",
    panels={
        "why": "echomq_admin/job/why.html",
        "acts": "echomq_admin/job/acts.html",
        "payload": "echomq_admin/job/payload.html",
        "logs": "echomq_admin/job/logs.html",
        "error": "echomq_admin/job/error.html",
        "row": "echomq_admin/job/row.html",
    },
    look=_look,
    shape=_shape,
    clean=_clean,
)


@require_safe
def job(request: HttpRequest, bus: str, queue: bytes, item: bytes) -> HttpResponse:
    """One job by its id, whatever bytes it is made of."""
    return show(request, JOB, bus, queue, item)
