"""What an operator sets for a whole queue: concurrency and rate that claims keep to, and how long
logs outlive their jobs."""

import pytest

from queue_core.errors import InvalidError
from queue_core.keys import QueueKeys
from queue_core.outcomes import Word
from queue_core.reads.limits import global_rate_limit, is_maxed, limits, rate_limit_ttl
from queue_core.verbs import claims, due, jobs, lanes, queues, settle
from tests.builders import HOUR, Builder, Run, a_lane, command

CLAIMS = {
    "claim": lambda q: claims.claim(q, HOUR),
    "claim_batch": lambda q: claims.claim_batch(q, 9, HOUR),
    "claim_next": lambda q: claims.claim_next(q, 9, HOUR, ring_first=True),
    "lane_claim": lambda q: claims.lane_claim(q, HOUR),
    "lane_claim_weighted": lambda q: claims.lane_claim_weighted(q, HOUR),
    "lane_claim_batch": lambda q: claims.lane_claim_batch(q, HOUR),
}


def taken(answer: object) -> int:
    return len(answer) if isinstance(answer, list) else int(answer is not None)


@pytest.mark.parametrize("name", CLAIMS)
@pytest.mark.parametrize("bound", [{"concurrency": 2}, {"rate": 2, "window_ms": HOUR}])
def test_row_22_no_claim_goes_beyond_a_bound(
    run: Run, q: QueueKeys, make: Builder, name: str, bound: dict[str, int]
) -> None:
    lane = a_lane()
    run(lanes.weight(q, lane, 9))
    for _ in range(4):
        make.in_lane(lane)
        make.pending()
    assert run(queues.bound(q, **bound)) is Word.ok
    found = [taken(run(CLAIMS[name](q))) for _ in range(4)]
    assert sum(found) == 2
    assert found[-1] == 0
    assert run(command("ZCARD", q.active)) == 2
    assert run(command("LRANGE", q.ring, 0, 5)) == [lane]
    assert run(queues.bound(q)) is Word.ok
    assert taken(run(CLAIMS[name](q))) > 0


def test_row_22_a_place_is_free_again_when_a_job_is_settled_or_returned(
    run: Run, q: QueueKeys, make: Builder
) -> None:
    for _ in range(3):
        make.pending()
    run(queues.bound(q, concurrency=1))
    held = run(claims.claim(q, HOUR))
    assert run(claims.claim(q, HOUR)) is None
    run(settle.complete(q, held.id, held.token))
    held = run(claims.claim(q, HOUR))
    run(command("ZADD", q.active, "XX", 1, held.id))
    assert run(due.reap(q)) == 1
    assert run(claims.claim(q, HOUR)).id == held.id


def test_row_22_a_count_without_an_end_is_nobody_s_window(
    run: Run, q: QueueKeys, make: Builder
) -> None:
    """As upstream, where a rate binds only while its count has a time to live."""
    make.pending()
    make.pending()
    run(queues.bound(q, rate=1, window_ms=HOUR))
    run(command("SET", q.limiter, 7))
    assert run(claims.claim(q, HOUR)) is not None
    assert run(command("GET", q.limiter)) == b"1"
    assert 0 < run(command("PTTL", q.limiter)) <= HOUR
    assert run(claims.claim(q, HOUR)) is None
    run(command("SET", q.limiter, "many", "PX", HOUR))
    assert run(claims.claim(q, HOUR)) is not None


def test_row_22_a_window_ends_by_itself(run: Run, q: QueueKeys, make: Builder) -> None:
    make.pending()
    make.pending()
    run(queues.bound(q, rate=1, window_ms=40))
    assert run(claims.claim(q, HOUR)) is not None
    while (second := run(claims.claim(q, HOUR))) is None:
        assert run(command("PTTL", q.limiter)) <= 40
    assert second is not None


