"""What a verb costs the server: one round trip, and commands that do not grow with the queue."""

import pytest

from queue_core.errors import UnavailableError
from queue_core.outcomes import Word
from queue_core.plans import Call
from queue_core.reads.counts import get_counts
from queue_core.reads.jobs import get_job, get_job_state
from queue_core.reads.pending import browse
from queue_core.scripts import SCRIPTS
from queue_core.verbs import admission, claims, due, jobs, settle
from tests.builders import HOUR, a_lane, command

pytestmark = pytest.mark.usefixtures("loaded")

CROWD = 3000
LANE = a_lane()


def counted(plan, trips):
    """The plan, noting each of its round trips."""
    reply = None
    try:
        while True:
            step = plan.send(reply)
            trips.append(step)
            reply = yield step
    except StopIteration as end:
        return end.value


def calls_so_far():
    """How many commands the server has run, those inside scripts included."""
    text = yield Call("INFO", (), ("commandstats",))
    fields = [line.split(b"calls=")[1] for line in text.splitlines() if b"calls=" in line]
    return sum(int(rest.split(b",")[0]) for rest in fields)


def cost(run, plan):
    """Round trips, and commands, of one plan."""
    trips = []
    before = run(calls_so_far())
    run(counted(plan, trips))
    return len(trips), run(calls_so_far()) - before - 1


def crowd(run, q, key, first=1):
    """Many members that no verb should ever look at."""
    words = [word for n in range(CROWD) for word in (first + n, b"ZZZ%011d" % n)]
    run(command("ZADD", key, *words))


def fill(run, q):
    """A queue with a crowd in every set."""
    far = 10**14
    for key in (q.pending, q.lane(LANE), q.dead):
        crowd(run, q, key)
    for key in (q.active, q.schedule):
        crowd(run, q, key, far)


VERBS = {
    "enqueue": (8, lambda m: admission.enqueue(m.q, m.mint(), b"")),
    "enqueue_in": (8, lambda m: admission.enqueue_in(m.q, m.mint(), b"", 5)),
    "lane_enqueue": (14, lambda m: admission.lane_enqueue(m.q, LANE, m.mint(), b"")),
    "complete": (20, lambda m: settle.complete(m.q, m.active().id, 1)),
    "retry": (20, lambda m: settle.retry(m.q, m.active().id, 1, 5, 9, b"e")),
    "dead": (20, lambda m: settle.retry(m.q, m.active().id, 1, 5, 1, b"e")),
    "delay": (20, lambda m: settle.delay(m.q, m.active().id, 1, 5)),
    "extend_lock": (8, lambda m: settle.extend_lock(m.q, m.active().id, 1, HOUR)),
    "remove_job": (20, lambda m: jobs.remove_job(m.q, m.scheduled().id)),
    "remove_job_apart": (26, lambda m: jobs.remove_job(m.q, m.unknown().id, None, "unknown")),
    "reprocess_job": (20, lambda m: jobs.reprocess_job(m.q, m.dead().id)),
    "reschedule": (8, lambda m: jobs.reschedule(m.q, m.scheduled().id, 5)),
    "run_now": (14, lambda m: jobs.run_now(m.q, m.scheduled().id)),
    "claim": (14, lambda m: first_of(m.q.pending, m.pending(), claims.claim(m.q, HOUR))),
    "promote": (14, lambda m: after(m.due(), due.promote(m.q, 100))),
    "reap": (14, lambda m: after(m.expired(), due.reap(m.q))),
    "check_stalled": (20, lambda m: after(m.expired(), due.check_stalled(m.q))),
    "get_counts": (10, lambda m: get_counts(m.q)),
    "get_job": (6, lambda m: get_job(m.q, m.pending().id)),
    "get_job_state": (10, lambda m: get_job_state(m.q, m.in_lane(LANE).id)),
    "browse": (6, lambda m: browse(m.q, 50)),
}


def after(_made, plan):
    """The plan, once its job has been made."""
    return plan


def first_of(key, made, plan):
    """The plan, its job put before the crowd."""

    def ahead():
        yield Call("ZADD", (key,), (-1, made.id))
        return (yield from plan)

    return ahead()


@pytest.mark.parametrize("verb", VERBS)
def test_a_verb_costs_the_same_in_a_crowd(run, q, make, verb):
    most, plan = VERBS[verb]
    alone = cost(run, plan(make))
    fill(run, q)
    crowded = cost(run, plan(make))
    assert crowded[0] <= (2 if verb == "claim" else 1)
    assert max(alone[1], crowded[1]) <= most
    assert crowded[1] - alone[1] <= 2


