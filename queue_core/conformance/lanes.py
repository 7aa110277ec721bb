"""Lanes and their ring: rotation, ceilings, weights, moves (scenarios 12 to 14, 24, 42 to 46,
60, 61, 68 to 70)."""

from collections.abc import Callable

from queue_core.conformance.stage import LEASE_MS, Chapter, Stage
from queue_core.jobs import Lease
from queue_core.keys import QueueKeys
from queue_core.outcomes import Word
from queue_core.plans import Plan
from queue_core.verbs import claims, due, jobs, lanes, queues, repeats, settle

chapter = Chapter()

Take = Callable[[QueueKeys, int], Plan[list[Lease]]]
"""A verb that takes several jobs of one lane."""


def _two_lanes(s: Stage) -> tuple[bytes, bytes]:
    """Lanes a and b with two jobs each, admitted a, a, b, b."""
    a, b = s.mint("PRT"), s.mint("PRT")
    s.lane_jobs(a, 2)
    s.lane_jobs(b, 2)
    return a, b


def _empty(s: Stage) -> None:
    s.expect("lane claim", s.run(claims.lane_claim(s.q, LEASE_MS)), None)


def _in_flight(s: Stage, lane: bytes) -> bytes | None:
    found: bytes | None = s.ask("HGET", s.q.gactive, lane)
    return found


def _ring(s: Stage) -> list[bytes]:
    return list(s.ask("LRANGE", s.q.ring, 0, 100))


@chapter.scenario(12)
def rotate(s: Stage) -> None:
    """Lanes are served in turn."""
    a, b = _two_lanes(s)
    served = [s.lane_held() for _ in range(4)]
    s.expect("lanes", [one.group for one in served], [a, b, a, b])
    s.expect("attempts", [one.attempts for one in served], [1, 1, 1, 1])


@chapter.scenario(13)
def pause(s: Stage) -> None:
    """A parked lane is passed over until it is let go."""
    a, b = _two_lanes(s)
    s.expect("pause", s.run(lanes.pause(s.q, a)), Word.ok)
    s.expect("lanes", [s.lane_held().group for _ in range(2)], [b, b])
    _empty(s)
    s.expect("depth", s.run(lanes.depth(s.q, a)), 2)
    s.expect("resume", s.run(lanes.resume(s.q, a)), Word.ok)
    s.expect("lane", s.lane_held().group, a)


@chapter.scenario(14)
def limit(s: Stage) -> None:
    """A lane at its ceiling gives nothing until one of its jobs is settled."""
    a = s.mint("PRT")
    s.run(lanes.limit(s.q, a, 1))
    first, second = s.lane_jobs(a, 2)
    held = s.lane_held()
    s.expect("first", held.id, first)
    _empty(s)
    s.expect("complete", s.run(settle.complete(s.q, held.id, held.token)), Word.ok)
    s.expect("second", s.lane_held().id, second)


@chapter.scenario(24)
def lane_depth(s: Stage) -> None:
    """What waits is counted lane by lane."""
    a, b = s.mint("PRT"), s.mint("PRT")
    s.lane_jobs(a, 2)
    s.lane_jobs(b, 1)
    s.expect("depths", s.run(lanes.depths(s.q, [a, b])), {a: 2, b: 1})


@chapter.scenario(42)
def stalled_group(s: Stage) -> None:
    """A stalled job of a lane waits in its lane again."""
    lane = s.mint("PRT")
    job_id = s.lane_job(lane)
    s.lane_held(30)
    s.wait(80)
    s.expect("check", s.run(due.check_stalled(s.q, 2)), ([job_id], []))
    s.expect("in its lane", s.score(s.q.lane(lane), job_id), 0.0)
    s.expect("in flat pending", s.score(s.q.pending, job_id), None)
    again = s.lane_held()
    s.expect("claim", (again.id, again.attempts, again.group), (job_id, 2, lane))


@chapter.scenario(43)
def obliterate_grouped(s: Stage) -> None:
    """A destroyed queue leaves nothing, its lanes neither."""
    lane = s.mint("PRT")
    job_id = s.lane_job(lane)
    s.run(queues.pause(s.q))
    s.expect("obliterate", s.run(queues.obliterate(s.q))[0], Word.ok)
    s.expect("row", s.row(job_id), {})
    s.expect("lane", s.exists(s.q.lane(lane)), False)
    s.expect("keys left", s.keys(), [])


