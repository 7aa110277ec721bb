"""Why is this job not running? One sentence from facts, as a pure function.

A sentence is a line of parts, so that a page can set figures apart, let moments run by the clock
of the bus and pass what a handler wrote through its redaction; nothing here is formatted.
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum

from queue_core.numbers import digits
from queue_core.reads.glance import seems_seconds
from queue_core.reads.standing import LaneStanding, Place, Standing

PROMOTE_GRACE_MS = 3_000
"""A job due for less than this waits for the next beat of a pump; for longer, nothing promotes."""

KNOWN_STATES = frozenset({b"pending", b"active", b"scheduled", b"dead", b"awaiting_children"})


class Reason(Enum):
    """What keeps a job from running, or that nothing does."""

    not_due = "not due"
    due = "due"
    nothing_promotes = "nothing promotes"
    queue_paused = "queue paused"
    lane_paused = "lane paused"
    lane_full = "lane at its limit"
    lane_not_offered = "lane not offered"
    no_worker = "no worker"
    behind_in_lane = "behind in its lane"
    behind_in_pending = "behind in pending"
    next = "next"
    held = "held for children"
    active = "active"
    lease_over = "lease over"
    dead = "dead"
    orphan = "orphan"
    nowhere = "in no set"
    wrong_type = "wrong type"
    gone = "gone"


@dataclass(frozen=True, slots=True)
class Part:
    """A piece of a sentence. `kind` says how its value is to be read: `text` and `strong` words,
    `name` bytes of the bus, `error` bytes a handler wrote, `left` and `past` a moment in ms whose
    distance from now is meant, `clock` a moment as such."""

    kind: str
    value: str | bytes | int


@dataclass(frozen=True, slots=True)
class Why:
    """`state` is where the job is: pending, lane, active, scheduled, dead, awaiting, gone or
    unknown. `odd` are facts that do not fit together: while there are any, nothing is certain."""

    reason: Reason
    state: str
    parts: tuple[Part, ...]
    odd: tuple[str, ...] = ()

    @property
    def word(self) -> str:
        """The state in a word or two."""
        return {"lane": "in its lane", "awaiting": "awaiting children", "unknown": "in no set"}.get(
            self.state, self.state
        )


def _text(words: str) -> Part:
    return Part("text", words)


def _strong(words: str) -> Part:
    return Part("strong", words)


def ordinal(number: int) -> str:
    """1st, 2nd, 3rd, 4th, 11th."""
    if number % 100 in (11, 12, 13):
        return f"{number:,}th"
    return f"{number:,}{ {1: 'st', 2: 'nd', 3: 'rd'}.get(number % 10, 'th') }"


def _before(place: Place) -> tuple[Part, ...]:
    if place.rank == 0:
        return (_strong("nothing before it"),)
    return (_strong(f"{place.rank:,} before it"),)


def _turn(lane: LaneStanding) -> str:
    if lane.turn is not None:
        return f", {ordinal(lane.turn + 1)} in a ring of {lane.ring:,}"
    return f", far back in a ring of {lane.ring:,}" if lane.ring else ""


def _odd(facts: Standing) -> tuple[str, ...]:
    """What does not fit: a state or count no engine writes, or more than one set."""
    odd = []
    sets = facts.sets
    if len(sets) > 1:
        odd.append(f"It is in more than one set: {', '.join(sets)}.")
    if facts.found == "row":
        state = facts.fields.get(b"state")
        if state is None:
            odd.append("Its row says no state.")
        elif state.value not in KNOWN_STATES:
            odd.append("Its row says a state that no engine writes.")
        if facts.number(b"attempts") is None:
            odd.append("Its attempts are no number.")
    return tuple(odd)


def _waiting(facts: Standing, by: str, since_ms: int | None) -> tuple[Reason, tuple[Part, ...]]:
    """Of a job that waits for a claim, flat or in its lane: what comes before all else first."""
    lane = facts.lane if facts.pending is None else None
    place = facts.pending or (lane.place if lane else None)
    assert place is not None
    queue: tuple[Part, ...] = (*_before(place), _text(" in flat pending."))
    if lane:
        queue = (*_before(place), _text(" in lane "), Part("name", lane.name), _text("."))
    if facts.queue_paused:
        told = [_strong("The queue is paused")]
        if by:
            told += [_text(" by "), _strong(by)]
        if since_ms is not None:
            told += [_text(" since "), Part("clock", since_ms)]
        return Reason.queue_paused, (*told, _text(", with "), *queue)
    if lane and lane.parked:
        return Reason.lane_paused, (
            _text("Its lane "), Part("name", lane.name), _strong(" is paused"),
            _text(", with "), *_before(place), _text(" in it."),
        )  # fmt: skip
    if lane and lane.limit is not None and lane.in_flight >= lane.limit:
        return Reason.lane_full, (
            _text("Its lane "), Part("name", lane.name), _text(" is at its limit, "),
            _strong(f"{lane.in_flight:,} of {lane.limit:,}"), _text(": one must end first, with "),
            *_before(place), _text(" in the lane."),
        )  # fmt: skip
    if facts.alive == 0 and facts.running == 0:
        return Reason.no_worker, (
            _strong("No worker was seen"),
            _text(" on this queue lately; it waits with "),
            *queue,
        )
    if lane and lane.turn is None and lane.ring is not None and lane.ring < 10_000:
        return Reason.lane_not_offered, (
            _text("Its lane "), Part("name", lane.name),
            _strong(" is not in the ring"), _text(" although it may be served: no claim will find"),
            _text(" it until the lane is offered again. Pausing and resuming it does that."),
        )  # fmt: skip
    if lane:
        reason = Reason.behind_in_lane if place.rank else Reason.next
        where = (_text(" in lane "), Part("name", lane.name), _text(f"{_turn(lane)}."))
        return reason, (_text("It waits its turn: "), *_before(place), *where)
    if place.rank:
        return Reason.behind_in_pending, (_text("It waits its turn: "), *queue)
    return Reason.next, (_text("It is "), _strong("the next to be claimed"), _text(" of pending."))


def _scheduled(facts: Standing, now_ms: int) -> tuple[Reason, tuple[Part, ...]]:
    assert facts.schedule is not None
    due = facts.schedule.at_ms
    if due is None:
        overdue = facts.schedule.score.startswith("-")
        words = "overdue since ever" if overdue else "never due"
        return (Reason.nothing_promotes if overdue else Reason.not_due), (
            _text("Its run-at is infinite: it is "),
            _strong(words),
            _text("."),
        )
    if due > now_ms:
        tries = facts.number(b"attempts")
        parts = [_text("It is not due for "), Part("left", due), _text(".")]
        if tries and facts.text(b"last_error") is not None:
            parts += [
                _text(f" Try {tries:,} failed and put it at "),
                Part("clock", due),
                _text("."),
            ]
        else:
            parts += [_text(" Its time is "), Part("clock", due), _text(".")]
        if facts.lane:
            parts += [_text(" Then it waits its turn in lane "), Part("name", facts.lane.name)]
            parts += [_text(f"{_turn(facts.lane)}.")]
        return Reason.not_due, tuple(parts)
    if now_ms - due <= PROMOTE_GRACE_MS:
        return Reason.due, (_text("It is "), _strong("due"), _text(": the next promote takes it."))
    late = f": {facts.late:,} jobs of this queue are late."
    if not facts.late or facts.late == 1:
        late = "."
    return Reason.nothing_promotes, (
        _text("It fell due "), Part("past", due), _text(" ago and "),
        _strong("nothing is promoting"), _text(late),
        *(() if not seems_seconds(due) else (
            _text(" Its run-at "), _strong("looks like seconds"),
            _text(" where milliseconds belong."),
        )),
    )  # fmt: skip


def _active(facts: Standing, now_ms: int) -> tuple[Reason, tuple[Part, ...]]:
    assert facts.active is not None
    ends, holder = facts.active.at_ms, facts.holder
    who: tuple[Part, ...] = (_text("A worker"),)
    if holder:
        who = (_text("Worker "), Part("name", holder.worker))
    if ends is not None and ends <= now_ms:
        heard: tuple[Part, ...] = (_text("."),)
        if holder and holder.heard_ms is None:
            heard = (_text(", of whom nothing is heard."),)
        elif holder and holder.heard_ms is not None:
            heard = (_text(", heard of "), Part("past", holder.heard_ms), _text(" ago."))
        return Reason.lease_over, (
            _text("Its lease ended "), Part("past", ends), _text(" ago: it "),
            _strong("waits for the reaper"), _text(". It was held by "),
            *((Part("name", holder.worker),) if holder else (_text("a worker"),)), *heard,
        )  # fmt: skip
    left: tuple[Part, ...] = (_text(" for ever."),)
    if ends is not None:
        left = (_text(" for "), Part("left", ends), _text(" more."))
    unknown = () if holder else (_text(" Who it is was not told."),)
    return Reason.active, (_strong("It is running. "), *who, _text(" holds it"), *left, *unknown)


def _dead(facts: Standing) -> tuple[Reason, tuple[Part, ...]]:
    tries = facts.number(b"attempts")
    counted = f" after {tries:,} {'attempt' if tries == 1 else 'attempts'}" if tries else ""
    error = facts.text(b"last_error")
    said: tuple[Part, ...] = (_text(", and no error was written."),)
    if error is not None:
        said = (_text(": "), Part("error", error))
    return Reason.dead, (_text("It is "), _strong("dead"), _text(counted), *said)


def _nowhere(facts: Standing) -> tuple[Reason, tuple[Part, ...]]:
    """Of a job that no set names."""
    if facts.found == "none":
        return Reason.gone, (
            _text("There is "), _strong("no such job"), _text(": no row and no set names it."),
            _text(" It has completed, was removed, or never was."),
        )  # fmt: skip
    if facts.found != "row":
        return Reason.wrong_type, (
            _text("Under its key stands "), _strong(f"a {facts.found}"), _text(", not a row."),
        )  # fmt: skip
    if facts.text(b"state") == b"awaiting_children":
        left = facts.children_left
        if (many := digits(left)) is not None:
            told = f"{many:,} {'child' if many == 1 else 'children'}"
            return Reason.held, (_text("It is held for "), _strong(told), _text("."))
        return Reason.held, (
            _text("It is "), _strong("held for its children"), _text(", whose count is not there."),
        )  # fmt: skip
    return Reason.nowhere, (
        _text("It has a row, but "), _strong("no set names it"), _text(": nothing will claim it."),
    )  # fmt: skip


def _orphan(facts: Standing) -> tuple[Reason, tuple[Part, ...]]:
    where = {"schedule": "the schedule", "lane": "its lane"}.get(facts.sets[0], facts.sets[0])
    return Reason.orphan, (
        _strong("It has no row any more"),
        _text(f": {where} still names it, but its payload is gone. A claim drops it."),
    )


def _state(facts: Standing) -> str:
    """Where it is: the first set that names it, in the wire's own order."""
    if facts.sets:
        return {"schedule": "scheduled"}.get(facts.sets[0], facts.sets[0])
    if facts.found == "none":
        return "gone"
    return "awaiting" if facts.text(b"state") == b"awaiting_children" else "unknown"


def explain(
    facts: Standing, now_ms: int, paused_by: str = "", paused_since_ms: int | None = None
) -> Why:
    """The sentence for one job. Set membership decides, as everywhere; the row's own state is
    only advice. `paused_by` and `paused_since_ms` tell who paused the queue, where it is known."""
    state = _state(facts)
    odd = _odd(facts)
    if facts.sets and facts.found == "none":
        reason, parts = _orphan(facts)
    elif state in ("gone", "awaiting", "unknown") or facts.found != "row":
        reason, parts = _nowhere(facts)
    elif state == "active":
        reason, parts = _active(facts, now_ms)
    elif state == "dead":
        reason, parts = _dead(facts)
    elif state == "scheduled":
        reason, parts = _scheduled(facts, now_ms)
    else:
        reason, parts = _waiting(facts, paused_by, paused_since_ms)
    return Why(reason, state, parts, odd)
