"""Verbs on a whole queue (protocol part 4.6), and what bounds it (part 4.10)."""

from collections.abc import Callable
from typing import Literal

from queue_core.errors import InvalidError
from queue_core.keys import QueueKeys
from queue_core.numbers import delay, whole
from queue_core.outcomes import Word
from queue_core.plans import Plan
from queue_core.replies import word
from queue_core.scripts import script

_PAUSE = script("queue_pause")
_RESUME = script("queue_resume")
_DRAIN = script("queue_drain")
_OBLITERATE = script("queue_obliterate")
_BOUNDS = script("queue_bounds")
_LOGS = script("queue_logs")

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


def bound(
    q: QueueKeys,
    concurrency: int | None = None,
    rate: int | None = None,
    window_ms: int | None = None,
    *,
    enforce: bool = True,
) -> Plan[Word]:
    """Let at most `concurrency` jobs of the queue be held at once, whoever holds them, and at most
    `rate` be claimed in each `window_ms`; None lifts either. Answers `ok` or `noop`.

    Every claim of ours keeps to them and finds nothing beyond them (part 10, row 22); another
    engine's claims are counted as held and bound by nothing. With `enforce` off the numbers only
    stand there for whoever asks first: `reads.limits`. A window begins with its first claim.
    Raises `InvalidError` for a number under 1 and for a rate without a window, or the reverse.
    """
    if (rate is None) != (window_ms is None):
        raise InvalidError("a rate is so many jobs in a window of so many ms")
    numbers = (
        "" if concurrency is None else whole(concurrency, "a queue's concurrency"),
        "" if rate is None else whole(rate, "a queue's rate"),
        "" if window_ms is None else delay(window_ms, 1),
    )
    binds = enforce and (concurrency is not None or rate is not None)
    args = (q.base, *numbers, "1" if binds else "")
    return word((yield _BOUNDS.call((q.meta, q.limiter), *args)))


def keep_logs(q: QueueKeys, after_ms: int | None) -> Plan[Word]:
    """Let a job's log go `after_ms` after the job was completed; None, as it is unless this verb
    was used, keeps logs for ever (part 10, row 27). Answers `ok` or `noop`.

    Holds for jobs that are completed from now on, by our engine. Raises `InvalidError` for a
    time under 1 ms.
    """
    keep = "" if after_ms is None else delay(after_ms, 1)
    return word((yield _LOGS.call((q.meta,), q.base, keep)))


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