@chapter.scenario(44)
def reassign(s: Stage) -> None:
    """A waiting job moves to another lane, and is counted there."""
    src, dst = s.mint("PRT"), s.mint("PRT")
    job_id = s.lane_job(src)
    s.expect("reassign", s.run(lanes.reassign(s.q, job_id, dst)), Word.reassigned)
    s.expect("in src", s.score(s.q.lane(src), job_id), None)
    s.expect("in dst", s.score(s.q.lane(dst), job_id), 0.0)
    s.expect("group", s.field(job_id, "group"), dst)
    s.expect("again", s.run(lanes.reassign(s.q, job_id, dst)), Word.noop)
    held = s.lane_held()
    s.expect("claim", (held.id, held.attempts, held.group), (job_id, 1, dst))
    s.expect("in flight", (_in_flight(s, dst), _in_flight(s, src)), (b"1", None))
    s.expect("complete", s.run(settle.complete(s.q, job_id, held.token)), Word.ok)
    s.expect("in flight after", _in_flight(s, dst), None)


@chapter.scenario(45)
def lane_drain(s: Stage) -> None:
    """Draining a lane deletes what waits in it and nothing else."""
    a, b = s.mint("PRT"), s.mint("PRT")
    first, second, third = s.lane_jobs(a, 3)
    held = s.lane_held()
    s.expect("claim", held.id, first)
    s.run(jobs.add_log(s.q, second, "a line"))
    other = s.lane_job(b)
    s.run(repeats.register(s.q, "report", 60_000, b"sum up"))
    s.expect("drain", s.run(lanes.drain(s.q, a)), 2)
    s.expect("rows", (s.row(second), s.row(third)), ({}, {}))
    s.expect("log", s.exists(s.q.logs(second)), False)
    s.expect("lane", s.exists(s.q.lane(a)), False)
    s.expect("ring", _ring(s), [b])
    s.holds("the claimed job is active", s.score(s.q.active, first) is not None, None)
    s.expect("in flight", _in_flight(s, a), b"1")
    s.expect("the other lane", s.newest_first(s.q.lane(b)), [other])
    s.expect("repeats", s.run(repeats.count(s.q)), 1)
    s.expect("drain of an unknown lane", s.run(lanes.drain(s.q, s.mint("PRT"))), 0)


@chapter.scenario(46)
def reap_group(s: Stage) -> None:
    """One lane's expired jobs come back without those of others."""
    g, h = s.mint("PRT"), s.mint("PRT")
    ours, theirs = s.lane_job(g), s.lane_job(h)
    for _ in range(2):
        s.lane_held(30)
    s.wait(80)
    s.expect("reap", s.run(due.reap_group(s.q, g)), 1)
    s.expect("in its lane", s.score(s.q.lane(g), ours), 0.0)
    s.expect("active", s.score(s.q.active, ours), None)
    s.expect("flat", s.score(s.q.pending, ours), None)
    s.holds("the other is active", s.score(s.q.active, theirs) is not None, None)
    s.expect("the other lane", s.exists(s.q.lane(h)), False)
    s.expect("in flight", (_in_flight(s, g), _in_flight(s, h)), (None, b"1"))
    again = s.lane_held()
    s.expect("claim", (again.id, again.attempts), (ours, 2))
    s.expect("in flight again", _in_flight(s, g), b"1")
    s.expect("complete", s.run(settle.complete(s.q, ours, again.token)), Word.ok)
    s.expect("in flight after", _in_flight(s, g), None)
    s.expect("reap of an unknown lane", s.run(due.reap_group(s.q, s.mint("PRT"))), 0)


