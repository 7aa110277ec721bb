"""Keys that hold what no engine writes: they may stop a verb, and never cost a job."""

from __future__ import annotations

import pytest

from queue_core.errors import WrongTypeFault
from queue_core.outcomes import Word
from queue_core.replies import verdicts
from queue_core.verbs import admission, claims, due, flows, jobs, lanes, locks, repeats, settle
from tests.builders import HOUR, a_lane, command, row, score

SETTLES = {
    "complete": lambda q, job: settle.complete(q, job.id, job.token),
    "retry": lambda q, job: settle.retry(q, job.id, job.token, 0, 9, b"e"),
    "bury": lambda q, job: settle.retry(q, job.id, job.token, 0, 1, b"e"),
    "delay": lambda q, job: settle.delay(q, job.id, job.token, 0),
}


def spoil(run, key):
    """A text in place of whatever the key should hold."""
    run(command("SET", key, "no set"))


@pytest.mark.parametrize("broken", ["pending", "schedule", "dead"])
@pytest.mark.parametrize("verb", SETTLES)
def test_a_settle_that_a_broken_set_stops_leaves_the_job_held(run, q, make, verb, broken):
    job = make.active()
    spoil(run, getattr(q, broken))
    with pytest.raises(WrongTypeFault):
        run(SETTLES[verb](q, job))
    assert run(score(q.active, job.id)) is not None
    assert run(row(q, job.id))[b"payload"] == b"work"


@pytest.mark.parametrize("broken", ["ring", "wake", "gactive", "paused", "glimit"])
@pytest.mark.parametrize("verb", SETTLES)
def test_a_lanes_broken_key_stops_no_settle(run, q, make, verb, broken):
    job = make.active(a_lane())
    make.in_lane(job.group)
    spoil(run, getattr(q, broken))
    run(SETTLES[verb](q, job))
    assert run(score(q.active, job.id)) is None


def test_a_child_whose_parents_keys_are_broken_stays_held(run, q, make):
    parent = make.awaiting_children()
    child = make.held_child(parent)
    spoil(run, q.processed(parent.id))
    with pytest.raises(WrongTypeFault):
        run(settle.complete(q, child.id, child.token))
    assert run(score(q.active, child.id)) is not None


CLAIMS = {
    "claim": lambda q: claims.claim_batch(q, 9, HOUR),
    "claim next": lambda q: claims.claim_next(q, 9, HOUR),
}
LANE_CLAIMS = {
    "lane claim": lambda q: claims.lane_claim(q, HOUR),
    "lane batch": lambda q: claims.lane_claim_batch(q, HOUR),
    "full lane": lambda q: claims.lane_claim_full(q, 1, 9, HOUR),
    "claim next": lambda q: claims.claim_next(q, 9, HOUR, ring_first=True),
}


@pytest.mark.parametrize("verb", CLAIMS)
def test_a_claim_that_a_broken_set_stops_puts_back_what_it_took(run, q, make, verb):
    jobs = [make.pending() for _ in range(3)]
    ghost = make.ghost(q.pending)
    spoil(run, q.active)
    with pytest.raises(WrongTypeFault):
        run(CLAIMS[verb](q))
    assert run(command("ZRANGE", q.pending, 0, -1)) == [job.id for job in jobs]
    run(command("DEL", q.active))
    assert [lease.id for lease in run(CLAIMS[verb](q))] == [job.id for job in jobs]
    assert run(score(q.pending, ghost.id)) is None


@pytest.mark.parametrize("verb", LANE_CLAIMS)
def test_a_lane_claim_that_a_broken_set_stops_puts_back_what_it_took(run, q, make, verb):
    job = make.in_lane()
    spoil(run, q.active)
    with pytest.raises(WrongTypeFault):
        run(LANE_CLAIMS[verb](q))
    assert run(score(q.lane(job.group), job.id)) == 0
    assert run(command("LRANGE", q.ring, 0, -1)) == [job.group]


