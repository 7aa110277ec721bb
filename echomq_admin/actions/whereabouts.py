"""Where a job is now: what a dialog shows before the click, and a refusal explains after it."""

from __future__ import annotations

from typing import Any, Literal

from echomq_admin.actions.action import Target
from echomq_admin.actions.moments import shown
from queue_core.errors import EchoMQError
from queue_core.plans import Plan
from queue_core.reads.snapshot import Snapshot
from queue_core.reads.standing import Place, Standing, standing
from queue_core.states import State

Set = Literal["pending", "active", "schedule", "dead", "lane"]

PLACES: dict[str, Set] = {
    State.pending: "pending",
    State.in_lane: "lane",
    State.active: "active",
    State.scheduled: "schedule",
    State.dead: "dead",
}
"""States that are membership of a set, by which set."""

_WORDS = {
    State.pending: "pending",
    State.in_lane: "waiting in its lane",
    State.active: "active",
    State.scheduled: "scheduled",
    State.dead: "dead",
    State.awaiting_children: "waiting for its children",
    State.unknown: "in no set",
    State.absent: "gone",
}


def a_job(state: State) -> str:
    """What a job in this state is, after "it is"."""
    return _WORDS[state]


def state_of(job: Standing) -> State:
    """Where it is by the sets that name it, in the order in which the wire asks them."""
    for state, place in (
        (State.pending, job.pending),
        (State.active, job.active),
        (State.scheduled, job.schedule),
        (State.dead, job.dead),
        (State.in_lane, job.lane.place if job.lane else None),
    ):
        if place is not None:
            return state
    if job.text(b"state") == State.awaiting_children.value.encode():
        return State.awaiting_children
    return State.absent if job.found == "none" else State.unknown


def look(target: Target) -> Plan[Snapshot[Standing]]:
    """All about one job, in one round trip."""
    return (yield from standing(target.keys, target.item, target.lane))


def whereabouts(target: Target) -> Plan[Snapshot[Standing] | None]:
    """The same after an act. None where it cannot be read: the act's own answer stands."""
    try:
        return (yield from standing(target.keys, target.item, target.lane))
    except EchoMQError:
        return None


def _at(place: Place | None) -> str:
    if place is None or place.at_ms is None:
        return "unknown"
    return shown(place.at_ms)


def facts_of(job: Standing) -> tuple[tuple[str, Any], ...]:
    """What a dialog says of a job: where it is, since when or until when, tries, error."""
    state = state_of(job)
    facts: list[tuple[str, Any]] = [("State", a_job(state))]
    if job.found not in ("row", "none"):
        facts.append(("Its row", f"is a {job.found}"))
    if job.found == "none" and job.sets:
        facts.append(("Its row", "is gone"))
    if job.lane is not None:
        facts.append(("Lane", job.lane.name))
    if state is State.scheduled:
        facts.append(("Runs at", _at(job.schedule)))
    if state is State.active:
        facts.append(("Lease ends", _at(job.active)))
        if job.holder is not None:
            facts.append(("Held by", job.holder.worker))
    raw = job.text(b"attempts")
    if raw is not None:
        facts.append(("Attempts", raw))
    return tuple(facts)