@chapter.scenario(60)
def weighted_proportion(s: Stage) -> None:
    """A heavier lane is served more, the lighter one still."""
    a, b = s.mint("PRT"), s.mint("PRT")
    s.run(lanes.weight(s.q, a, 3))
    s.run(lanes.weight(s.q, b, 1))
    s.lane_jobs(a, 60)
    s.lane_jobs(b, 60)
    served: list[Lease] = []
    for _ in range(40):
        served += s.run(claims.lane_claim_weighted(s.q, LEASE_MS))
    heavy = sum(one.group == a for one in served)
    light = sum(one.group == b for one in served)
    s.holds(
        "0 < b and 2b <= a <= 4b", light > 0 and 2 * light <= heavy <= 4 * light, (heavy, light)
    )
    missing = [one.id for one in served if s.score(s.q.active, one.id) is None]
    s.expect("served without a lease", missing, [])


@chapter.scenario(61)
def starvation_drill(s: Stage) -> None:
    """A heavy lane's backlog starves no light lane."""
    heavy, *light = (s.mint("PRT") for _ in range(3))
    for lane, weight, count in ((heavy, 5, 200), (light[0], 1, 6), (light[1], 1, 6)):
        s.run(lanes.weight(s.q, lane, weight))
        s.lane_jobs(lane, count)
    _both_light_served(s, light, claims.lane_claim_weighted, settled=False)
    for _ in range(120):
        s.run(claims.lane_claim_weighted(s.q, LEASE_MS))
    s.expect("depths", set(s.run(lanes.depths(s.q, [heavy, *light])).values()), {0})


@chapter.scenario(68)
def grouped_batch_affinity(s: Stage) -> None:
    """A grouped batch comes from one lane, under one deadline."""
    a, b = s.mint("PRT"), s.mint("PRT")
    admitted = s.lane_jobs(a, 5)
    s.lane_jobs(b, 5)
    taken = s.run(claims.lane_claim_batch(s.q, LEASE_MS))
    s.expect("jobs", [one.id for one in taken], admitted)
    s.expect("lanes", {one.group for one in taken}, {a})
    s.expect("rows' lanes", {s.field(one.id, "group") for one in taken}, {a})
    scores = {s.score(s.q.active, one.id) for one in taken}
    s.expect("deadlines", scores, {float(taken[0].deadline_ms)})
    s.expect("the sibling's depth", s.run(lanes.depth(s.q, b)), 5)


@chapter.scenario(69)
def grouped_batch_ceiling(s: Stage) -> None:
    """A grouped batch stays under its lane's ceiling."""
    lane = s.mint("PRT")
    s.run(lanes.limit(s.q, lane, 3))
    admitted = s.lane_jobs(lane, 8)
    taken = s.run(claims.lane_claim_batch(s.q, LEASE_MS))
    s.expect("first", [one.id for one in taken], admitted[:3])
    s.expect("in flight", _in_flight(s, lane), b"3")
    s.expect("at the ceiling", s.run(claims.lane_claim_batch(s.q, LEASE_MS)), [])
    s.expect("complete", s.run(settle.complete(s.q, taken[0].id, taken[0].token)), Word.ok)
    more = s.run(claims.lane_claim_batch(s.q, LEASE_MS))
    s.expect("next", [one.id for one in more], admitted[3:4])


@chapter.scenario(70)
def grouped_batch_fairness(s: Stage) -> None:
    """Grouped batches starve no light lane and drain them all."""
    heavy, *light = (s.mint("PRT") for _ in range(3))
    for lane, count in ((heavy, 40), (light[0], 4), (light[1], 4)):
        s.run(lanes.limit(s.q, lane, 2))
        s.lane_jobs(lane, count)
    _both_light_served(s, light, claims.lane_claim_batch, settled=True)
    for _ in range(60):
        _round(s, claims.lane_claim_batch, settled=True)
    s.expect("depths", set(s.run(lanes.depths(s.q, [heavy, *light])).values()), {0})


def _both_light_served(s: Stage, light: list[bytes], take: Take, settled: bool) -> None:
    """Nine rounds, and whether they reached both light lanes."""
    seen = {one.group for _ in range(9) for one in _round(s, take, settled)}
    s.holds("both light lanes are served in nine rounds", set(light) <= seen, seen)


def _round(s: Stage, take: Take, settled: bool) -> list[Lease]:
    """One claim, its jobs completed at once where `settled`."""
    taken = s.run(take(s.q, LEASE_MS))
    for one in taken if settled else ():
        s.expect("complete", s.run(settle.complete(s.q, one.id, one.token)), Word.ok)
    return taken