@pytest.mark.parametrize("said", ["1.5", "many", ""])
def test_a_lanes_counter_that_is_no_number_starts_anew(run, q, make, said):
    job = make.in_lane()
    run(command("HSET", q.gactive, job.group, said))
    lease = run(claims.lane_claim(q, HOUR))
    assert run(command("HGET", q.gactive, job.group)) == b"1"
    assert run(settle.complete(q, job.id, lease.token)) is Word.ok
    assert run(command("HGET", q.gactive, job.group)) is None


def test_a_lanes_counter_that_is_no_number_costs_no_job_of_flat_pending(run, q, make):
    job, group = make.pending(), a_lane()
    run(command("HSET", q.row(job.id), "group", group))
    run(command("HSET", q.gactive, group, "many"))
    assert run(claims.claim(q, HOUR)).id == job.id
    assert run(command("HGET", q.gactive, group)) == b"1"


@pytest.mark.parametrize("said", [("HSET", "count", "many"), ("LPUSH", "a list")])
def test_a_counter_that_cannot_be_raised_hinders_no_settle(run, q, make, said):
    name, *words = said
    parent = make.awaiting_children(3)
    done, many, dies = (make.held_child(parent, "id") for _ in range(3))
    for key in (q.metrics_completed, q.metrics_failed):
        run(command("DEL", key))
        run(command(name, key, *words))
    assert run(settle.complete(q, done.id, done.token)) is Word.ok

    def at_once():
        call, count = settle.complete_calls(q, [(many.id, many.token, None)])[0]
        return verdicts((yield call), count)

    assert run(at_once()) == [Word.ok]
    assert run(settle.retry(q, dies.id, dies.token, 0, 1, b"e")) is Word.dead
    assert run(row(q, parent.id))[b"state"] == b"pending"


def test_a_row_of_another_type_ends_nobody_elses_lease(run, q, make):
    job, other = make.active(), make.absent()
    spoil(run, q.row(other.id))
    held = [(other.id, b"1"), (job.id, job.token)]
    assert run(locks.lock_beat(q, held, HOUR, HOUR)) == [other.id]


def test_a_job_that_dies_of_stalls_stands_nowhere_else(run, q, make):
    """As where another engine has extended a lease that was reaped before."""
    job = make.expired()
    run(command("ZADD", q.pending, 0, job.id))
    assert run(due.check_stalled(q, 1)) == ([], [job.id])
    assert run(score(q.pending, job.id)) is None
    assert run(score(q.dead, job.id)) == 0


def test_a_lane_that_was_left_with_an_id_of_flat_pending_loses_no_place(run, q, make):
    """As where an engine that knows no lanes removed a job and its id came in again."""
    job, lane = make.pending(), a_lane()
    run(lanes.limit(q, lane, 1))
    run(command("ZADD", q.lane(lane), 0, job.id))
    run(command("RPUSH", q.ring, lane))
    assert run(claims.lane_claim(q, HOUR)) is None
    assert run(command("HGET", q.gactive, lane)) is None
    assert [lease.id for lease in run(claims.claim_next(q, 9, HOUR))] == [job.id]
    assert run(command("LLEN", q.ring)) == 0


def test_a_job_in_the_wrong_lane_is_served_in_its_own(run, q, make):
    lane, own = a_lane(), a_lane()
    job = make.in_lane(lane)
    run(command("HSET", q.row(job.id), "group", own))
    lease = run(claims.claim_next(q, 9, HOUR, ring_first=True))
    assert [(one.id, one.group) for one in lease] == [(job.id, own)]
    assert run(command("HGETALL", q.gactive)) == [own, b"1"]


def test_a_held_job_that_stands_in_a_lane_too_is_not_handed_out_twice(run, q, make):
    job, lane = make.active(), a_lane()
    run(command("ZADD", q.lane(lane), 0, job.id))
    run(command("RPUSH", q.ring, lane))
    deadline = run(score(q.active, job.id))
    assert run(claims.claim_next(q, 9, HOUR, ring_first=True)) == []
    assert run(score(q.active, job.id)) == deadline
    assert run(settle.complete(q, job.id, job.token)) is Word.ok


