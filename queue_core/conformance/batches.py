"""Batches and pools of connections (scenarios 56, 57, 62 to 67, 71 to 73)."""

from itertools import cycle

from queue_core.conformance.stage import LEASE_MS, Chapter, Stage
from queue_core.jobs import Lease
from queue_core.outcomes import Word
from queue_core.verbs import admission, claims, due, queues, settle
from queue_core.work import batches
from queue_core.work.backoff import fixed
from queue_core.work.serving import Policy
from queue_core.work.verdicts import Dead, Done, Failed, Later, Verdict

chapter = Chapter()

SOON = Policy(fixed(5), max_attempts=9)


def _batch(s: Stage, size: int) -> list[Lease]:
    return s.run(claims.claim_batch(s.q, size, LEASE_MS))


def _taken(leases: list[Lease]) -> list[tuple[bytes, int]]:
    return [(one.id, one.attempts) for one in leases]


@chapter.scenario(56)
def pool_enqueue(s: Stage) -> None:
    """Admissions through two connections in turn are one another's duplicates."""
    job_id = s.mint()
    pool = (s.connect(), s.connect())
    words = [bus.run(admission.enqueue(s.q, job_id, b"cargo")) for bus in pool]
    s.expect("words", words, [Word.enqueued, Word.duplicate])
    wanted = {b"state": b"pending", b"attempts": b"0", b"payload": b"cargo"}
    s.expect("row", s.row(job_id), wanted)
    s.expect("score", s.score(s.q.pending, job_id), 0.0)
    s.expect("pending", s.size(s.q.pending), 1)


@chapter.scenario(57)
def pool_order(s: Stage) -> None:
    """What comes through several connections still stands in mint order."""
    pool = cycle((s.connect(), s.connect()))
    minted = [s.mint() for _ in range(5)]
    for job_id, bus in zip(minted, pool, strict=False):
        s.expect("enqueue", bus.run(admission.enqueue(s.q, job_id, b"x")), Word.enqueued)
    s.expect("pending", s.newest_first(s.q.pending), minted[::-1])


@chapter.scenario(62)
def batch_claim(s: Stage) -> None:
    """A batch takes the oldest in order, under one deadline."""
    admitted = s.jobs(8)
    taken = _batch(s, 4)
    s.expect("claims", _taken(taken), [(job_id, 1) for job_id in admitted[:4]])
    scores = {s.score(s.q.active, one.id) for one in taken}
    s.expect("deadlines", scores, {float(taken[0].deadline_ms)})


@chapter.scenario(63)
def batch_claim_short(s: Stage) -> None:
    """A batch takes what there is; an empty and a paused queue give nothing."""
    s.jobs(3)
    s.expect("first", len(_batch(s, 7)), 3)
    s.expect("second", _batch(s, 7), [])
    paused = s.sub("paused")
    s.job(q=paused)
    s.run(queues.pause(paused))
    s.expect("paused", s.run(claims.claim_batch(paused, 7, LEASE_MS)), [])
    s.expect("pending", s.size(paused.pending), 1)


@chapter.scenario(64)
def batch_partial_failure(s: Stage) -> None:
    """One member's failure is its own."""
    first, *others = s.jobs(3)
    leases = _batch(s, 3)
    s.expect("stale", s.run(settle.complete(s.q, first, "99")), Word.stale)
    word = s.run(settle.retry(s.q, first, leases[0].token, 5, 3, "poison"))
    s.expect("retry", word, Word.scheduled)
    s.expect("last_error", s.field(first, "last_error"), b"poison")
    for one in leases[1:]:
        s.expect("complete", s.run(settle.complete(s.q, one.id, one.token)), Word.ok)
    s.expect("rows", [s.row(job_id) for job_id in others], [{}, {}])
    s.wait(20)
    s.expect("promote", s.run(due.promote(s.q, 100)), 1)
    s.expect("next batch", _taken(_batch(s, 3)), [(first, 2)])


@chapter.scenario(65)
def batch_shaping_floor(s: Stage) -> None:
    """A batch goes once enough wait."""
    admitted = s.jobs(6)
    s.expect("3 wait", batches.decide(3, 0, min_size=4, timeout_ms=200), 0)
    size = batches.decide(6, 0, min_size=4, timeout_ms=200)
    s.expect("6 go", size, 6)
    taken = _batch(s, size)
    s.expect("claims", _taken(taken), [(job_id, 1) for job_id in admitted])
    words = [s.run(settle.complete(s.q, one.id, one.token)) for one in taken]
    s.expect("completes", words, [Word.ok] * 6)


