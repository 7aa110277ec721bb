"""Verbs with random arguments: one function each, sent to a world's queues and done to their
models. `hand` makes every choice, so that a seed, or hypothesis, repeats them. Here are the verbs
of producers, workers and time."""

from __future__ import annotations

from random import Random
from typing import Any

from queue_core.verbs import admission, claims, due, settle
from tests.proof.model import LATER, NOW, Score
from tests.proof.world import FOREIGN, GROUPS, IDS, World, command, verb

HOUR = 3_600_000
FAR = 10**13
NAMES = [b"nightly", b"report"]
WORKERS = [b"", b"w1", b"w2"]


def a_payload(hand: Random) -> bytes:
    return hand.choice([b"p", b"", b"\0\xff", b"payload"])


def an_id(hand: Random) -> bytes:
    return FOREIGN if hand.random() < 0.02 else hand.choice(IDS)


def an_instant(hand: Random) -> int:
    return hand.choice([1, 2, 3, FAR + 1, FAR + 2])


def _wait(hand: Random) -> tuple[int, Score]:
    """A delay in ms and what its end is to the model."""
    return hand.choice([(0, NOW), (HOUR, LATER)])


# ---- admission -----------------------------------------------------------------------------------


@verb(4)
def enqueue(w: World, hand: Random) -> None:
    q, model = w.pick(hand)
    job_id, payload = an_id(hand), a_payload(hand)
    w.do(f"enqueue {job_id!r}", admission.enqueue(q, job_id, payload), model.admit(job_id, payload))


@verb(2)
def enqueue_many(w: World, hand: Random) -> None:
    q, model = w.pick(hand)
    items = [(an_id(hand), a_payload(hand)) for _ in range(hand.randint(0, 4))]
    expected = [model.admit(job_id, payload) for job_id, payload in items]
    w.do(f"enqueue_many {items}", admission.enqueue_many(q, items), expected)


@verb(2)
def enqueue_at(w: World, hand: Random) -> None:
    q, model = w.pick(hand)
    job_id, payload, at = an_id(hand), a_payload(hand), an_instant(hand)
    expected = model.admit(job_id, payload, score=at)
    w.do(f"enqueue_at {job_id!r} {at}", admission.enqueue_at(q, job_id, payload, at), expected)


@verb(2)
def enqueue_in(w: World, hand: Random) -> None:
    q, model = w.pick(hand)
    job_id, payload, (wait, score) = an_id(hand), a_payload(hand), _wait(hand)
    expected = model.admit(job_id, payload, score=score)
    w.do(f"enqueue_in {job_id!r} {wait}", admission.enqueue_in(q, job_id, payload, wait), expected)


@verb(4)
def lane_enqueue(w: World, hand: Random) -> None:
    q, model = w.pick(hand)
    group, job_id, payload = hand.choice(GROUPS), an_id(hand), a_payload(hand)
    expected = model.admit(job_id, payload, group)
    plan = admission.lane_enqueue(q, group, job_id, payload)
    w.do(f"lane_enqueue {group!r} {job_id!r}", plan, expected)


@verb(2)
def lane_enqueue_at(w: World, hand: Random) -> None:
    q, model = w.pick(hand)
    group, job_id, payload = hand.choice(GROUPS), an_id(hand), a_payload(hand)
    at = an_instant(hand)
    expected = model.admit(job_id, payload, group, at)
    plan = admission.lane_enqueue_at(q, group, job_id, payload, at)
    w.do(f"lane_enqueue_at {group!r} {job_id!r} {at}", plan, expected)


@verb(2)
def lane_enqueue_in(w: World, hand: Random) -> None:
    q, model = w.pick(hand)
    group, job_id, payload = hand.choice(GROUPS), an_id(hand), a_payload(hand)
    wait, score = _wait(hand)
    expected = model.admit(job_id, payload, group, score)
    plan = admission.lane_enqueue_in(q, group, job_id, payload, wait)
    w.do(f"lane_enqueue_in {group!r} {job_id!r} {wait}", plan, expected)


# ---- claims --------------------------------------------------------------------------------------


@verb(4)
def claim(w: World, hand: Random) -> None:
    q, model = w.pick(hand)
    worker = hand.choice(WORKERS)
    w.claimed("claim", q, claims.claim(q, HOUR, worker), model.claim(1, worker))


@verb(2)
def claim_batch(w: World, hand: Random) -> None:
    q, model = w.pick(hand)
    size, worker = hand.randint(1, 4), hand.choice(WORKERS)
    plan = claims.claim_batch(q, size, HOUR, worker)
    w.claimed(f"claim_batch {size}", q, plan, model.claim(size, worker))


@verb(4)
def lane_claim(w: World, hand: Random) -> None:
    q, model = w.pick(hand)
    worker = hand.choice(WORKERS)
    w.claimed("lane_claim", q, claims.lane_claim(q, HOUR, worker), model.lane_claim(1, worker))


@verb(4)
def lane_claim_weighted(w: World, hand: Random) -> None:
    q, model = w.pick(hand)
    worker = hand.choice(WORKERS)
    taken = model.lane_claim(claims.MOST, worker, "weight")
    w.claimed("lane_claim_weighted", q, claims.lane_claim_weighted(q, HOUR, worker), taken)


@verb(2)
def lane_claim_batch(w: World, hand: Random) -> None:
    q, model = w.pick(hand)
    worker = hand.choice(WORKERS)
    taken = model.lane_claim(claims.MOST, worker, "all")
    w.claimed("lane_claim_batch", q, claims.lane_claim_batch(q, HOUR, worker), taken)


