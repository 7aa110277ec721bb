"""Verb by state: where it leads, or why it is refused.

Told once, for the console's buttons, the drawing in docs/wire.md and the tests. `VERBS` is what
somebody does to one job; `MOVES` is what claims and time do to the jobs they find.
"""

from collections.abc import Mapping
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
_LOST = "No set names it: no engine will ever run it."
_TAKEN = "The id has a row already."
_NOT_HELD = "Its lease ended: it is not held any more."


def _everywhere(step: Step, absent: Step, **other: Step) -> Mapping[State, Step]:
    table = {state: other.get(state.value, step) for state in State}
    return MappingProxyType(table | {State.absent: absent})


def _stays(word: Word, why: Mapping[State, str]) -> dict[str, Step]:
    return {state.value: Step(word, (state,), reason) for state, reason in why.items()}


def _in_place(word: Word = Word.ok) -> dict[str, Step]:
    return {state.value: Step(word, (state,)) for state in State if state is not State.absent}


_GONE = Step(Word.gone, (_S.absent,), _NO_ROW)
_WORDS = {
    _S.pending: _WAITS, _S.in_lane: _WAITS, _S.active: _RUNS, _S.awaiting_children: _HELD,
    _S.unknown: _LOST,
}  # fmt: skip

VERBS: Mapping[str, Mapping[State, Step]] = MappingProxyType(
    {
        "enqueue": _everywhere(
            _GONE,
            Step(Word.enqueued, (_S.pending,)),
            **_stays(Word.duplicate, {state: _TAKEN for state in State if state is not _S.absent}),
        ),
        "enqueue_at": _everywhere(
            _GONE,
            Step(Word.scheduled, (_S.scheduled,)),
            **_stays(Word.duplicate, {state: _TAKEN for state in State if state is not _S.absent}),
        ),
        "lane_enqueue": _everywhere(
            _GONE,
            Step(Word.enqueued, (_S.in_lane,)),
            **_stays(Word.duplicate, {state: _TAKEN for state in State if state is not _S.absent}),
        ),
        "complete": _everywhere(Step(Word.ok, (_S.absent,), _BY_TOKEN), _GONE),
        "retry": _everywhere(Step(Word.scheduled, (_S.scheduled,), _BY_TOKEN), _GONE),
        "retry_at_cap": _everywhere(Step(Word.dead, (_S.dead,), _BY_TOKEN), _GONE),
        "delay": _everywhere(Step(Word.ok, (_S.scheduled,), _BY_TOKEN), _GONE),
        "extend_lock": _everywhere(
            Step(Word.ok, (_S.active,)),
            _GONE,
            **_stays(
                Word.not_held,
                {state: _NOT_HELD for state in State if state not in (_S.active, _S.absent)},
            ),
        ),
        "update_data": _everywhere(_GONE, _GONE, **_in_place()),
        "update_progress": _everywhere(_GONE, _GONE, **_in_place()),
        "add_log": _everywhere(_GONE, _GONE, **_in_place()),
        "remove_job": _everywhere(Step(Word.ok, (_S.absent,)), _GONE),
        "reprocess_job": _everywhere(
            Step(Word.ok, _PLACED),
            _GONE,
            **_stays(Word.not_dead, _WORDS | {_S.scheduled: "It has a time to run at."}),
        ),
        "reschedule": _everywhere(
            Step(Word.ok, (_S.scheduled,)),
            _GONE,
            **_stays(Word.not_scheduled, _WORDS | {_S.dead: "It is dead: retry it instead."}),
        ),
        "run_now": _everywhere(
            Step(Word.ok, _PLACED),
            _GONE,
            **_stays(
                Word.noop, {state: _WORDS[state] for state in (_S.pending, _S.in_lane, _S.active)}
            ),
            **_stays(
                Word.not_scheduled,
                {
                    _S.dead: "It is dead: retry it instead.",
                    _S.awaiting_children: _HELD,
                    _S.unknown: _LOST,
                },
            ),
        ),
        "lane_reassign": _everywhere(
            Step(Word.reassigned, (_S.in_lane,)),
            Step(Word.not_found, (_S.absent,), _NO_ROW),
            **_stays(
                Word.not_pending,
                {
                    _S.pending: "It waits outside the lanes.",
                    _S.active: _RUNS,
                    _S.scheduled: "It has a time to run at.",
                    _S.dead: "It is dead.",
                    _S.awaiting_children: _HELD,
                    _S.unknown: _LOST,
                },
            ),
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
