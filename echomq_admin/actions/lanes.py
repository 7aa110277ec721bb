"""Actions on a lane: pause, resume, limit, weight."""

from __future__ import annotations

from typing import Any

from django import forms

from echomq_admin.actions.action import Action, OnQueue, Order, Result, Shown, Subject, Target
from queue_core.errors import EchoMQError
from queue_core.outcomes import Word
from queue_core.plans import Plan
from queue_core.reads.ring import Lane, Ring, ring
from queue_core.reads.snapshot import Snapshot
from queue_core.verbs import lanes

MOST = 10**9
"""A limit or weight beyond any fleet; typing slips end here."""


class Limit(OnQueue):
    """How many jobs of the lane may run at once; empty lifts the limit."""

    limit = forms.IntegerField(
        required=False, min_value=1, max_value=MOST, label="Jobs in flight, at most"
    )
    field_order = ["limit", "reason"]


class Weight(OnQueue):
    """How many jobs a weighted claim takes at the lane's turn; empty puts it back to 1."""

    weight = forms.IntegerField(
        required=False, min_value=1, max_value=MOST, label="Jobs taken at its turn, at most"
    )
    field_order = ["weight", "reason"]


def _pause(order: Order) -> Plan[Result]:
    return Result((yield from lanes.pause(order.target.keys, order.target.item)))


def _resume(order: Order) -> Plan[Result]:
    return Result((yield from lanes.resume(order.target.keys, order.target.item)))


def _limit(order: Order) -> Plan[Result]:
    target, ceiling = order.target, order.values["limit"]
    word = yield from lanes.limit(target.keys, target.item, ceiling, order.expect or None)
    if word is Word.moved:
        return (yield from _another(target, "limit"))
    became = "has no limit any more" if ceiling is None else f"runs at most {ceiling:,} at once"
    return Result(word, facts={"became": became})


def _weight(order: Order) -> Plan[Result]:
    target, share = order.target, order.values["weight"]
    word = yield from lanes.weight(target.keys, target.item, share, order.expect or None)
    if word is Word.moved:
        return (yield from _another(target, "weight"))
    return Result(word, facts={"became": f"gives up to {share or 1:,} at its turn"})


def _look(target: Target) -> Plan[Snapshot[Ring]]:
    return (yield from ring(target.keys, focus=target.item, window=1))


def _set(lane: Lane | None) -> dict[str, str]:
    """What is set of a lane, as a form holds it."""
    limit, weight = (lane.limit, lane.weight) if lane else (None, None)
    return {
        "limit": "" if limit is None else str(limit),
        "weight": "" if weight is None else str(weight),
    }


def _another(target: Target, field: str) -> Plan[Result]:
    """A form that has stood open while somebody else set the lane wrote nothing over that."""
    changed = f"Its {field} was changed meanwhile"
    try:
        seen = yield from _look(target)
    except EchoMQError:
        return Result(Word.moved, f"{changed}; what it is now could not be read. Nothing written.")
    held = _set(seen.value.named(target.item))[field] or lanes.UNSET
    return Result(Word.moved, f"{changed}: it is {held}. Nothing written.")


def _describe_limit(target: Target, seen: Snapshot[Ring]) -> Shown:
    return _describe(target, seen, "limit")


def _describe_weight(target: Target, seen: Snapshot[Ring]) -> Shown:
    return _describe(target, seen, "weight")


def _describe(target: Target, seen: Snapshot[Ring], field: str) -> Shown:
    lane = seen.value.named(target.item)
    was = _set(lane)
    expect = was[field] or lanes.UNSET
    if lane is None:
        notes = ("Nothing is known of this lane yet.",)
        return Shown(notes=notes, expect=expect, at_ms=seen.at_ms)
    facts: tuple[tuple[str, Any], ...] = (
        ("Waiting", "unknown" if lane.depth is None else f"{lane.depth:,}"),
        ("In flight", f"{lane.in_flight:,}"),
        ("Limit", "none" if lane.limit is None else f"{lane.limit:,}"),
        ("Weight", f"{lane.takes:,}"),
    )
    notes = ("It is paused.",) if lane.parked else ()
    return Shown(facts, notes, expect=expect, was=was, at_ms=seen.at_ms)


PAUSE = Action(
    name="pause_lane",
    word="Pause lane",
    title="Pause the lane",
    icon="pause",
    permission="manage_lanes",
    subject=Subject.lane,
    form=OnQueue,
    plan=_pause,
    says={
        Word.ok: "Lane {item} is paused. What is in flight runs on.",
        Word.noop: "Lane {item} was paused already. Nothing written.",
    },
    inverse=lambda _order, _result: ("resume_lane", {}),
    dialog=False,
)
RESUME = Action(
    name="resume_lane",
    word="Resume lane",
    title="Resume the lane",
    icon="play",
    permission="manage_lanes",
    subject=Subject.lane,
    form=OnQueue,
    plan=_resume,
    says={
        Word.ok: "Lane {item} is resumed and offered.",
        Word.noop: "Lane {item} was not paused; it is offered.",
    },
    inverse=lambda _order, _result: ("pause_lane", {}),
    dialog=False,
)
LIMIT = Action(
    name="limit_lane",
    word="Limit…",
    title="Limit the lane",
    icon="limit",
    permission="manage_lanes",
    subject=Subject.lane,
    plan=_limit,
    says={
        Word.ok: "Lane {item} {became}.",
        Word.noop: "It was so already: lane {item} {became}. Nothing written.",
    },
    form=Limit,
    look=_look,
    describe=_describe_limit,
)
WEIGHT = Action(
    name="weight_lane",
    word="Weight…",
    title="Weigh the lane",
    icon="weight",
    permission="manage_lanes",
    subject=Subject.lane,
    plan=_weight,
    says={
        Word.ok: "Lane {item} {became}, where claims are weighted.",
        Word.noop: "It was so already: lane {item} {became}. Nothing written.",
    },
    form=Weight,
    look=_look,
    describe=_describe_weight,
)

ACTIONS = (PAUSE, RESUME, LIMIT, WEIGHT)