@verb(2)
def lane_claim_full(w: World, hand: Random) -> None:
    q, model = w.pick(hand)
    least, most, worker = hand.randint(1, 3), hand.randint(1, 4), hand.choice(WORKERS)
    taken = model.lane_claim_full(least, most, worker)
    plan = claims.lane_claim_full(q, least, most, HOUR, worker)
    w.claimed(f"lane_claim_full {least} {most}", q, plan, taken)


# ---- settles -------------------------------------------------------------------------------------


@verb(4)
def complete(w: World, hand: Random) -> None:
    q, model, job_id, token = w.lease(hand)
    result = hand.choice([None, b"r\0\xfe"])
    expected = model.complete(job_id, token, result or job_id)
    plan = settle.complete(q, job_id, token, result)
    w.do(f"complete {q.name!r} {job_id!r} {token!r}", plan, expected)


@verb(4)
def retry(w: World, hand: Random) -> None:
    q, model, job_id, token = w.lease(hand)
    delay_ms, most = hand.choice([0, -5, HOUR]), hand.choice([1, 2, 5])
    error = hand.choice([b"e", b"\0"])
    expected = model.retry(job_id, token, delay_ms, most, error)
    plan = settle.retry(q, job_id, token, delay_ms, most, error)
    w.do(f"retry {q.name!r} {job_id!r} {token!r} {delay_ms} {most}", plan, expected)


@verb(2)
def delay(w: World, hand: Random) -> None:
    q, model, job_id, token = w.lease(hand)
    ms, score = hand.choice([(-5, NOW), (0, NOW), (HOUR, LATER)])
    plan = settle.delay(q, job_id, token, ms)
    w.do(f"delay {q.name!r} {job_id!r} {token!r} {ms}", plan, model.delay(job_id, token, score))


@verb(2)
def delay_at(w: World, hand: Random) -> None:
    q, model, job_id, token = w.lease(hand)
    at = an_instant(hand)
    plan = settle.delay(q, job_id, token, at, "at")
    w.do(f"delay {q.name!r} {job_id!r} {token!r} at {at}", plan, model.delay(job_id, token, at))


@verb(2)
def extend_lock(w: World, hand: Random) -> None:
    q, model, job_id, token = w.lease(hand)
    plan = settle.extend_lock(q, job_id, token, HOUR)
    w.do(f"extend_lock {q.name!r} {job_id!r} {token!r}", plan, model.extend(job_id, token))


def pairs_of(w: World, hand: Random) -> tuple[Any, Any, list[tuple[bytes, bytes]]]:
    q, model, job_id, token = w.lease(hand)
    more = [job_id for job_id in IDS if job_id in model.jobs and hand.random() < 0.3]
    pairs = {job_id: token} | {held: model.jobs[held].token for held in more}
    return q, model, list(pairs.items())


@verb(2)
def extend_locks(w: World, hand: Random) -> None:
    q, model, pairs = pairs_of(w, hand)
    plan = settle.extend_locks(q, pairs, HOUR)
    w.do(f"extend_locks {pairs}", plan, model.extend_many(pairs))


# ---- time ----------------------------------------------------------------------------------------


@verb(4)
def time_passes(w: World, hand: Random) -> None:
    """The hand of time: a lease runs out, or a job or repeat comes due."""
    q, model = w.pick(hand)
    kind, job_id, name = hand.choice(["active", "active", "schedule", "repeat"]), *_one(hand)
    key, member = getattr(q, kind), name if kind == "repeat" else job_id
    passing: Any = model.repeats.get(name)
    if kind != "repeat":
        passing = model.jobs.get(job_id)
        passing = passing if passing and passing.place == kind else None
    elif passing and passing.by is not None:
        return
    if passing:
        passing.score = 1000
    w.do(f"{kind} {member!r} passes", command("ZADD", key, "XX", 1000, member), 0)


def _one(hand: Random) -> tuple[bytes, bytes]:
    return hand.choice(IDS), hand.choice(NAMES)


@verb(4)
def promote(w: World, hand: Random) -> None:
    q, model = w.pick(hand)
    batch = hand.choice([1, 2, 100])
    unordered = [job for job in model.due("schedule") if job.score == NOW]
    for job in unordered if len(unordered) > 1 else []:
        job.score = 2000  # which of them the server's clock put first is not known
        plan = command("ZADD", q.schedule, "XX", job.score, job.id)
        w.do(f"schedule {job.id!r} passed", plan, 0)
    w.do(f"promote {batch}", due.promote(q, batch), model.promote(batch))


@verb(2)
def reap(w: World, hand: Random) -> None:
    q, model = w.pick(hand)
    w.do("reap", due.reap(q), model.reap())


@verb(2)
def reap_group(w: World, hand: Random) -> None:
    q, model = w.pick(hand)
    group, limit = hand.choice(GROUPS), hand.choice([1, 2, 100])
    plan = due.reap_group(q, group, limit)
    w.do(f"reap_group {group!r} {limit}", plan, model.reap(group, limit))


@verb(2)
def check_stalled(w: World, hand: Random) -> None:
    q, model = w.pick(hand)
    most, limit = hand.choice([1, 2, 3]), hand.choice([1, 100])
    expected = model.check_stalled(most, limit)
    w.do(f"check_stalled {most} {limit}", due.check_stalled(q, most, limit), expected)


@verb(2)
def a_wake(w: World, hand: Random) -> None:
    """A parked consumer takes a wake."""
    q, model = w.pick(hand)
    expected = b"1" if model.wakes else None
    model.wakes = max(0, model.wakes - 1)
    w.do("LPOP wake", command("LPOP", q.wake), expected)
