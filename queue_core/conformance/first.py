"""A job's life in flat pending: admitted, claimed, settled, brought back (scenarios 1 to 17)."""

from queue_core.conformance.stage import Chapter, Stage
from queue_core.keys import VERSION
from queue_core.outcomes import Word
from queue_core.verbs import admission, due, repeats, settle
from queue_core.work.backoff import exponential

chapter = Chapter()


@chapter.scenario(1)
def fence(s: Stage) -> None:
    """The bus carries the engine's version once it was written to."""
    s.job()
    s.expect("version", s.ask("GET", VERSION), s.ground.fence.encode())


@chapter.scenario(2)
def mint(s: Stage) -> None:
    """An admitted job's row has exactly three fields."""
    job_id = s.mint()
    s.expect("enqueue", s.run(admission.enqueue(s.q, job_id, b"cargo")), Word.enqueued)
    wanted = {b"state": b"pending", b"attempts": b"0", b"payload": b"cargo"}
    s.expect("row", s.row(job_id), wanted)


@chapter.scenario(3)
def duplicate(s: Stage) -> None:
    """An id is admitted once; the second payload changes nothing."""
    job_id = s.job(b"once")
    s.expect("enqueue", s.run(admission.enqueue(s.q, job_id, b"twice")), Word.duplicate)
    s.expect("payload", s.field(job_id, "payload"), b"once")


@chapter.scenario(4)
def kind(s: Stage) -> None:
    """Only JOB ids are admitted."""
    job_id = s.mint("ORD")
    s.expect("enqueue", s.run(admission.enqueue(s.q, job_id, b"x")), Word.kind)
    s.expect("row", s.row(job_id), {})


@chapter.scenario(5)
def order(s: Stage) -> None:
    """Newest first by bytes is the reverse of mint order."""
    admitted = s.jobs(3)
    s.expect("pending", s.newest_first(s.q.pending), admitted[::-1])


@chapter.scenario(6)
def claim(s: Stage) -> None:
    """A claim gives id, payload and the first attempt."""
    job_id = s.job(b"work")
    lease = s.held()
    s.expect("claim", (lease.id, lease.payload, lease.attempts), (job_id, b"work", 1))
    s.state(job_id, "active")


@chapter.scenario(7)
def stale(s: Stage) -> None:
    """A wrong token settles nothing, also where the server has forgotten every script."""
    s.everywhere("SCRIPT", "FLUSH")
    job_id = s.job()
    s.expect("attempts", s.held().attempts, 1)
    s.expect("complete with 99", s.run(settle.complete(s.q, job_id, "99")), Word.stale)
    s.expect("complete with 1", s.run(settle.complete(s.q, job_id, "1")), Word.ok)


@chapter.scenario(8)
def complete(s: Stage) -> None:
    """A completed job leaves no row and is held by nobody."""
    job_id = s.job()
    s.expect("complete", s.run(settle.complete(s.q, job_id, s.held().token)), Word.ok)
    s.expect("row", s.row(job_id), {})
    s.expect("active", s.size(s.q.active), 0)


@chapter.scenario(9)
def retry(s: Stage) -> None:
    """A failed attempt is scheduled and comes back with the next token."""
    job_id = s.job()
    answer = s.run(settle.retry(s.q, job_id, s.held().token, 10, 3, "boom"))
    s.expect("retry", answer, Word.scheduled)
    s.expect("last_error", s.field(job_id, "last_error"), b"boom")
    s.wait(30)
    s.expect("promote", s.run(due.promote(s.q, 100)), 1)
    s.expect("schedule", s.size(s.q.schedule), 0)
    again = s.held()
    s.expect("claim", (again.id, again.attempts), (job_id, 2))
    s.expect("complete", s.run(settle.complete(s.q, job_id, again.token)), Word.ok)


@chapter.scenario(10)
def dead(s: Stage) -> None:
    """The last failed attempt makes a job dead, with its error kept."""
    job_id = s.job()
    answer = s.run(settle.retry(s.q, job_id, s.held().token, 10, 1, "gave up"))
    s.expect("retry", answer, Word.dead)
    s.state(job_id, "dead")
    s.expect("last_error", s.field(job_id, "last_error"), b"gave up")
    s.expect("dead set", s.newest_first(s.q.dead), [job_id])


@chapter.scenario(11)
def reap(s: Stage) -> None:
    """A lease that ran out is reaped, and the next claim fences the old holder."""
    job_id = s.job()
    s.held(30)
    s.wait(60)
    s.expect("reap", s.run(due.reap(s.q)), 1)
    s.state(job_id, "pending")
    again = s.held()
    s.expect("claim", (again.id, again.attempts), (job_id, 2))
    s.expect("complete", s.run(settle.complete(s.q, job_id, again.token)), Word.ok)


@chapter.scenario(15)
def schedule(s: Stage) -> None:
    """A job for later is given to nobody before it is promoted."""
    job_id = s.mint()
    s.expect("enqueue", s.run(admission.enqueue_in(s.q, job_id, b"later", 30)), Word.scheduled)
    s.state(job_id, "scheduled")
    s.finds_nothing()
    s.wait(50)
    s.expect("promote", s.run(due.promote(s.q, 100)), 1)
    s.expect("schedule", s.size(s.q.schedule), 0)
    lease = s.held()
    s.expect("claim", (lease.id, lease.payload, lease.attempts), (job_id, b"later", 1))
    s.expect("complete", s.run(settle.complete(s.q, job_id, lease.token)), Word.ok)


@chapter.scenario(16)
def repeat(s: Stage) -> None:
    """A repeat fires again and again, each time as a job of its own, until it is cancelled."""
    made = s.run(repeats.register(s.q, "report", 10, b"sum up", 0))
    s.expect("register", made, Word.registered)
    fired = [_fire(s)]
    s.wait(20)
    fired.append(_fire(s))
    s.expect("pending", s.newest_first(s.q.pending), fired[::-1])
    s.expect("cancel", s.run(repeats.cancel(s.q, "report")), Word.cancelled)
    s.expect("count", s.run(repeats.count(s.q)), 0)


def _fire(s: Stage) -> bytes:
    """What a pump does for a repeat that is due: the id of the job that it admitted."""
    found = s.run(repeats.due(s.q, 10))
    s.expect("due", [(one.name, one.template) for one in found], [(b"report", b"sum up")])
    job_id = s.mint()
    word = s.run(repeats.repeat_fire(s.q, found[0].name, found[0].score, job_id))
    s.expect("fire", word, Word.fired)
    return job_id


@chapter.scenario(17)
def backoff(s: Stage) -> None:
    """A curve's delays carry a job to its death at exactly the last attempt."""
    curve = exponential(1, 10)
    job_id = s.job()
    words = []
    for attempt in range(1, 4):
        lease = s.held()
        s.expect("attempt", lease.attempts, attempt)
        wait_ms = curve.delay(attempt)
        words.append(s.run(settle.retry(s.q, job_id, lease.token, wait_ms, 3, f"boom {attempt}")))
        s.wait(wait_ms + 10)
        s.run(due.promote(s.q, 100))
    s.expect("retries", words, [Word.scheduled, Word.scheduled, Word.dead])
    s.expect("last_error", s.field(job_id, "last_error"), b"boom 3")
    s.expect("dead set", s.newest_first(s.q.dead), [job_id])
