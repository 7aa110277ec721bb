"""One job and a whole queue in an operator's hands: looks, counters, removals, the lock plane
(scenarios 19 to 41, 58 and 59)."""

from queue_core.conformance.stage import LEASE_MS, Chapter, Stage
from queue_core.errors import ServerFault
from queue_core.outcomes import Word
from queue_core.reads import counts, limits, metrics
from queue_core.reads import jobs as looking
from queue_core.states import State
from queue_core.verbs import admission, due, jobs, locks, queues, settle

chapter = Chapter()

SETS = ("active", "pending", "schedule", "dead")
HOUR_MS = 3_600_000


def _where(s: Stage, job_id: bytes) -> State:
    return s.run(looking.get_job_state(s.q, job_id)).value


def _counted(s: Stage) -> tuple[int, ...]:
    read = s.run(counts.get_counts(s.q, SETS))
    if isinstance(read, Word):
        s.expect("counts", read, "four numbers")
        return ()
    return tuple(read.value[name] for name in SETS)


def _scheduled(s: Stage) -> bytes:
    job_id = s.mint()
    word = s.run(admission.enqueue_in(s.q, job_id, b"later", HOUR_MS))
    s.expect("enqueue", word, Word.scheduled)
    return job_id


def _dead(s: Stage) -> bytes:
    job_id = s.job()
    lease = s.held()
    s.expect("retry", s.run(settle.retry(s.q, lease.id, lease.token, 0, 1, "gave up")), Word.dead)
    return job_id


@chapter.scenario(19)
def counts_(s: Stage) -> None:
    """Four sets are counted at one moment; any other name is unknown."""
    s.jobs(4)
    s.held()
    _scheduled(s)
    s.expect("active, pending, schedule, dead", _counted(s), (1, 3, 1, 0))
    s.expect("wait", s.run(counts.get_counts(s.q, ["wait"])), Word.unknown_state)


@chapter.scenario(20)
def state(s: Stage) -> None:
    """A job's place and its row are read; of an unknown id neither."""
    held, later, unknown = s.job(b"work"), _scheduled(s), s.mint()
    s.held()
    found = tuple(_where(s, job_id) for job_id in (held, later, unknown))
    s.expect("states", found, (State.active, State.scheduled, State.absent))
    job = s.run(looking.get_job(s.q, held)).value
    got = job and (job.state, job.attempts, job.payload)
    s.expect("row", got, (b"active", 1, b"work"))
    s.expect("row of an unknown id", s.run(looking.get_job(s.q, unknown)).value, None)


@chapter.scenario(21)
def metrics_(s: Stage) -> None:
    """Completions are counted."""
    job_id = s.job()
    lease = s.held()
    before = s.run(metrics.get_metrics(s.q, "completed")).value
    s.expect("before", (before.count, before.data_points), (0, 0))
    s.run(settle.complete(s.q, job_id, lease.token))
    after = s.run(metrics.get_metrics(s.q, "completed")).value
    s.expect("after", (after.count, after.data_points), (1, 0))


@chapter.scenario(22)
def dedup(s: Stage) -> None:
    """A dedup id leads to the job that owns it."""
    job_id = s.mint()
    s.ask("SET", s.q.dedup(b"order-42"), job_id)
    s.expect("owner", s.run(jobs.get_dedup_job_id(s.q, "order-42")), job_id)
    s.expect("another", s.run(jobs.get_dedup_job_id(s.q, "order-43")), None)


@chapter.scenario(23)
def rate(s: Stage) -> None:
    """A queue at its ceiling says so."""
    s.ask("HSET", s.q.meta, "concurrency", 1)
    s.job()
    s.expect("before", s.run(limits.is_maxed(s.q)), Word.ok)
    s.held()
    s.expect("after", s.run(limits.is_maxed(s.q)), Word.rate)


@chapter.scenario(25)
def queue_pause(s: Stage) -> None:
    """A paused queue gives nothing and loses nothing."""
    job_id = s.job()
    s.expect("pause", s.run(queues.pause(s.q)), Word.ok)
    s.finds_nothing()
    s.expect("active, pending, schedule, dead", _counted(s), (0, 1, 0, 0))
    s.expect("resume", s.run(queues.resume(s.q)), Word.ok)
    lease = s.held()
    s.expect("claim", (lease.id, lease.token), (job_id, b"1"))


@chapter.scenario(26)
def drain(s: Stage) -> None:
    """Draining deletes what waits; what is held stays."""
    first, *others = s.jobs(4)
    s.held()
    s.expect("drain", s.run(queues.drain(s.q)), 3)
    s.expect("active, pending, schedule, dead", _counted(s), (1, 0, 0, 0))
    s.state(first, "active")
    s.expect("drained row", s.row(others[0]), {})


