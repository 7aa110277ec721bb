"""Verbs of the one who holds a job (protocol part 4.3).

Each carries the token of its claim: `stale` means that the job was claimed again since, `gone`
that it has no row; nothing is changed then. All raise `InvalidError` for an ill-formed id or a
number out of range before anything is sent. Delays and leases are whole ms.
"""

from collections.abc import Iterable, Sequence
from typing import Literal

from queue_core import ids, numbers
from queue_core.errors import InvalidError
from queue_core.jobs import token_of
from queue_core.keys import QueueKeys
from queue_core.names import as_bytes
from queue_core.numbers import EXACT, instant, lease, whole
from queue_core.outcomes import Word
from queue_core.plans import Call, Plan
from queue_core.replies import word
from queue_core.scripts import script

Token = bytes | str | int

HELD_IN_ONE_CALL = 1000
"""Leases renewed by one script."""

DONE_IN_ONE_CALL = 100
"""Jobs that one script settles: a ms or two of the server's time."""

_COMPLETE = script("complete")
_COMPLETE_MANY = script("complete_many")
_RETRY = script("retry")
_DELAY = script("delay")
_GIVE_BACK = script("give_back")
_EXTEND_LOCK = script("extend_lock")
_EXTEND_LOCKS = script("extend_locks")


def complete(
    q: QueueKeys, job_id: bytes | str, token: Token, result: bytes | None = None
) -> Plan[Word]:
    """Done: the row goes, the counter rises. Answers `ok`, `gone` or `stale`.

    `result` is kept for the parent of a flow only; without one it is the job's own id.
    """
    raw = ids.check(job_id)
    args = (q.base, raw, token_of(token), raw if result is None else result)
    return word((yield _COMPLETE.call((q.row(raw), q.active, q.pending), *args)))


def complete_calls(
    q: QueueKeys, done: Sequence[tuple[bytes, bytes, bytes | None]]
) -> list[tuple[Call, int]]:
    """The calls that complete many (id, token, result) jobs, each by itself, and how many each
    settles; `replies.verdicts` reads their replies. They publish what they completed."""
    calls = []
    for start in range(0, len(done), DONE_IN_ONE_CALL):
        part = done[start : start + DONE_IN_ONE_CALL]
        words: list[bytes] = []
        for raw, token, result in part:
            words += (raw, token, raw if result is None else result)
        call = _COMPLETE_MANY.call((q.active, q.pending), q.base, q.events, *words)
        calls.append((call, len(part)))
    return calls


def retry(
    q: QueueKeys,
    job_id: bytes | str,
    token: Token,
    delay_ms: int,
    max_attempts: int,
    error: bytes | str,
) -> Plan[Word]:
    """Failed: `scheduled` for another attempt after `delay_ms`, or `dead` once `max_attempts`
    are used up. Answers `gone` for a missing row, where the wire's older engine says stale."""
    raw = ids.check(job_id)
    keys = (q.row(raw), q.active, q.schedule, q.dead)
    wait = numbers.delay(delay_ms, -EXACT // 2)
    most = whole(max_attempts, "max attempts", 0)
    args = (q.base, raw, token_of(token), wait, most, as_bytes(error))
    return word((yield _RETRY.call(keys, *args)))


def delay(
    q: QueueKeys, job_id: bytes | str, token: Token, ms: int, mode: Literal["in", "at"] = "in"
) -> Plan[Word]:
    """Put a held job off without using up an attempt: `in` so many ms (negative: due at once),
    or `at` a Unix ms. Its lane's place is freed. Answers `ok`, `gone`, `stale` or `kind`."""
    if mode not in ("in", "at"):
        raise InvalidError(f"a delay is in or at, got {mode!r}")
    raw = ids.check(job_id)
    when = instant(ms) if mode == "at" else numbers.delay(ms, -EXACT // 2)
    args = (q.base, raw, token_of(token), when, mode)
    return word((yield _DELAY.call((q.row(raw), q.active, q.schedule), *args)))


def give_back(q: QueueKeys, job_id: bytes | str, token: Token) -> Plan[Word]:
    """Let a job that was claimed and not started wait again at once, where it waited before. The
    claim stays counted. Answers `ok`, `gone` (also where nobody holds it any more) or `stale`."""
    raw = ids.check(job_id)
    args = (q.base, raw, token_of(token))
    return word((yield _GIVE_BACK.call((q.row(raw), q.active, q.pending), *args)))


def extend_lock(q: QueueKeys, job_id: bytes | str, token: Token, lease_ms: int) -> Plan[Word]:
    """Renew a lease from now. Answers `ok`, `gone`, `stale`, or `not_held` where the job was
    taken from its holder meanwhile: it is not brought back (part 10, row 4)."""
    raw = ids.check(job_id)
    args = (q.base, raw, token_of(token), lease(lease_ms))
    return word((yield _EXTEND_LOCK.call((q.row(raw), q.active), *args)))


def extend_locks(
    q: QueueKeys, held: Iterable[tuple[bytes | str, Token]], lease_ms: int
) -> Plan[list[bytes]]:
    """Renew many (id, token) leases from now; answers the ids that were not: gone, stale or not
    held. One round trip per `HELD_IN_ONE_CALL`."""
    life = lease(lease_ms)
    pairs = [(ids.check(job_id), token_of(token)) for job_id, token in held]
    failed: list[bytes] = []
    for start in range(0, len(pairs), HELD_IN_ONE_CALL):
        words = [text for pair in pairs[start : start + HELD_IN_ONE_CALL] for text in pair]
        reply = yield _EXTEND_LOCKS.call((q.active,), q.base, life, *words)
        failed += reply[1]
    return failed
