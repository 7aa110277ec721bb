"""The verbs of workers that take and settle many at once, and of producers that admit once, in the
same shape as the others."""

from __future__ import annotations

from random import Random
from typing import Any

from queue_core.outcomes import Word
from queue_core.plans import Batch, Plan
from queue_core.replies import verdicts
from queue_core.verbs import admission, claims, jobs, settle
from tests.proof.administration import Administered
from tests.proof.model import LATER, Job
from tests.proof.orders import DEDUPS
from tests.proof.verbs import HOUR, WORKERS, a_payload, an_id, pairs_of
from tests.proof.world import GROUPS, World, command, verb


class Round:
    """One claim of both waiting sets, done to a model."""

    def __init__(self, model: Administered, size: int, sure: int, worker: bytes) -> None:
        self.model, self.sure, self.worker = model, min(sure, size), worker
        self.wanted = model.room(size)
        self.taken: list[Job] = []

    def flat(self) -> None:
        """Of flat pending."""
        self._take(self.model.at("pending"), self.wanted - len(self.taken))

    def ring(self, weighted: bool) -> None:
        """Of the lanes in turn, one job or a weight of each."""
        ring = self.model.ring
        while len(self.taken) < self.wanted and ring:
            ring.append(group := ring.pop(0))
            kept = self._take(self.model.at("lane", group), self._share(group, weighted))
            self.model.retire(group)
            if kept:
                if ring and ring[-1] == group:
                    ring.insert(0, ring.pop())
                return

    def _share(self, group: bytes, weighted: bool) -> int:
        if not weighted:
            return 1
        share = min(self.wanted - len(self.taken), self.model.weights.get(group, 1))
        if group in self.model.ceilings:
            share = min(share, self.model.ceilings[group] - self.model.in_flight(group))
        return share

    def _take(self, waiting: list[Job], most: int) -> bool:
        """Whether a job that was tried before ended it."""
        for job in waiting[: max(0, most)]:
            if len(self.taken) >= self.sure and job.attempts:
                return True
            self.taken += self.model._take([job], self.worker)
        return False


@verb(4)
def claim_next(w: World, hand: Random) -> None:
    q, model = w.pick(hand)
    size, sure, worker = hand.randint(1, 4), hand.randint(0, 4), hand.choice(WORKERS)
    ring_first, weighted = hand.random() < 0.5, hand.random() < 0.5
    one = Round(model, size, sure, worker)
    if ring_first:
        one.ring(weighted)
    one.flat()
    if not ring_first:
        one.ring(weighted)
    plan = claims.claim_next(
        q, size, HOUR, worker, sure=sure, ring_first=ring_first, weighted=weighted
    )
    text = f"claim_next {q.name!r} {size} {sure} {ring_first} {weighted}"
    w.claimed(text, q, plan, one.taken)


@verb(2)
def complete_many(w: World, hand: Random) -> None:
    q, model, pairs = pairs_of(w, hand)
    done = [(*pair, hand.choice([None, b"r\0\xfe"])) for pair in pairs]
    expected = [model.complete(job_id, token, result or job_id) for job_id, token, result in done]
    w.do(f"complete_many {q.name!r} {done}", _completed(q, done), expected)


def _completed(q: Any, done: list[tuple[bytes, bytes, bytes | None]]) -> Plan[Any]:
    ((call, count),) = settle.complete_calls(q, done)
    (reply,) = yield Batch((call,))
    return reply if isinstance(reply, Exception) else verdicts(reply, count)


@verb(2)
def give_back(w: World, hand: Random) -> None:
    q, model, job_id, token = w.lease(hand)
    expected = model.refusal(job_id, token)
    if expected is None:
        job = model.jobs[job_id]
        expected = Word.ok if job.place == "active" else Word.gone
        if expected is Word.ok:
            model.return_one(job)
    plan = settle.give_back(q, job_id, token)
    w.do(f"give_back {q.name!r} {job_id!r} {token!r}", plan, expected)


@verb(4)
def enqueue_once(w: World, hand: Random) -> None:
    q, model = w.pick(hand)
    dedup, job_id, payload = hand.choice(DEDUPS), an_id(hand), a_payload(hand)
    group, wait = hand.choice([None, *GROUPS]), hand.choice([None, None, HOUR])
    owner = model.dedups.get(dedup) if job_id.startswith(b"JOB") else None
    if owner is None:
        word = model.admit(job_id, payload, group, None if wait is None else LATER)
        expected = (word, job_id)
        if word in (Word.enqueued, Word.scheduled):
            model.dedups[dedup] = job_id
    else:
        expected = (Word.exists, owner)
    plan = admission.enqueue_once(q, dedup, HOUR, job_id, payload, group, wait)
    w.do(f"enqueue_once {q.name!r} {dedup!r} {job_id!r} {group!r} {wait}", plan, expected)


@verb(2)
def a_dedup_ends(w: World, hand: Random) -> None:
    """Its time is over."""
    q, model = w.pick(hand)
    dedup = hand.choice(DEDUPS)
    expected = int(model.dedups.pop(dedup, None) is not None)
    w.do(f"DEL de:{dedup!r}", command("DEL", q.dedup(dedup)), expected)


@verb(2)
def read_dedup(w: World, hand: Random) -> None:
    q, model = w.pick(hand)
    dedup = hand.choice(DEDUPS)
    w.do(f"get_dedup {dedup!r}", jobs.get_dedup_job_id(q, dedup), model.dedups.get(dedup))