@chapter.scenario(27)
def obliterate(s: Stage) -> None:
    """Only a paused queue can be destroyed, and then wholly."""
    s.job()
    s.expect("unpaused", s.run(queues.obliterate(s.q))[0], Word.not_paused)
    s.expect("pending", s.size(s.q.pending), 1)
    s.run(queues.pause(s.q))
    s.expect("paused", s.run(queues.obliterate(s.q))[0], Word.ok)
    s.expect("active, pending, schedule, dead", _counted(s), (0, 0, 0, 0))


@chapter.scenario(28)
def update_data(s: Stage) -> None:
    """A payload is replaced; that of a missing job is not made."""
    job_id = s.job(b"old")
    s.expect("update", s.run(jobs.update_data(s.q, job_id, b"new")), Word.ok)
    s.expect("payload", s.field(job_id, "payload"), b"new")
    s.expect("missing", s.run(jobs.update_data(s.q, s.mint(), b"new")), Word.gone)


@chapter.scenario(30)
def job_logs(s: Stage) -> None:
    """Lines are kept in order, the last ones where so many are to be kept."""
    job_id, missing = s.job(), s.mint()
    s.expect("log 1", s.run(jobs.add_log(s.q, job_id, "1")), 1)
    s.expect("log 2", s.run(jobs.add_log(s.q, job_id, "2")), 2)
    s.expect("lines", s.run(jobs.get_job_logs(s.q, job_id)), [b"1", b"2"])
    s.expect("log 3, keep 2", s.run(jobs.add_log(s.q, job_id, "3", 2)), 2)
    s.expect("last lines", s.run(jobs.get_job_logs(s.q, job_id)), [b"2", b"3"])
    s.expect("log of a missing job", s.run(jobs.add_log(s.q, missing, "1")), Word.gone)
    s.expect("lines of a missing job", s.run(jobs.get_job_logs(s.q, missing)), Word.gone)


@chapter.scenario(31)
def remove_job(s: Stage) -> None:
    """A free job is removed with its dedup id; a held one is not."""
    free, held = s.jobs(2)
    s.ask("SET", s.q.dedup(b"dedup-7"), free)
    s.ask("SET", s.q.lock(held), "1")
    s.expect("free", s.run(jobs.remove_job(s.q, free, "dedup-7")), Word.ok)
    s.expect("state", _where(s, free), State.absent)
    s.expect("dedup", s.exists(s.q.dedup(b"dedup-7")), False)
    s.expect("held", s.run(jobs.remove_job(s.q, held)), Word.locked)
    s.expect("state of the held", _where(s, held), State.pending)


@chapter.scenario(32)
def reprocess_job(s: Stage) -> None:
    """A dead job waits again without its error; any other is left as it is."""
    dead = _dead(s)
    waiting = s.job()
    s.expect("dead", s.run(jobs.reprocess_job(s.q, dead)), Word.ok)
    s.expect("state", _where(s, dead), State.pending)
    s.expect("last_error", s.field(dead, "last_error"), None)
    before = s.row(waiting)
    s.expect("pending", s.run(jobs.reprocess_job(s.q, waiting)), Word.not_dead)
    s.expect("row", s.row(waiting), before)


@chapter.scenario(33)
def lock_extend(s: Stage) -> None:
    """An extended lease outlives its first deadline; others cannot extend it."""
    job_id = s.job()
    lease = s.held(50)
    s.expect("extend", s.run(settle.extend_lock(s.q, job_id, lease.token, LEASE_MS)), Word.ok)
    s.wait(120)
    s.expect("reap", s.run(due.reap(s.q)), 0)
    s.holds("it is held", s.score(s.q.active, job_id) is not None, None)
    s.expect("token 2", s.run(settle.extend_lock(s.q, job_id, "2", LEASE_MS)), Word.stale)
    s.expect("missing", s.run(settle.extend_lock(s.q, s.mint(), "1", LEASE_MS)), Word.gone)


@chapter.scenario(34)
def stalled(s: Stage) -> None:
    """A first stall brings a job back, the last one kills it."""
    job_id = s.job()
    s.held(30)
    s.expect("stalled before", s.run(metrics.job_stalled(s.q, job_id)), False)
    s.wait(80)
    s.expect("check", s.run(due.check_stalled(s.q, 2)), ([job_id], []))
    s.expect("stalled", s.run(metrics.job_stalled(s.q, job_id)), True)
    s.state(job_id, "pending")
    s.expect("token", s.held(30).token, b"2")
    s.wait(80)
    s.expect("check again", s.run(due.check_stalled(s.q, 2)), ([], [job_id]))
    s.state(job_id, "dead")
    s.expect("last_error", s.field(job_id, "last_error"), b"stalled")


