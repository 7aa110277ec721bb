"""What holds after any sequence of verbs, whoever settles what with which token."""

from random import Random

import pytest

from queue_core.verbs import admission, claims, due, jobs, lanes, queues, settle
from tests.builders import HOUR, a_lane, command, row

STEPS = 160
SETS = {b"pending": "pending", b"active": "active", b"scheduled": "schedule", b"dead": "dead"}


class Chaos:
    """A queue, three lanes and a dozen jobs in random hands."""

    def __init__(self, run, q, mint, seed):
        self.run, self.q, self.mint, self.random = run, q, mint, Random(seed)
        self.lanes = [a_lane() for _ in range(3)]
        self.ids = [mint() for _ in range(12)]
        self.job, self.lane = self.ids[0], self.lanes[0]

    def step(self):
        """One verb with random arguments."""
        self.job, self.lane = self.random.choice(self.ids), self.random.choice(self.lanes)
        self.random.choice(VERBS)(self)

    def token(self, job_id):
        """The present token, or now and then another."""
        stored = self.run(row(self.q, job_id)).get(b"attempts", b"0")
        return b"77" if self.random.random() < 0.1 else stored

    def expire(self, job_id):
        """Let the lease of a job run out."""
        self.run(command("ZADD", self.q.active, "XX", 1, job_id))

    def come_due(self, job_id):
        """Let the time of a scheduled job pass."""
        self.run(command("ZADD", self.q.schedule, "XX", 1, job_id))


VERBS = [
    lambda c: c.run(admission.enqueue(c.q, c.job, b"p")),
    lambda c: c.run(admission.enqueue_at(c.q, c.job, b"p", c.random.choice([1, 10**13]))),
    lambda c: c.run(admission.lane_enqueue(c.q, c.lane, c.job, b"p")),
    lambda c: c.run(admission.lane_enqueue(c.q, c.lane, c.job, b"p")),
    lambda c: c.run(admission.lane_enqueue_in(c.q, c.lane, c.job, b"p", HOUR)),
    lambda c: c.run(claims.claim(c.q, HOUR)),
    lambda c: c.run(claims.claim_batch(c.q, 3, HOUR)),
    lambda c: c.run(claims.lane_claim(c.q, HOUR)),
    lambda c: c.run(claims.lane_claim(c.q, HOUR)),
    lambda c: c.run(claims.lane_claim_weighted(c.q, HOUR)),
    lambda c: c.run(claims.lane_claim_batch(c.q, HOUR)),
    lambda c: c.run(claims.lane_claim_full(c.q, 2, 3, HOUR)),
    lambda c: c.run(settle.complete(c.q, c.job, c.token(c.job))),
    lambda c: c.run(settle.retry(c.q, c.job, c.token(c.job), HOUR, 3, b"e")),
    lambda c: c.run(settle.delay(c.q, c.job, c.token(c.job), HOUR)),
    lambda c: c.run(settle.extend_lock(c.q, c.job, c.token(c.job), HOUR)),
    lambda c: c.run(settle.extend_locks(c.q, [(c.job, c.token(c.job))], HOUR)),
    lambda c: (c.come_due(c.job), c.run(due.promote(c.q, 2))),
    lambda c: (c.expire(c.job), c.run(due.reap(c.q))),
    lambda c: (c.expire(c.job), c.run(due.reap_group(c.q, c.lane))),
    lambda c: (c.expire(c.job), c.run(due.check_stalled(c.q, c.random.choice([1, 3])))),
    lambda c: c.run(jobs.reprocess_job(c.q, c.job)),
    lambda c: c.run(jobs.run_now(c.q, c.job)),
    lambda c: c.run(jobs.reschedule(c.q, c.job, c.random.choice([1, 10**13]))),
    lambda c: c.run(jobs.remove_job(c.q, c.job)),
    lambda c: c.run(jobs.remove_member(c.q, c.random.choice(list(SETS.values())), c.job)),
    lambda c: c.run(jobs.remove_member(c.q, "lane", c.job, c.lane)),
    lambda c: c.run(lanes.reassign(c.q, c.job, c.lane)),
    lambda c: c.run(lanes.pause(c.q, c.lane)),
    lambda c: c.run(lanes.resume(c.q, c.lane)),
    lambda c: c.run(lanes.resume(c.q, c.lane)),
    lambda c: c.run(lanes.limit(c.q, c.lane, c.random.choice([1, 2, None]))),
    lambda c: c.run(lanes.weight(c.q, c.lane, c.random.choice([1, 2, None]))),
    lambda c: c.run(queues.pause(c.q)),
    lambda c: c.run(queues.resume(c.q)),
    lambda c: c.run(queues.resume(c.q)),
]


def members(run, key):
    """All of a small sorted set."""
    return set(run(command("ZRANGE", key, 0, 99)))


def check_jobs(c):
    """Each job is in exactly one set, the one that its row says, and has a payload."""
    in_set = {name: members(c.run, c.q.base + name.encode()) for name in SETS.values()}
    in_lane = {lane: members(c.run, c.q.lane(lane)) for lane in c.lanes}
    for job_id in c.ids:
        fields = c.run(row(c.q, job_id))
        named = [name for name, there in in_set.items() if job_id in there]
        named += [lane for lane, there in in_lane.items() if job_id in there]
        if not fields:
            assert named == []
            continue
        expected = SETS[fields[b"state"]]
        if expected == "pending" and b"group" in fields:
            expected = fields[b"group"]
        assert named == [expected]
        assert fields[b"payload"] == b"p"


def check_lanes(c):
    """Counters say what is held, and the ring holds just the lanes that can be served."""
    held = [c.run(row(c.q, job_id)).get(b"group") for job_id in members(c.run, c.q.active)]
    ring = c.run(command("LRANGE", c.q.ring, 0, 99))
    assert len(set(ring)) == len(ring)
    for lane in c.lanes:
        counter = c.run(command("HGET", c.q.gactive, lane))
        assert counter == (str(held.count(lane)).encode() if lane in held else None)
        ceiling = c.run(command("HGET", c.q.glimit, lane))
        full = ceiling is not None and held.count(lane) >= int(ceiling)
        parked = c.run(command("SISMEMBER", c.q.paused, lane)) == 1
        waits = bool(members(c.run, c.q.lane(lane)))
        assert (lane in ring) == (waits and not parked and not full)
    wake = c.run(command("LRANGE", c.q.wake, 0, 99))
    assert set(wake) <= {b"1"}
    assert len(wake) <= 64


@pytest.mark.parametrize("seed", range(3))
def test_no_sequence_of_verbs_loses_doubles_or_miscounts_a_job(run, q, mint, seed):
    chaos = Chaos(run, q, mint, seed)
    for _ in range(STEPS):
        chaos.step()
        check_jobs(chaos)
        check_lanes(chaos)
