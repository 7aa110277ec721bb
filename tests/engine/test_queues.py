"""Verbs on a whole queue: pause, drain, obliterate."""

from collections.abc import Callable
from typing import Any

import pytest

from queue_core.errors import InvalidError
from queue_core.keys import QueueKeys
from queue_core.outcomes import Word
from queue_core.plans import Step
from queue_core.verbs import admission, claims, flows, lanes, queues, repeats
from tests.builders import Builder, Run, a_lane, command, score
from tests.engine.steps import watched


def keys_of(run: Run, q: QueueKeys) -> list[bytes]:
    found: list[bytes] = run(command("KEYS", q.base + b"*"))
    return sorted(found)


def test_pause_and_resume_say_whether_anything_changed(run: Run, q: QueueKeys) -> None:
    words = [run(verb(q)) for verb in (queues.pause, queues.pause, queues.resume, queues.resume)]
    assert words == [Word.ok, Word.noop, Word.ok, Word.noop]
    assert keys_of(run, q) == []


def test_pause_keeps_claims_empty_and_admits(run: Run, q: QueueKeys, make: Builder) -> None:
    run(queues.pause(q))
    job = make.pending()
    assert run(claims.claim(q, 1000)) is None
    run(queues.resume(q))
    assert run(claims.claim(q, 1000)).id == job.id


def test_drain_works_in_bounded_scripts(run: Run, q: QueueKeys, mint: Callable[[], bytes]) -> None:
    run(admission.enqueue_many(q, [(mint(), b"x") for _ in range(queues.STEP_BUDGET + 1)]))
    seen: list[Step] = []
    assert run(watched(queues.drain(q), seen)) == queues.STEP_BUDGET + 1
    assert len(seen) == 2
    assert keys_of(run, q) == []


def test_drain_leaves_what_does_not_wait(run: Run, q: QueueKeys, make: Builder) -> None:
    held, dead, laned = make.active(), make.dead(), make.in_lane()
    due, _ = make.scheduled(), make.pending()
    assert run(queues.drain(q)) == 1
    assert run(score(q.schedule, due.id)) is not None
    assert run(queues.drain(q, include_schedule=True)) == 1
    for job in (held, dead, laned):
        assert run(command("EXISTS", q.row(job.id)))
    assert not run(command("EXISTS", q.row(due.id)))


def test_drain_of_jobs_admitted_meanwhile_stops(
    run: Run, q: QueueKeys, make: Builder, mint: Callable[[], bytes]
) -> None:
    """A step removes what it met; younger jobs stay for their worker."""
    for _ in range(3):
        make.pending()
    removed, left = run(queues.drain_step(q, "pending", 2))
    late = make.pending()
    assert (removed, left) == (2, 1)
    assert run(queues.drain_step(q, "pending", left)) == (1, 1)
    assert run(score(q.pending, late.id)) == 0


def test_row_25_obliterate_clears_what_hangs_on_the_queue(
    run: Run, q: QueueKeys, make: Builder, mint: Callable[[], bytes]
) -> None:
    lane = a_lane()
    make.active(lane)
    make.in_lane(lane)
    run(lanes.limit(q, lane, 1))
    run(lanes.weight(q, lane, 4))
    assert run(command("EXISTS", q.ring)) == 0
    leaf = flows.FlowJob(mint(), b"leaf")
    run(flows.add(q, flows.FlowJob(mint(), b"root", (flows.FlowJob(mint(), b"mid", (leaf,)),))))
    run(repeats.register(q, "r", 1000, b"t"))
    run(repeats.run_now(q, "r", mint()))
    run(command("RPUSH", q.outbox, b"left"))
    run(queues.pause(q))
    assert run(queues.obliterate(q, force=True))[0] is Word.ok
    assert keys_of(run, q) == []


def test_row_26_a_large_budget_is_spent_in_bounded_scripts(
    run: Run, q: QueueKeys, mint: Callable[[], bytes]
) -> None:
    run(admission.enqueue_many(q, [(mint(), b"x") for _ in range(1200)]))
    run(queues.pause(q))
    seen: list[Step] = []
    assert run(watched(queues.obliterate(q, budget=1_000_000), seen)) == (Word.ok, 1200)
    assert len(seen) == 3
    assert keys_of(run, q) == []


def test_obliterate_refuses_a_running_queue_and_held_jobs(
    run: Run, q: QueueKeys, make: Builder
) -> None:
    held = make.active()
    assert run(queues.obliterate(q)) == (Word.not_paused, 0)
    run(queues.pause(q))
    assert run(queues.obliterate(q)) == (Word.active, 0)
    assert run(command("EXISTS", q.row(held.id)))


@pytest.mark.parametrize("budget", [0, -1])
def test_a_budget_is_a_count(run: Run, q: QueueKeys, budget: int) -> None:
    with pytest.raises(InvalidError):
        run(queues.obliterate(q, budget=budget))
    with pytest.raises(InvalidError):
        run(queues.drain_step(q, "pending", budget))


def test_obliterate_walks_many_lanes_in_bounded_steps(
    run: Run, q: QueueKeys, make: Builder
) -> None:
    for _ in range(3):
        make.in_lane()
    run(queues.pause(q))
    words: list[Any] = []
    while Word.ok not in words:
        words.append(run(queues.obliterate(q, budget=1))[0])
    assert words == [Word.more, Word.more, Word.more, Word.ok]
    assert keys_of(run, q) == []
