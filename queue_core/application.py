"""What an application asks of one queue, as plans: `Queue` and `AsyncQueue` run them.

Here ids are minted and leases stand for id and token together, so that a program need know
neither.
"""

import logging
from collections.abc import Callable, Iterable
from dataclasses import dataclass

from queue_core.errors import EchoMQError
from queue_core.ids import Minter
from queue_core.jobs import Job, Lease
from queue_core.keys import QueueKeys
from queue_core.names import as_bytes
from queue_core.nodes import lease_of
from queue_core.outcomes import Word
from queue_core.plans import Plan
from queue_core.reads import counts as counting
from queue_core.reads import jobs as looking
from queue_core.reads.snapshot import Snapshot
from queue_core.verbs import admission, claims, jobs, queues, settle

_log = logging.getLogger(__name__)

FRESH_IDS = 3
"""Ids that are minted for one job before a run of collisions is answered as `duplicate`."""


@dataclass(frozen=True, slots=True)
class Admitted:
    """A job's id and the verdict: `enqueued`, `scheduled`, `duplicate` (a job of this id was
    there; nothing changed), `exists` (the dedup id is another job's, whose id this is; nothing
    changed) or `kind` (the id that was given is not a JOB id)."""

    id: bytes
    word: Word


@dataclass(frozen=True, slots=True)
class Client:
    """A queue as an application sees it: its keys, and where its ids come from."""

    q: QueueKeys
    mint: Callable[..., Plan[bytes]]


def enqueue(
    at: Client, payload: bytes | str, group: bytes | str | None, job_id: bytes | str | None
) -> Plan[Admitted]:
    """Admit a job to run as soon as a worker is free."""
    data = as_bytes(payload)
    if group is None:
        return (yield from _admit(at, job_id, lambda raw: admission.enqueue(at.q, raw, data)))
    lane = group
    return (
        yield from _admit(at, job_id, lambda raw: admission.lane_enqueue(at.q, lane, raw, data))
    )


def enqueue_at(
    at: Client,
    payload: bytes | str,
    run_at_ms: int,
    group: bytes | str | None,
    job_id: bytes | str | None,
) -> Plan[Admitted]:
    """Admit a job to run at a time in Unix ms."""
    data = as_bytes(payload)

    def admit(raw: bytes) -> Plan[Word]:
        if group is None:
            return admission.enqueue_at(at.q, raw, data, run_at_ms)
        return admission.lane_enqueue_at(at.q, group, raw, data, run_at_ms)

    return (yield from _admit(at, job_id, admit))


def enqueue_in(
    at: Client,
    payload: bytes | str,
    delay_ms: int,
    group: bytes | str | None,
    job_id: bytes | str | None,
) -> Plan[Admitted]:
    """Admit a job to run some ms from now, by the server's clock."""
    data = as_bytes(payload)

    def admit(raw: bytes) -> Plan[Word]:
        if group is None:
            return admission.enqueue_in(at.q, raw, data, delay_ms)
        return admission.lane_enqueue_in(at.q, group, raw, data, delay_ms)

    return (yield from _admit(at, job_id, admit))


def enqueue_once(
    at: Client,
    payload: bytes | str,
    dedup: bytes | str,
    ttl_ms: int,
    group: bytes | str | None,
    delay_ms: int | None,
    job_id: bytes | str | None,
) -> Plan[Admitted]:
    """Admit a job unless one came in under the same dedup id a while ago."""
    data, owners = as_bytes(payload), []

    def admit(raw: bytes) -> Plan[Word]:
        word, owner = yield from admission.enqueue_once(
            at.q, dedup, ttl_ms, raw, data, group, delay_ms
        )
        owners.append(owner)
        return word

    admitted = yield from _admit(at, job_id, admit)
    return Admitted(owners[-1], admitted.word)


def enqueue_many(at: Client, payloads: Iterable[bytes | str]) -> Plan[list[Admitted | EchoMQError]]:
    """Admit many jobs in few round trips; a fault stands in its job's place. An id that was
    taken is minted anew."""
    answers: list[Admitted | EchoMQError] = []
    items: list[tuple[bytes, bytes]] = []
    for payload in payloads:
        raw = yield from at.mint()
        items.append((raw, as_bytes(payload)))
    words = yield from admission.enqueue_many(at.q, items)
    for (raw, data), word in zip(items, words, strict=True):
        if word is Word.duplicate:
            _collided(raw)
            answers.append((yield from enqueue(at, data, None, None)))
        else:
            answers.append(word if isinstance(word, EchoMQError) else Admitted(raw, word))
    return answers


