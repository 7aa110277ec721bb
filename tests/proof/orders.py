"""The verbs of operators, on one job, a lane or a queue, in the same shape as the others."""

from __future__ import annotations

from random import Random
from typing import Any

from queue_core.keys import QueueKeys
from queue_core.outcomes import Word
from queue_core.plans import Plan
from queue_core.verbs import jobs, lanes, locks, queues
from tests.proof.verbs import HOUR, a_payload, an_instant, pairs_of
from tests.proof.world import GROUPS, IDS, World, command, verb

DEDUPS = [b"d1", b"d2"]
SETS: dict[str, Any] = {"pending": "pending", "active": "active", "schedule": "schedule",
                        "dead": "dead", "lane": "lane"}  # fmt: skip


# ---- one job -------------------------------------------------------------------------------------


@verb(2)
def remove_job(w: World, hand: Random) -> None:
    q, model = w.pick(hand)
    job_id, dedup = hand.choice(IDS), hand.choice([b"", *DEDUPS])
    seen = hand.choice([None, None, "awaiting_children", "unknown"])
    plan = jobs.remove_job(q, job_id, dedup, seen)
    expected = model.remove(job_id, dedup, seen)
    w.do(f"remove_job {q.name!r} {job_id!r} {dedup!r} {seen}", plan, expected)


@verb(2)
def remove_member(w: World, hand: Random) -> None:
    q, model = w.pick(hand)
    place, job_id, group = hand.choice(list(SETS)), hand.choice(IDS), hand.choice(GROUPS)
    plan = jobs.remove_member(q, SETS[place], job_id, group if place == "lane" else b"")
    expected = model.remove_member(place, job_id, group)
    w.do(f"remove_member {q.name!r} {place} {job_id!r} {group!r}", plan, expected)


@verb(2)
def reprocess_job(w: World, hand: Random) -> None:
    q, model = w.pick(hand)
    job_id = hand.choice(IDS)
    w.do(f"reprocess_job {job_id!r}", jobs.reprocess_job(q, job_id), model.reprocess(job_id))


@verb(2)
def reschedule(w: World, hand: Random) -> None:
    q, model = w.pick(hand)
    job_id, at = hand.choice(IDS), an_instant(hand)
    job = model.jobs.get(job_id)
    expected: Any = hand.choice([None, 7, job.score if job else 1])
    if isinstance(expected, str):
        expected = None  # an instant of the server's clock is not known
    text = None if expected is None else str(expected)
    plan = jobs.reschedule(q, job_id, at, text)
    w.do(f"reschedule {job_id!r} {at} {text}", plan, model.reschedule(job_id, at, expected))


@verb(2)
def run_now(w: World, hand: Random) -> None:
    q, model = w.pick(hand)
    job_id = hand.choice(IDS)
    w.do(f"run_now {job_id!r}", jobs.run_now(q, job_id), model.run_now(job_id))


@verb(2)
def update_data(w: World, hand: Random) -> None:
    q, model = w.pick(hand)
    job_id, payload = hand.choice(IDS), a_payload(hand)
    job, seen = model.jobs.get(job_id), hand.choice([None, a_payload(hand)])
    plan = jobs.update_data(q, job_id, payload, "" if seen is None else jobs.digest(seen))
    held = None if job is None or seen is None else job.row[b"payload"]
    if held is not None and payload == held:
        expected = Word.noop
    elif held not in (None, seen):
        expected = Word.moved
    else:
        expected = model.change(job_id, b"payload", payload)
    w.do(f"update_data {job_id!r} {seen!r}", plan, expected)


@verb(2)
def update_progress(w: World, hand: Random) -> None:
    q, model = w.pick(hand)
    job_id, text = hand.choice(IDS), hand.choice([b"10", b"half"])
    plan = jobs.update_progress(q, job_id, text)
    w.do(f"update_progress {job_id!r}", plan, model.change(job_id, b"progress", text))