@chapter.scenario(38)
def unknown_state(s: Stage) -> None:
    """A row that no set names has no known state; no row has none at all."""
    job_id = s.job()
    s.held()
    s.ask("ZREM", s.q.active, job_id)
    s.expect("state", _where(s, job_id), State.unknown)
    job = s.run(looking.get_job(s.q, job_id)).value
    s.expect("row", job and job.state, b"active")
    s.expect("missing", _where(s, s.mint()), State.absent)


@chapter.scenario(39)
def rate_consult(s: Stage) -> None:
    """Asking before claiming keeps to the ceiling."""
    s.ask("HSET", s.q.meta, "concurrency", 1)
    s.jobs(2)
    lease = s.held()
    s.expect("full", s.run(limits.is_maxed(s.q)), Word.rate)
    s.expect("active, pending, schedule, dead", _counted(s), (1, 1, 0, 0))
    s.expect("complete", s.run(settle.complete(s.q, lease.id, lease.token)), Word.ok)
    s.expect("free", s.run(limits.is_maxed(s.q)), Word.ok)


@chapter.scenario(40)
def dedup_release(s: Stage) -> None:
    """A removal lets go of its own dedup id only."""
    job_id, other = s.job(), s.mint()
    s.ask("SET", s.q.dedup(b"ours"), job_id)
    s.ask("SET", s.q.dedup(b"orphan"), other)
    s.expect("remove", s.run(jobs.remove_job(s.q, job_id, "ours")), Word.ok)
    s.expect("ours", s.exists(s.q.dedup(b"ours")), False)
    s.expect("orphan", s.ask("GET", s.q.dedup(b"orphan")), other)


@chapter.scenario(41)
def extend_locks_batch(s: Stage) -> None:
    """Of several leases, those that are not ours are named."""
    ours, taken, missing = s.job(), s.job(), s.mint()
    s.held()
    s.held()
    pairs = [(ours, "1"), (taken, "7"), (missing, "1")]
    failed = s.run(settle.extend_locks(s.q, pairs, LEASE_MS))
    s.expect("failed", failed, [taken, missing])


def _expires(s: Stage, job_id: bytes) -> bool:
    """Give the row's lock field a life of 30 s; whether the server can."""
    try:
        s.ask("HEXPIRE", s.q.row(job_id), 30, "FIELDS", 1, "lock")
    except ServerFault as fault:
        if "unknown command" not in fault.text:
            raise
        s.note = "fall-back, as hash fields do not expire here"
        return False
    return True


@chapter.scenario(58)
def native_lock_field(s: Stage) -> None:
    """The row's lock field has a life of its own; where fields cannot, no row is marked and the
    lock's own key alone expires."""
    job_id = s.job()
    row = s.q.row(job_id)
    s.ask("HSET", row, "lock", "1")
    if _expires(s, job_id):
        life = s.ask("HPTTL", row, "FIELDS", 1, "lock")
        s.holds("the field's life is running", life[0] > 0, life)
        s.ask("HPEXPIREAT", row, 1, "FIELDS", 1, "lock")
    else:
        s.expect("track", s.run(locks.lock_track(s.q, job_id, "1", LEASE_MS)), Word.ok)
        life = s.ask("PTTL", s.q.lock(job_id))
        s.holds("the key's life is running", life > 0, life)
    s.expect("lock", s.field(job_id, "lock"), None)
    s.state(job_id, "pending")


@chapter.scenario(59)
def native_lock_refuses(s: Stage) -> None:
    """A job whose row is locked is not removed until the field is gone, by its life or by its
    holder."""
    job_id = s.job()
    row = s.q.row(job_id)
    s.ask("HSET", row, "lock", "1")
    s.expect("locked", s.run(jobs.remove_job(s.q, job_id)), Word.locked)
    s.expect("state", _where(s, job_id), State.pending)
    if _expires(s, job_id):
        s.ask("HPEXPIREAT", row, 1, "FIELDS", 1, "lock")
    else:
        s.expect("untrack", s.run(locks.lock_untrack(s.q, job_id)), Word.ok)
    s.expect("free", s.run(jobs.remove_job(s.q, job_id)), Word.ok)
    s.expect("state after", _where(s, job_id), State.absent)