def test_bounds_are_set_lifted_and_read(run: Run, q: QueueKeys, make: Builder) -> None:
    assert run(queues.bound(q, 3, 100, HOUR)) is Word.ok
    assert run(queues.bound(q, 3, 100, HOUR)) is Word.noop
    make.active()
    read = run(limits(q)).value
    assert (read.concurrency, read.rate, read.window_ms, read.enforced) == (3, 100, HOUR, True)
    assert (read.active, read.spent) == (1, 1)
    assert 0 < read.resets_in_ms <= HOUR
    assert run(queues.bound(q, 3, 100, 1000)) is Word.ok
    assert run(limits(q)).value.resets_in_ms <= 1000
    assert run(queues.bound(q, 3)) is Word.ok
    assert run(command("EXISTS", q.limiter)) == 0
    assert run(queues.bound(q)) is Word.ok
    assert run(queues.bound(q)) is Word.noop
    assert run(command("EXISTS", q.meta)) == 0


def test_bounds_that_are_not_enforced_are_only_there_to_be_asked_for(
    run: Run, q: QueueKeys, make: Builder
) -> None:
    run(queues.bound(q, 1, 5, HOUR, enforce=False))
    make.active()
    make.pending()
    assert run(claims.claim(q, HOUR)) is not None
    assert run(is_maxed(q)) is Word.rate
    assert run(global_rate_limit(q)) == 5
    assert run(rate_limit_ttl(q)) == 0
    assert not run(limits(q)).value.enforced


@pytest.mark.parametrize(
    "bound",
    [{"concurrency": 0}, {"rate": 1}, {"window_ms": 5}, {"rate": 0, "window_ms": 5},
     {"rate": 1, "window_ms": 0}, {"concurrency": True}],
)  # fmt: skip
def test_bounds_are_counts(q: QueueKeys, bound: dict[str, int]) -> None:
    with pytest.raises(InvalidError):
        next(queues.bound(q, **bound))


def test_row_27_logs_of_completed_jobs_stay_unless_they_are_told_to_go(
    run: Run, q: QueueKeys, make: Builder
) -> None:
    kept, going, many, failed = (make.active() for _ in range(4))
    for job in (kept, going, many, failed):
        run(jobs.add_log(q, job.id, "a line"))
    run(settle.complete(q, kept.id, kept.token))
    assert run(command("PTTL", q.logs(kept.id))) == -1
    assert run(queues.keep_logs(q, HOUR)) is Word.ok
    assert run(queues.keep_logs(q, HOUR)) is Word.noop
    run(settle.complete(q, going.id, going.token))
    ((call, _),) = settle.complete_calls(q, [(many.id, many.token, None)])
    run(one(call))
    run(settle.retry(q, failed.id, failed.token, 0, 1, "gave up"))
    for job in (going, many):
        assert 0 < run(command("PTTL", q.logs(job.id))) <= HOUR
        assert run(command("LRANGE", q.logs(job.id), 0, 5)) == [b"a line"]
    assert run(command("PTTL", q.logs(failed.id))) == -1
    assert run(queues.keep_logs(q, None)) is Word.ok
    assert run(command("EXISTS", q.meta)) == 0


def test_row_27_a_job_under_the_same_id_keeps_its_log(
    run: Run, q: QueueKeys, make: Builder
) -> None:
    run(queues.keep_logs(q, HOUR))
    job = make.active()
    run(jobs.add_log(q, job.id, "before"))
    run(settle.complete(q, job.id, job.token))
    assert run(command("PTTL", q.logs(job.id))) > 0
    run(command("HSET", q.row(job.id), "state", "pending", "attempts", 0, "payload", ""))
    assert run(jobs.add_log(q, job.id, "again")) == 2
    assert run(command("PTTL", q.logs(job.id))) == -1


@pytest.mark.parametrize("after_ms", [0, -1, True, 2**53])
def test_a_time_to_keep_logs_is_a_count_of_ms(q: QueueKeys, after_ms: int) -> None:
    with pytest.raises(InvalidError):
        next(queues.keep_logs(q, after_ms))


def one(call):  # type: ignore[no-untyped-def]
    """A call as a plan."""
    return (yield call)