@verb(2)
def add_log(w: World, hand: Random) -> None:
    q, model = w.pick(hand)
    job_id, keep = hand.choice(IDS), hand.choice([0, 2])
    plan = jobs.add_log(q, job_id, b"line", keep)
    w.do(f"add_log {job_id!r} {keep}", plan, model.add_log(job_id, b"line", keep))


@verb(1)
def get_job_logs(w: World, hand: Random) -> None:
    q, model = w.pick(hand)
    job_id, last = hand.choice(IDS), hand.choice([1, 1000])
    expected: Any = Word.gone
    if job_id in model.jobs:
        expected = model.logs.get(job_id, [])[-last:]
    w.do(f"get_job_logs {job_id!r} {last}", jobs.get_job_logs(q, job_id, last), expected)


@verb(2)
def own_dedup(w: World, hand: Random) -> None:
    """A producer claims a dedup id, as the wire's page allows it to."""
    q, model = w.pick(hand)
    dedup, job_id = hand.choice(DEDUPS), hand.choice(IDS)
    expected = None if dedup in model.dedups else b"OK"
    model.dedups.setdefault(dedup, job_id)
    w.do(f"SET de:{dedup!r} NX", command("SET", q.dedup(dedup), job_id, "NX"), expected)


@verb(2)
def lock_track(w: World, hand: Random) -> None:
    q, model, job_id, token = w.lease(hand)
    plan = locks.lock_track(q, job_id, token, HOUR)
    w.do(f"lock_track {job_id!r} {token!r}", plan, model.track(job_id, token))


@verb(2)
def lock_untrack(w: World, hand: Random) -> None:
    q, model = w.pick(hand)
    job_id = hand.choice(IDS)
    w.do(f"lock_untrack {job_id!r}", locks.lock_untrack(q, job_id), model.untrack(job_id))


@verb(2)
def lock_beat(w: World, hand: Random) -> None:
    q, model, pairs = pairs_of(w, hand)
    plan = locks.lock_beat(q, pairs, HOUR, HOUR)
    w.do(f"lock_beat {pairs}", plan, model.beat(pairs))


# ---- lanes and queues ----------------------------------------------------------------------------


@verb(1)
def lane_pause(w: World, hand: Random) -> None:
    q, model = w.pick(hand)
    group = hand.choice(GROUPS)
    w.do(f"lane_pause {group!r}", lanes.pause(q, group), model.park(group))


@verb(4)
def lane_resume(w: World, hand: Random) -> None:
    q, model = w.pick(hand)
    group = hand.choice(GROUPS)
    w.do(f"lane_resume {group!r}", lanes.resume(q, group), model.unpark(group))


def a_bound(hand: Random) -> tuple[bytes, int | None, int | str | None]:
    """A lane, the number to set, and the one that was seen there."""
    seen: int | str | None = hand.choice([None, None, lanes.UNSET, 1, 2])
    return hand.choice(GROUPS), hand.choice([1, 2, None]), seen


@verb(2)
def lane_limit(w: World, hand: Random) -> None:
    q, model = w.pick(hand)
    group, ceiling, seen = a_bound(hand)
    plan = lanes.limit(q, group, ceiling, seen)
    w.do(f"lane_limit {group!r} {ceiling} {seen}", plan, model.limit(group, ceiling, seen))


@verb(2)
def lane_weight(w: World, hand: Random) -> None:
    q, model = w.pick(hand)
    group, share, seen = a_bound(hand)
    plan = lanes.weight(q, group, share, seen)
    w.do(f"lane_weight {group!r} {share} {seen}", plan, model.weight(group, share, seen))


@verb(2)
def lane_reassign(w: World, hand: Random) -> None:
    q, model = w.pick(hand)
    job_id, group, seen = hand.choice(IDS), hand.choice(GROUPS), hand.choice([None, *GROUPS])
    job = model.jobs.get(job_id)
    moved = job is not None and job.group not in (None, group) and seen not in (None, job.group)
    expected = Word.moved if moved else model.reassign(job_id, group)
    w.do(f"lane_reassign {job_id!r} {group!r}", lanes.reassign(q, job_id, group, seen), expected)


