"""Retries as the backoff page sees them: what is known of a wait, and what is not."""

from queue_core.keys import QueueKeys
from queue_core.reads import retries as read
from queue_core.verbs import admission, claims, settle
from tests.builders import Builder, Run, command, server_ms

HOUR = 3_600_000


def test_a_wait_lies_between_what_is_left_and_the_claim(
    run: Run, q: QueueKeys, make: Builder
) -> None:
    job = make.mint()
    run(admission.enqueue(q, job, b"work"))
    lease = run(claims.claim(q, HOUR, b"w1"))
    run(settle.retry(q, job, lease.token, 30_000, 5, b"boom"))
    found = run(read.retries(q)).value.waiting
    assert [(one.member, one.failures) for one in found] == [(job, 1)]
    assert 25_000 < found[0].left_ms <= 30_000
    assert found[0].most_ms is not None
    assert 30_000 <= found[0].most_ms < 60_000


def test_without_a_claim_of_ours_only_what_is_left_is_known(
    run: Run, q: QueueKeys, make: Builder
) -> None:
    job = make.active()
    run(settle.retry(q, job.id, job.token, 30_000, 5, b"boom"))
    assert run(read.retries(q)).value.waiting[0].most_ms is None


def test_only_the_next_are_looked_at(run: Run, q: QueueKeys) -> None:
    now = run(server_ms())
    for number in range(30):
        run(command("ZADD", q.schedule, now + HOUR + number, b"JOB%011d" % number))
    seen = run(read.retries(q, most=10))
    assert (seen.value.looked, seen.value.total, seen.complete) == (10, 30, False)
    assert "10 of 30" in seen.why


def test_delayed_jobs_are_no_retries(run: Run, q: QueueKeys, make: Builder) -> None:
    job = make.active()
    run(settle.delay(q, job.id, job.token, HOUR))
    fresh = make.mint()
    run(admission.enqueue_in(q, fresh, b"x", HOUR))
    assert run(read.retries(q)).value.waiting == ()