def claim(at: Client, lease_ms: int, worker: bytes | str) -> Plan[Lease | None]:
    """Take the oldest job of flat pending."""
    return (yield from claims.claim(at.q, lease_ms, worker))


def lane_claim(at: Client, lease_ms: int, worker: bytes | str) -> Plan[Lease | None]:
    """Take the oldest job of the lane whose turn it is."""
    return (yield from claims.lane_claim(at.q, lease_ms, worker))


def complete(at: Client, held: Lease, result: bytes | str | None) -> Plan[Word]:
    """The job is done."""
    text = None if result is None else as_bytes(result)
    return (yield from settle.complete(at.q, held.id, held.token, text))


def retry(
    at: Client, held: Lease, delay_ms: int, max_attempts: int, error: bytes | str
) -> Plan[Word]:
    """The attempt failed."""
    args = (delay_ms, max_attempts, as_bytes(error))
    return (yield from settle.retry(at.q, held.id, held.token, *args))


def delay(at: Client, held: Lease, delay_ms: int) -> Plan[Word]:
    """Not now: put the job back for later."""
    return (yield from settle.delay(at.q, held.id, held.token, delay_ms))


def extend(at: Client, held: Lease, lease_ms: int) -> Plan[Word]:
    """The job takes longer."""
    return (yield from settle.extend_lock(at.q, held.id, held.token, lease_ms))


def progress(at: Client, job_id: bytes | str, text: bytes | str) -> Plan[Word]:
    """Say how far a job is."""
    return (yield from jobs.update_progress(at.q, job_id, as_bytes(text)))


def log(at: Client, job_id: bytes | str, line: bytes | str, keep: int) -> Plan[int | Word]:
    """Write a line into a job's log."""
    return (yield from jobs.add_log(at.q, job_id, as_bytes(line), keep))


def job(at: Client, job_id: bytes | str) -> Plan[Snapshot[Job | None]]:
    """Look at a job."""
    return (yield from looking.get_job(at.q, job_id))


def counts(at: Client) -> Plan[Snapshot[dict[str, int]]]:
    """How much there is."""
    read = yield from counting.get_counts(at.q)
    assert isinstance(read, Snapshot)
    return read


def pause(at: Client) -> Plan[Word]:
    """Let nothing more be claimed."""
    return (yield from queues.pause(at.q))


def resume(at: Client) -> Plan[Word]:
    """Let claims go on."""
    return (yield from queues.resume(at.q))


def bound(
    at: Client, concurrency: int | None, rate: int | None, window_ms: int | None, enforce: bool
) -> Plan[Word]:
    """Bound what is claimed."""
    return (yield from queues.bound(at.q, concurrency, rate, window_ms, enforce=enforce))


def keep_logs(at: Client, after_ms: int | None) -> Plan[Word]:
    """How long logs outlive their jobs."""
    return (yield from queues.keep_logs(at.q, after_ms))


def _admit(
    at: Client, given: bytes | str | None, admit: Callable[[bytes], Plan[Word]]
) -> Plan[Admitted]:
    """Admit under the caller's id, or under a fresh one: a fresh id that has a row already is a
    collision of two minters, never a resend, so another is minted (protocol part 1.1)."""
    if given is not None:
        raw = as_bytes(given)
        return Admitted(raw, (yield from admit(raw)))
    for _ in range(FRESH_IDS):
        raw = yield from at.mint()
        word = yield from admit(raw)
        if word is not Word.duplicate:
            break
        _collided(raw)
    return Admitted(raw, word)


def _collided(raw: bytes) -> None:
    _log.warning("a fresh id was taken already: two minters share a node number (%s)", raw.decode())


def minting(bus: object, node: int | None) -> Callable[..., Plan[bytes]]:
    """Mints ids under a node number that the caller owns (0..1023); where there is none, under
    one that is leased on the bus and shared by whoever mints for it in this process."""
    if node is None:
        return lease_of(bus).mint
    minter = Minter(node)

    def mint(namespace: bytes | str = b"JOB") -> Plan[bytes]:
        yield from ()
        return minter.mint(namespace)

    return mint


def mint(at: Client, namespace: bytes | str) -> Plan[bytes]:
    """A fresh id."""
    return (yield from at.mint(namespace))