@chapter.scenario(66)
def batch_shaping_timeout(s: Stage) -> None:
    """A small batch goes at the timeout, an empty one never."""
    admitted = s.jobs(2)
    asked = [
        batches.decide(*now, min_size=5, timeout_ms=200) for now in ((2, 199), (2, 200), (0, 200))
    ]
    s.expect("decisions", asked, [0, 2, 0])
    s.expect("claims", [one.id for one in _batch(s, asked[1])], admitted)


@chapter.scenario(67)
def batch_shaping_partial_failure(s: Stage) -> None:
    """Each member is settled by its own verdict; one without any is retried."""
    failed, done, silent = s.jobs(3)
    leases = _batch(s, 3)
    verdicts: dict[bytes, Verdict] = {failed: Failed("poison"), done: Done()}
    words = s.run(batches.settle(s.q, leases, verdicts, SOON))
    s.expect("words", words, {failed: Word.scheduled, done: Word.ok, silent: Word.scheduled})
    errors = [s.field(job_id, "last_error") for job_id in (failed, silent)]
    s.expect("errors", errors, [b"poison", b"missing verdict"])
    s.expect("row", s.row(done), {})
    s.wait(20)
    s.expect("promote", s.run(due.promote(s.q, 100)), 2)
    s.expect("next batch", _taken(_batch(s, 3)), [(failed, 2), (silent, 2)])


@chapter.scenario(71)
def batch_partition(s: Stage) -> None:
    """Every member of a batch ends in exactly one part."""
    done, again, dead, later, silent = s.jobs(5)
    leases = _batch(s, 5)
    verdicts: dict[bytes, Verdict] = {
        done: Done(), again: Failed("boom"), dead: Dead("boom"), later: Later(30),
    }  # fmt: skip
    words = s.run(batches.settle(s.q, leases, verdicts, SOON))
    wanted = batches.Parts(
        completed=(done,), delayed=(later,), retried=(again, silent), dead=(dead,), lost=()
    )
    s.expect("parts", batches.partition(leases, verdicts, words), wanted)
    states = [s.field(job_id, "state") for job_id in (done, again, dead, later, silent)]
    s.expect("states", states, [None, b"scheduled", b"dead", b"scheduled", b"scheduled"])


@chapter.scenario(72)
def batch_delay(s: Stage) -> None:
    """A delay puts a job off and uses up no attempt."""
    job_id = s.job()
    lease = s.held()
    s.expect("delay", s.run(settle.delay(s.q, job_id, lease.token, 40)), Word.ok)
    s.state(job_id, "scheduled")
    s.expect("attempts", s.field(job_id, "attempts"), b"1")
    s.holds("it is in the schedule", s.score(s.q.schedule, job_id) is not None, None)
    s.expect("active", s.score(s.q.active, job_id), None)
    s.finds_nothing()
    s.wait(60)
    s.expect("promote", s.run(due.promote(s.q, 100)), 1)
    s.expect("schedule", s.size(s.q.schedule), 0)
    again = s.held()
    s.expect("claim", (again.id, again.token), (job_id, b"2"))
    s.expect("complete", s.run(settle.complete(s.q, job_id, again.token)), Word.ok)


@chapter.scenario(73)
def batch_delay_stale(s: Stage) -> None:
    """Only the present holder can put a job off, also where the scripts were forgotten."""
    s.everywhere("SCRIPT", "FLUSH")
    job_id = s.job()
    old = s.held(30)
    s.wait(60)
    s.expect("reap", s.run(due.reap(s.q)), 1)
    new = s.held()
    deadline = s.score(s.q.active, job_id)
    s.expect("old token", s.run(settle.delay(s.q, job_id, old.token, 40)), Word.stale)
    s.expect("lease", s.score(s.q.active, job_id), deadline)
    s.expect("new token", s.run(settle.delay(s.q, job_id, new.token, 40)), Word.ok)
    s.state(job_id, "scheduled")
    s.expect("active", s.score(s.q.active, job_id), None)
    s.expect("missing", s.run(settle.delay(s.q, s.mint(), "1", 40)), Word.gone)
