"""Verb by state: where it leads, or why it is refused.

Told once, for the console's buttons, the drawing in docs/wire.md and the tests. `VERBS` is what
somebody does to one job; `MOVES` is what claims and time do to the jobs they find.
"""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from enum import StrEnum
from types import MappingProxyType

from queue_core.outcomes import OUTCOME_OF, Outcome, Word


class State(StrEnum):
    """Where a job is, as the sets say (protocol part 5.1)."""

    pending = "pending"
    in_lane = "in_lane"
    """Waits in its lane. Ours: the wire's closed list says unknown."""
    active = "active"
    scheduled = "scheduled"
    dead = "dead"
    awaiting_children = "awaiting_children"
    """A flow's parent, in no set until its children are done."""
    unknown = "unknown"
    """A row that no set names."""
    absent = "absent"
    """No row."""


@dataclass(frozen=True, slots=True)
class Step:
    """What a verb answers in one state, the states it may leave behind, and a sentence where it
    is refused or does something one may not expect."""

    word: Word
    to: tuple[State, ...]
    why: str = ""

    @property
    def allowed(self) -> bool:
        """Whether it changes something."""
        return OUTCOME_OF[self.word] is Outcome.done


_S = State
_PLACED = (_S.pending, _S.in_lane)
_BY_TOKEN = "Whoever holds the present token settles, wherever the job is."  # noqa: S105
_NO_ROW = "There is no such job."
_RUNS = "A worker holds it."
_WAITS = "It waits to be claimed."
_HELD = "It waits for its children."
_TIMED = "It has a time to run at."
_DEAD = "It is dead: retry it first."
_LOST = "No set names it: no engine will ever run it."
_TAKEN = "The id has a row already."
_NOT_HELD = "Its lease ended: it is not held any more."


_THERE = tuple(state for state in State if state is not _S.absent)
_GONE = Step(Word.gone, (_S.absent,), _NO_ROW)
_WHY = {
    _S.pending: _WAITS,
    _S.in_lane: _WAITS,
    _S.active: _RUNS,
    _S.awaiting_children: _HELD,
    _S.unknown: _LOST,
}


def _table(absent: Step, *there: Mapping[State, Step]) -> Mapping[State, Step]:
    """The steps from every state: of several that are told for one, the last stands."""
    table = {_S.absent: absent}
    for steps in there:
        table |= steps
    return MappingProxyType(table)


def _from(states: Iterable[State], word: Word, *to: State, why: str = "") -> dict[State, Step]:
    return {state: Step(word, to or (state,), why) for state in states}


def _refused(word: Word, why: Mapping[State, str]) -> dict[State, Step]:
    return {state: Step(word, (state,), reason) for state, reason in why.items()}


def _admits(word: Word, to: State) -> Mapping[State, Step]:
    return _table(Step(word, (to,)), _from(_THERE, Word.duplicate, why=_TAKEN))


def _settles(word: Word, to: State) -> Mapping[State, Step]:
    return _table(_GONE, _from(_THERE, word, to, why=_BY_TOKEN))


_CHANGES_THE_ROW = _table(_GONE, _from(_THERE, Word.ok))

VERBS: Mapping[str, Mapping[State, Step]] = MappingProxyType(
    {
        "enqueue": _admits(Word.enqueued, _S.pending),
        "enqueue_at": _admits(Word.scheduled, _S.scheduled),
        "lane_enqueue": _admits(Word.enqueued, _S.in_lane),
        "complete": _settles(Word.ok, _S.absent),
        "retry": _settles(Word.scheduled, _S.scheduled),
        "retry_at_cap": _settles(Word.dead, _S.dead),
        "delay": _settles(Word.ok, _S.scheduled),
        "extend_lock": _table(
            _GONE,
            _from(_THERE, Word.not_held, why=_NOT_HELD),
            _from([_S.active], Word.ok),
        ),
        "update_data": _CHANGES_THE_ROW,
        "update_progress": _CHANGES_THE_ROW,
        "add_log": _CHANGES_THE_ROW,
        "remove_job": _table(_GONE, _from(_THERE, Word.ok, _S.absent)),
        "reprocess_job": _table(
            _GONE,
            _from([_S.dead], Word.ok, *_PLACED),
            _refused(Word.not_dead, _WHY | {_S.scheduled: _TIMED}),
        ),
        "reschedule": _table(
            _GONE,
            _from([_S.scheduled], Word.ok),
            _refused(Word.not_scheduled, _WHY | {_S.dead: _DEAD}),
        ),
        "run_now": _table(
            _GONE,
            _from([_S.scheduled], Word.ok, *_PLACED),
            _refused(Word.not_scheduled, _WHY | {_S.dead: _DEAD}),
            _from([_S.pending, _S.in_lane], Word.noop, why=_WAITS),
            _from([_S.active], Word.noop, why=_RUNS),
        ),
        "lane_reassign": _table(
            Step(Word.not_found, (_S.absent,), _NO_ROW),
            _refused(Word.not_pending, _WHY | {_S.scheduled: _TIMED, _S.dead: _DEAD}),
            _from([_S.pending], Word.not_pending, why="It waits outside the lanes."),
            _from([_S.in_lane], Word.reassigned),
        ),
    }
)
"""Verbs on one job. Token verbs are told for the present token: another answers `stale`.
`lane_reassign` is told for a job that has a lane: without one it is `not_found`; into the lane
where it is, `noop`. `retry_at_cap` is `retry` whose attempts are used up."""

MOVES: Mapping[str, Mapping[State, tuple[State, ...]]] = MappingProxyType(
    {
        "claim": {_S.pending: (_S.active,)},
        "lane_claim": {_S.in_lane: (_S.active,)},
        "promote": {_S.scheduled: _PLACED},
        "reap": {_S.active: _PLACED},
        "check_stalled": {_S.active: (*_PLACED, _S.dead)},
        "fan_in": {_S.awaiting_children: (_S.pending,)},
        "fail_parent": {_S.awaiting_children: (_S.dead,), _S.pending: (_S.dead,)},
    }
)
"""What claims, time and flows do, by the state a job is found in; in any other they leave it."""


def step(verb: str, state: State) -> Step:
    """What a verb does to a job in that state. `KeyError` for a verb the table does not know."""
    return VERBS[verb][state]