MOVES = {
    "promote": ("schedule", "due", lambda q, _: due.promote(q, 9)),
    "reap": ("active", "expired", lambda q, _: due.reap(q)),
    "reap group": ("active", "expired", lambda q, job: due.reap_group(q, job.group)),
    "check stalled": ("active", "expired", lambda q, _: due.check_stalled(q, 9)),
    "give back": ("active", "active", lambda q, job: settle.give_back(q, job.id, job.token)),
    "reprocess": ("dead", "dead", lambda q, job: jobs.reprocess_job(q, job.id)),
    "run now": ("schedule", "scheduled", lambda q, job: jobs.run_now(q, job.id)),
}
IN_AND_OUT_OF_LANES = [
    (verb, grouped) for verb in MOVES for grouped in (False, True) if grouped or "group" not in verb
]


@pytest.mark.parametrize(("verb", "grouped"), IN_AND_OUT_OF_LANES)
def test_a_job_that_cannot_wait_where_it_should_stays_where_it_is(run, q, make, verb, grouped):
    name, state, move = MOVES[verb]
    job = getattr(make, state)(a_lane() if grouped else None)
    run(command("DEL", waits := q.lane(job.group) if grouped else q.pending))
    spoil(run, waits)
    with pytest.raises(WrongTypeFault):
        run(move(q, job))
    assert run(score(getattr(q, name), job.id)) is not None
    run(command("DEL", waits))
    run(move(q, job))
    assert run(score(getattr(q, name), job.id)) is None
    assert run(score(waits, job.id)) == 0


@pytest.mark.parametrize("verb", ["promote", "reap", "check stalled"])
def test_a_broken_lane_holds_up_no_other(run, q, make, verb):
    name, state, move = MOVES[verb]
    hindered, free = (getattr(make, state)(a_lane()) for _ in range(2))
    run(command("ZADD", getattr(q, name), 0, hindered.id, 1, free.id))
    spoil(run, q.lane(hindered.group))
    assert run(move(q, free)) in (1, ([free.id], []))
    assert run(score(getattr(q, name), hindered.id)) == 0
    assert run(score(q.lane(free.group), free.id)) == 0
    assert run(command("LRANGE", q.ring, 0, -1)) == [free.group]


def test_a_job_moved_to_a_broken_lane_stays_in_its_own(run, q, make):
    job, other = make.in_lane(), a_lane()
    spoil(run, q.lane(other))
    with pytest.raises(WrongTypeFault):
        run(lanes.reassign(q, job.id, other))
    assert run(score(q.lane(job.group), job.id)) == 0


def test_a_broken_pending_leaves_no_row_behind(run, q, mint):
    spoil(run, q.pending)
    ids = [mint() for _ in range(4)]
    flow = flows.FlowJob(ids[0], b"", children=(flows.FlowJob(ids[1], b""),))
    run(repeats.register(q, "r", 1000, b"t"))
    at = run(score(q.repeat, b"r"))
    for plan in (
        flows.add(q, flow),
        admission.enqueue_once(q, "once", 1000, ids[2], b""),
        repeats.repeat_fire(q, b"r", b"%d" % at, ids[3]),
    ):
        with pytest.raises(WrongTypeFault):
            run(plan)
    assert [run(command("EXISTS", q.row(one))) for one in ids] == [0] * 4
    assert run(command("EXISTS", q.dedup(b"once"))) == 0


def test_a_parent_that_cannot_wait_goes_on_awaiting_its_children(run, q, make):
    parent = make.awaiting_children()
    child = make.held_child(parent)
    spoil(run, q.pending)
    with pytest.raises(WrongTypeFault):
        run(settle.complete(q, child.id, child.token))
    assert run(row(q, parent.id))[b"state"] == b"awaiting_children"
