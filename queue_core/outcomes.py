"""What a verb may answer, in the wire's words, and what each means to an operator.

A refusal is a value, never an exception. `Word` is the closed list of verdicts
(protocol part 4); `Outcome` is the closed list a console, an API and a shell show.
`OUTCOME_OF` is the one table between them.
"""

from enum import Enum, StrEnum


class Word(StrEnum):
    """A verdict as the wire says it."""

    # something changed
    ok = "ok"
    enqueued = "enqueued"
    scheduled = "scheduled"
    dead = "dead"
    registered = "registered"
    advanced = "advanced"
    cancelled = "cancelled"
    fired = "fired"
    reassigned = "reassigned"
    more = "more"
    # nothing had to change
    duplicate = "duplicate"
    exists = "exists"
    noop = "noop"
    # refused: the thing is not there
    gone = "gone"
    absent = "absent"
    not_found = "not_found"
    # refused: it is there, but not as expected
    stale = "stale"
    not_dead = "not_dead"
    not_paused = "not_paused"
    not_pending = "not_pending"
    not_scheduled = "not_scheduled"
    not_held = "not_held"
    moved = "moved"
    active = "active"
    paused = "paused"
    rate = "rate"
    nonmonotonic = "nonmonotonic"
    # refused: somebody holds it
    locked = "locked"
    # refused: the words of the call are wrong
    kind = "kind"
    invalid = "invalid"
    unknown_state = "unknown_state"
    flow_cycle = "flow_cycle"
    flow_too_deep = "flow_too_deep"
    # refused: the bus cannot take it now
    unavailable = "unavailable"


class Outcome(Enum):
    """What became of an action: `(word, HTTP status, exit code of a command)`."""

    done = ("done", 200, 0)
    already = ("already", 200, 0)
    invalid = ("invalid", 422, 2)
    gone = ("gone", 404, 4)
    wrong_state = ("wrong-state", 409, 5)
    locked = ("locked", 423, 6)
    not_permitted = ("not-permitted", 403, 7)
    unavailable = ("unavailable", 503, 8)
    unknown = ("unknown", 504, 9)

    def __init__(self, word: str, status: int, exit_code: int) -> None:
        self.word = word
        self.status = status
        self.exit_code = exit_code


OUTCOME_OF: dict[Word, Outcome] = {
    Word.ok: Outcome.done,
    Word.enqueued: Outcome.done,
    Word.scheduled: Outcome.done,
    Word.dead: Outcome.done,
    Word.registered: Outcome.done,
    Word.advanced: Outcome.done,
    Word.cancelled: Outcome.done,
    Word.fired: Outcome.done,
    Word.reassigned: Outcome.done,
    Word.more: Outcome.done,
    Word.duplicate: Outcome.already,
    Word.exists: Outcome.already,
    Word.noop: Outcome.already,
    Word.gone: Outcome.gone,
    Word.absent: Outcome.gone,
    Word.not_found: Outcome.gone,
    Word.stale: Outcome.wrong_state,
    Word.not_dead: Outcome.wrong_state,
    Word.not_paused: Outcome.wrong_state,
    Word.not_pending: Outcome.wrong_state,
    Word.not_scheduled: Outcome.wrong_state,
    Word.not_held: Outcome.wrong_state,
    Word.moved: Outcome.wrong_state,
    Word.active: Outcome.wrong_state,
    Word.paused: Outcome.wrong_state,
    Word.rate: Outcome.wrong_state,
    Word.nonmonotonic: Outcome.wrong_state,
    Word.locked: Outcome.locked,
    Word.kind: Outcome.invalid,
    Word.invalid: Outcome.invalid,
    Word.unknown_state: Outcome.invalid,
    Word.flow_cycle: Outcome.invalid,
    Word.flow_too_deep: Outcome.invalid,
    Word.unavailable: Outcome.unavailable,
}
