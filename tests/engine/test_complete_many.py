"""Many jobs settled as done by one script, each by itself and as if one after another."""

from __future__ import annotations

from typing import Any

import pytest

from queue_core.errors import WrongTypeFault
from queue_core.keys import QueueKeys
from queue_core.outcomes import Word
from queue_core.plans import Batch
from queue_core.replies import verdicts
from queue_core.verbs import settle
from tests.builders import Builder, Run, a_lane, command


def test_many_are_completed_each_by_itself(run: Run, q: QueueKeys, make: Builder) -> None:
    good, late, broken = (make.active() for _ in range(3))
    run(command("DEL", q.row(broken.id)))
    run(command("SET", q.row(broken.id), "no row"))
    answers = run(completed(q, [
        (good.id, good.token, None), (late.id, b"7", None), (make.mint(), b"1", None),
        (broken.id, broken.token, None),
    ]))  # fmt: skip
    assert answers[:3] == [Word.ok, Word.stale, Word.gone]
    assert isinstance(answers[3], WrongTypeFault)
    assert run(command("HGET", q.metrics_completed, "count")) == b"1"


def completed(q: QueueKeys, done: list[tuple[bytes, bytes, bytes | None]]) -> Any:
    """A plan that completes many by one script."""
    ((call, count),) = settle.complete_calls(q, done)
    (reply,) = yield Batch((call,))
    return verdicts(reply, count)


def test_who_is_completed_twice_in_one_call_is_gone_the_second_time(
    run: Run, q: QueueKeys, make: Builder
) -> None:
    flat, laned = make.active(), make.active(a_lane())
    answers = run(completed(q, [(job.id, job.token, None) for job in (flat, laned, flat, laned)]))
    assert answers == [Word.ok, Word.ok, Word.gone, Word.gone]
    assert run(command("HGET", q.metrics_completed, "count")) == b"2"
    assert run(command("ZCARD", q.active)) == 0


def test_a_parent_and_its_child_are_completed_in_their_order(
    run: Run, q: QueueKeys, make: Builder
) -> None:
    """The row of a parent that was completed is not there any more when its child tells it."""
    parent, child = make.active(), make.active()
    run(command("HSET", q.row(child.id), "parent", parent.id))
    answers = run(completed(q, [(job.id, job.token, None) for job in (parent, child)]))
    assert answers == [Word.ok, Word.ok]
    assert not run(command("EXISTS", q.row(parent.id), q.row(parent.id) + b":processed"))


@pytest.mark.planted
def test_a_set_of_another_type_leaves_all_that_were_completed_held(
    run: Run, q: QueueKeys, make: Builder
) -> None:
    jobs = [make.active() for _ in range(3)]
    run(command("SET", q.dead, "no set"))
    answers = run(completed(q, [(job.id, job.token, None) for job in jobs]))
    assert all(isinstance(answer, WrongTypeFault) for answer in answers)
    assert run(command("ZCARD", q.active)) == 3
    assert run(command("HGET", q.metrics_completed, "count")) is None


@pytest.mark.planted
def test_who_is_completed_twice_in_one_call_and_refused_is_refused_both_times(
    run: Run, q: QueueKeys, make: Builder
) -> None:
    job = make.active()
    run(command("SET", q.dead, "no set"))
    answers = run(completed(q, [(job.id, job.token, None)] * 2))
    assert all(isinstance(answer, WrongTypeFault) for answer in answers)