def test_many_admissions_take_a_round_trip_per_thousand(run, q, mint):
    items = [(mint(), b"") for _ in range(2100)]
    trips, commands = cost(run, admission.enqueue_many(q, items))
    assert trips == 3
    assert commands <= 2100 * 5


def test_scripts_of_one_call_end_however_much_is_due(run, q, make):
    crowd(run, q, q.schedule)
    crowd(run, q, q.active)
    for plan, most in (
        (due.promote(q, 10**9), due.MOST),
        (due.reap(q), due.REAP_AT_ONCE),
        (due.check_stalled(q, 1, 10**9), due.MOST),
    ):
        trips, commands = cost(run, plan)
        assert trips == 1
        assert commands <= 6 * most + 10


def test_a_batch_of_lanes_costs_the_same_however_many_wait(run, q, make):
    """A ring of a thousand lanes, none full: the first 64 are looked into, and stay as they are."""
    names = [b"PRT%011d" % n for n in range(1000)]
    run(command("RPUSH", q.ring, *names))
    for name in names:
        run(command("ZADD", q.lane(name), 0, make.mint()))
    trips, commands = cost(run, claims.lane_claim_full(q, 5, 100, HOUR))
    assert trips == 1
    assert commands <= 64 * 3 + 10
    assert run(command("LRANGE", q.ring, 0, 63)) == names[:64]


def test_a_full_server_still_drains(run, q, make):
    held, failed, put_off = make.active(), make.active(), make.active()
    waiting, later, dead = make.pending(), make.due(), make.dead()
    run(config("maxmemory", "1"))
    try:
        with pytest.raises(UnavailableError):
            run(admission.enqueue(q, make.mint(), b""))
        with pytest.raises(UnavailableError):
            run(jobs.update_data(q, waiting.id, b"more"))
        assert run(claims.claim(q, HOUR)).id == waiting.id
        assert run(settle.complete(q, held.id, held.token)) is Word.ok
        assert run(settle.retry(q, failed.id, failed.token, 0, 3, b"e")) is Word.scheduled
        assert run(settle.delay(q, put_off.id, put_off.token, HOUR)) is Word.ok
        assert run(settle.extend_lock(q, waiting.id, 1, HOUR)) is Word.ok
        assert run(due.promote(q, 10)) == 2
        assert run(due.reap(q)) == 0
        assert run(jobs.remove_job(q, later.id)) is Word.ok
        assert run(jobs.reprocess_job(q, dead.id)) is Word.ok
        assert run(jobs.run_now(q, put_off.id)) is Word.ok
        assert run(get_counts(q, ["active"])).value == {"active": 1}
    finally:
        run(config("maxmemory", "0"))


def config(name, value):
    """Set one parameter of the server."""
    return (yield Call("CONFIG", (), ("SET", name, value)))


def test_only_admissions_and_growing_writes_are_refused_on_a_full_server():
    grow = {name for name, script in SCRIPTS.items() if script.writes}
    grow -= {name for name, script in SCRIPTS.items() if "allow-oom" in script.flags}
    for name in ("enqueue", "lane_enqueue", "update_data", "add_log", "update_progress"):
        assert name in grow
    for name in ("complete", "retry", "remove_job", "claim", "promote", "reap", "check_stalled"):
        assert name not in grow


def calls_of(name):
    """How often the server has run one command, scripts included."""
    text = yield Call("INFO", (), ("commandstats",))
    said = [line for line in text.splitlines() if line.startswith(b"cmdstat_%b:" % name)]
    return int(said[0].split(b"calls=")[1].split(b",")[0]) if said else 0


MOVES = {
    "promote": lambda q: due.promote(q, due.MOST),
    "reap": due.reap,
    "check_stalled": lambda q: due.check_stalled(q, 9, due.MOST),
}


@pytest.mark.parametrize("verb", MOVES)
def test_a_ring_of_many_lanes_is_not_searched_for_each_of_them(run, q, mint, verb):
    waiting = q.schedule if verb == "promote" else q.active
    groups = [a_lane() for _ in range(80)]
    run(command("RPUSH", q.ring, *groups[:20]))
    for group in groups:
        for job_id in (mint(), mint())[: 1 if verb == "reap" else 2]:
            run(command("ZADD", waiting, 1, job_id))
            words = ("state", "active", "attempts", 1, "payload", "", "group", group)
            run(command("HSET", q.row(job_id), *words))
    before = run(calls_of(b"lpos"))
    run(MOVES[verb](q))
    assert run(calls_of(b"lpos")) - before <= 24
    assert sorted(run(command("LRANGE", q.ring, 0, -1))) == sorted(groups)
