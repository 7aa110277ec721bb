"""Verbs on a whole queue (protocol part 4.6)."""

from collections.abc import Callable
from typing import Literal

from queue_core.keys import QueueKeys
from queue_core.numbers import whole
from queue_core.outcomes import Word
from queue_core.plans import Plan
from queue_core.replies import word
from queue_core.scripts import script

_PAUSE = script("queue_pause")
_RESUME = script("queue_resume")
_DRAIN = script("queue_drain")
_OBLITERATE = script("queue_obliterate")

STEP_BUDGET = 500
"""Jobs deleted by one script: some two milliseconds, so that others are served in between."""

MOST_A_STEP = 1000
"""Jobs that a step deletes, whatever budget it is given."""


def pause(q: QueueKeys) -> Plan[Word]:
    """Stop claims; held jobs settle as ever, admissions go on. Answers `ok` or `noop`."""
    return word((yield _PAUSE.call((q.meta,), q.base)))


def resume(q: QueueKeys) -> Plan[Word]:
    """Let claims go on. Answers `ok`, or `noop` where the queue was not paused."""
    return word((yield _RESUME.call((q.meta,), q.base)))


def drain(q: QueueKeys, include_schedule: bool = False) -> Plan[int]:
    """Delete the jobs of flat pending, and of the schedule where asked, that are there now;
    answers how many. Lanes, held and dead jobs, repeats and counters stay.

    Bounded scripts, one round trip each, so not one moment: what is admitted meanwhile stays.
    """
    removed = yield from drain_all(lambda budget: drain_step(q, "pending", budget))
    if include_schedule:
        removed += yield from drain_all(lambda budget: drain_step(q, "schedule", budget))
    return removed


def drain_step(
    q: QueueKeys, waiting: Literal["pending", "schedule"], budget: int
) -> Plan[tuple[int, int]]:
    """One step of a drain, of at most `budget` and never over 1000 jobs: how many of the first
    jobs of the set were deleted, and how many are left."""
    key = q.pending if waiting == "pending" else q.schedule
    reply = yield _DRAIN.call((key,), q.base, min(whole(budget, "a budget"), MOST_A_STEP))
    return int(reply[1]), int(reply[2])


def drain_all(step: Callable[[int], Plan[tuple[int, int]]]) -> Plan[int]:
    """Repeat a drain's step until what the first one met is gone; answers how many were."""
    removed, left = yield from step(STEP_BUDGET)
    while left > 0:
        more, still = yield from step(min(left, STEP_BUDGET))
        removed += more
        left = min(left - more, still)
    return removed


def obliterate(q: QueueKeys, force: bool = False, budget: int = 1000) -> Plan[tuple[Word, int]]:
    """Destroy a paused queue, up to `budget` jobs and repeats of it, in bounded scripts.

    Answers `ok` (nothing of it is left, its pause neither), `more` (call again), `not_paused` or
    `active` (jobs are held; `force` destroys them too), and how many were deleted. Streams,
    dedup keys and parents that wait for jobs of other queues stay: nothing leads to them.
    """
    whole(budget, "a budget")
    removed, verdict = 0, Word.more
    while verdict is Word.more and removed < budget:
        keys = (
            q.meta, q.active, q.pending, q.schedule, q.dead, q.ring, q.paused, q.glimit,
            q.gactive, q.gweight, q.repeat,
        )  # fmt: skip
        step = min(budget - removed, STEP_BUDGET)
        reply = yield _OBLITERATE.call(keys, q.base, int(force), step)
        verdict = word(reply)
        removed += int(reply[1]) if len(reply) > 1 else 0
    return verdict, removed
