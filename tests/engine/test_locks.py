"""Markers of held jobs."""

from collections.abc import Callable

import pytest

from queue_core.errors import InvalidError
from queue_core.keys import QueueKeys
from queue_core.outcomes import Word
from queue_core.plans import Step
from queue_core.verbs import jobs as job_verbs
from queue_core.verbs import locks
from tests.builders import HOUR, Builder, Run, command, score
from tests.engine.steps import watched


def test_a_marked_job_is_not_removed(run: Run, q: QueueKeys, make: Builder) -> None:
    job = make.active()
    seen: list[Step] = []
    assert run(watched(locks.lock_track(q, job.id, job.token, 5000), seen)) is Word.ok
    assert len(seen) == 1
    assert run(job_verbs.remove_job(q, job.id)) is Word.locked
    assert run(locks.lock_untrack(q, job.id)) is Word.ok
    assert run(locks.lock_untrack(q, job.id)) is Word.noop
    assert run(job_verbs.remove_job(q, job.id)) is Word.ok


def test_row_28_a_job_without_a_row_gets_no_marker(
    run: Run, q: QueueKeys, mint: Callable[[], bytes]
) -> None:
    job_id = mint()
    assert run(locks.lock_track(q, job_id, 1, 5000)) is Word.gone
    assert run(command("EXISTS", q.row(job_id))) == 0
    assert run(command("EXISTS", q.lock(job_id))) == 0


def test_a_marker_field_expires_with_its_string(run: Run, q: QueueKeys, make: Builder) -> None:
    """A server that cannot expire a field keeps none: it would refuse removals for ever."""
    job = make.active()
    run(locks.lock_track(q, job.id, job.token, 5000))
    assert 0 < run(command("PTTL", q.lock(job.id))) <= 5000
    if run(command("HGET", q.row(job.id), "lock")) is not None:
        (left,) = run(command("HPTTL", q.row(job.id), "FIELDS", 1, "lock"))
        assert 0 < left <= 5000


def test_beat_extends_what_is_held_and_names_the_rest(
    run: Run, q: QueueKeys, make: Builder
) -> None:
    held, lost, gone = make.active(lease_ms=1000), make.active(), make.absent()
    run(locks.lock_track(q, held.id, held.token, 1000))
    seen: list[Step] = []
    pairs = [(held.id, held.token), (lost.id, b"99"), (gone.id, b"1")]
    assert run(watched(locks.lock_beat(q, pairs, HOUR, 9000), seen)) == [lost.id, gone.id]
    assert len(seen) == 1
    assert run(command("PTTL", q.lock(held.id))) > 1000
    assert run(locks.lock_beat(q, [], HOUR, 9000)) == []


def test_row_4_beat_does_not_bring_a_reaped_job_back(run: Run, q: QueueKeys, make: Builder) -> None:
    job = make.active()
    run(command("ZREM", q.active, job.id))
    assert run(locks.lock_beat(q, [(job.id, job.token)], HOUR, 9000)) == [job.id]
    assert run(score(q.active, job.id)) is None


def test_lives_are_positive(run: Run, q: QueueKeys, make: Builder) -> None:
    job = make.active()
    with pytest.raises(InvalidError):
        run(locks.lock_track(q, job.id, job.token, 0))
    with pytest.raises(InvalidError):
        run(locks.lock_beat(q, [(job.id, job.token)], 0, 5))