@verb(1)
def lane_drain(w: World, hand: Random) -> None:
    q, model = w.pick(hand)
    group = hand.choice(GROUPS)
    w.do(f"lane_drain {group!r}", lanes.drain(q, group), model.drain_lane(group))


@verb(1)
def queue_pause(w: World, hand: Random) -> None:
    q, model = w.pick(hand)
    w.do("queue_pause", queues.pause(q), model.pause())


@verb(4)
def queue_resume(w: World, hand: Random) -> None:
    q, model = w.pick(hand)
    w.do("queue_resume", queues.resume(q), model.resume())


@verb(1)
def queue_drain(w: World, hand: Random) -> None:
    q, model = w.pick(hand)
    both = hand.random() < 0.5
    w.do(f"queue_drain {both}", queues.drain(q, both), model.drain(both), alone=both)


@verb(1)
def drain_steps(w: World, hand: Random) -> None:
    """One step of a drain, of flat pending or of a lane."""
    q, model = w.pick(hand)
    group, budget = hand.choice([None, *GROUPS]), hand.randint(1, 3)
    waiting = model.at("pending") if group is None else model.at("lane", group)
    for job in waiting[:budget]:
        model.erase(job)
    expected = (len(waiting[:budget]), len(waiting[budget:]))
    step = lanes.drain_step(q, group, budget) if group else queues.drain_step(q, "pending", budget)
    w.do(f"drain_step {q.name!r} {group!r} {budget}", step, expected)


@verb(1)
def queue_obliterate_by_steps(w: World, hand: Random) -> None:
    q, model = w.pick(hand)
    force, budget = hand.random() < 0.5, hand.randint(1, 2)
    expected = model.obliterate(force)
    w.do(f"obliterate {q.name!r} {budget}", _by_steps(q, force, budget), expected, alone=True)


def _by_steps(q: QueueKeys, force: bool, budget: int) -> Plan[tuple[Word, int]]:
    removed = 0
    while True:
        word, more = yield from queues.obliterate(q, force, budget)
        removed += more
        if word is not Word.more:
            return word, removed


@verb(1)
def queue_obliterate(w: World, hand: Random) -> None:
    q, model = w.pick(hand)
    force = hand.random() < 0.5
    plan = queues.obliterate(q, force)
    w.do(f"queue_obliterate {q.name!r} {force}", plan, model.obliterate(force))


@verb(1)
def queue_bound(w: World, hand: Random) -> None:
    """An operator bounds a queue's concurrency and rate, or lifts the bounds."""
    q, model = w.pick(hand)
    most, rate, enforce = None, None, hand.random() < 0.8
    if hand.random() < 0.3:
        most, rate = hand.choice([(2, None), (None, 3), (2, 3)])
    window = None if rate is None else hand.choice([HOUR, 2 * HOUR])
    expected = model.set_meta(
        {
            b"concurrency": most,
            b"max": rate,
            b"py_window_ms": window,
            b"py_enforce": 1 if enforce and (most or rate) else None,
        }
    )
    if expected is Word.ok and window is None:
        model.spent = 0
    plan = queues.bound(q, most, rate, window, enforce=enforce)
    w.do(f"queue_bound {q.name!r} {most} {rate} {window} {enforce}", plan, expected)


@verb(1)
def keep_logs(w: World, hand: Random) -> None:
    q, model = w.pick(hand)
    after_ms = hand.choice([None, HOUR])
    expected = model.set_meta({b"py_logs_ms": after_ms})
    w.do(f"keep_logs {q.name!r} {after_ms}", queues.keep_logs(q, after_ms), expected)


@verb(2)
def window_ends(w: World, hand: Random) -> None:
    """The rate's window is over."""
    q, model = w.pick(hand)
    expected, model.spent = int(model.spent > 0), 0
    w.do("DEL limiter", command("DEL", q.limiter), expected)
