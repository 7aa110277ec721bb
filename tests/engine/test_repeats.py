"""Repeats: the wire's verbs, and ours that fire an occurrence once."""

from collections.abc import Callable

import pytest

from queue_core.errors import InvalidError
from queue_core.keys import QueueKeys
from queue_core.outcomes import Word
from queue_core.plans import Step
from queue_core.verbs import claims, repeats
from tests.builders import Run, command, row, score, server_ms
from tests.engine.steps import watched

DAY = 86_400_000


def record(run: Run, q: QueueKeys, name: bytes = b"r") -> dict[bytes, bytes]:
    flat = run(command("HGETALL", q.repeat_record(name)))
    return dict(zip(flat[::2], flat[1::2], strict=True))


def overdue(run: Run, q: QueueKeys, by_ms: int = 5000, every_ms: int = DAY) -> bytes:
    """A repeat that was due a while ago; its score as the server prints it."""
    run(repeats.register(q, "r", every_ms, b"template"))
    at = run(server_ms()) - by_ms
    run(command("ZADD", q.repeat, at, "r"))
    (due,) = run(repeats.due(q, 10))
    assert due.score == str(at).encode()
    return bytes(due.score)


def test_row_39_an_occurrence_is_fired_once(
    run: Run, q: QueueKeys, mint: Callable[[], bytes]
) -> None:
    seen_score, first, second = overdue(run, q), mint(), mint()
    seen: list[Step] = []
    assert run(watched(repeats.repeat_fire(q, "r", seen_score, first), seen)) is Word.fired
    assert len(seen) == 1
    assert run(repeats.repeat_fire(q, "r", seen_score, second)) is Word.moved
    assert run(command("EXISTS", q.row(second))) == 0
    assert run(row(q, first)) == {
        b"state": b"pending", b"attempts": b"0", b"payload": b"template",
        b"py_repeat": b"r", b"py_due": seen_score,
    }  # fmt: skip
    assert run(claims.claim(q, 1000)).payload == b"template"


def test_row_39_the_next_run_keeps_to_its_slots(
    run: Run, q: QueueKeys, mint: Callable[[], bytes]
) -> None:
    """A late pump shifts nothing, and what was missed is not made up for."""
    due_at = int(overdue(run, q, by_ms=2 * DAY + 5000))
    run(repeats.repeat_fire(q, "r", str(due_at), mint()))
    assert run(score(q.repeat, b"r")) == due_at + 3 * DAY
    assert run(repeats.due(q, 10)) == []


def test_the_last_fifty_runs_are_noted(run: Run, q: QueueKeys, mint: Callable[[], bytes]) -> None:
    due_at, job_id = overdue(run, q), mint()
    run(repeats.repeat_fire(q, "r", due_at, job_id))
    (noted,) = run(command("LRANGE", q.repeat_runs(b"r"), 0, -1))
    due, fired, fired_id = noted.split(b" ")
    assert (due, fired_id) == (due_at, job_id)
    assert int(fired) >= int(due)
    for _ in range(50):
        run(repeats.run_now(q, "r", last := mint()))
    runs = run(command("LRANGE", q.repeat_runs(b"r"), 0, -1))
    assert len(runs) == 50
    assert runs[0].startswith(b"- ")
    assert runs[0].endswith(b" " + last)


def test_a_duplicate_id_fires_nothing(run: Run, q: QueueKeys, mint: Callable[[], bytes]) -> None:
    due_at, taken = overdue(run, q), mint()
    run(repeats.run_now(q, "r", taken))
    assert run(repeats.repeat_fire(q, "r", due_at, taken)) is Word.duplicate
    assert run(score(q.repeat, b"r")) == int(due_at)
    assert run(repeats.repeat_fire(q, "r", due_at, b"ORD" + taken[3:])) is Word.kind


def test_a_run_that_is_not_due_is_not_fired(
    run: Run, q: QueueKeys, mint: Callable[[], bytes]
) -> None:
    run(repeats.register(q, "r", DAY, b"t", first_in_ms=DAY))
    at = int(run(score(q.repeat, b"r")))
    assert run(repeats.repeat_fire(q, "r", str(at), mint())) is Word.moved


def test_run_now_leaves_the_next_run(run: Run, q: QueueKeys, mint: Callable[[], bytes]) -> None:
    run(repeats.register(q, "r", DAY, b"t", first_in_ms=DAY))
    before, job_id = run(score(q.repeat, b"r")), mint()
    assert run(repeats.run_now(q, "r", job_id)) is Word.enqueued
    assert run(repeats.run_now(q, "r", job_id)) is Word.duplicate
    assert run(repeats.run_now(q, "none", mint())) is Word.absent
    assert run(score(q.repeat, b"r")) == before


def test_pause_parks_and_resume_goes_on_where_it_was(
    run: Run, q: QueueKeys, mint: Callable[[], bytes]
) -> None:
    run(repeats.register(q, "r", DAY, b"t", first_in_ms=DAY))
    planned = run(score(q.repeat, b"r"))
    assert run(repeats.pause(q, "r", "ann")) is Word.ok
    assert run(repeats.pause(q, "r", "bob")) is Word.noop
    assert run(score(q.repeat, b"r")) == repeats.PARKED_MS
    assert record(run, q)[b"py_paused_by"] == b"ann"
    assert run(repeats.run_now(q, "r", mint())) is Word.enqueued
    assert run(repeats.resume(q, "r")) is Word.ok
    assert run(repeats.resume(q, "r")) is Word.noop
    assert run(score(q.repeat, b"r")) == planned
    assert record(run, q) == {b"every_ms": str(DAY).encode(), b"template": b"t"}
    assert run(repeats.pause(q, "none", "ann")) is Word.absent
    assert run(repeats.resume(q, "none")) is Word.absent


def test_resume_after_missed_runs_takes_the_next_slot(run: Run, q: QueueKeys) -> None:
    due_at = int(overdue(run, q))
    run(repeats.pause(q, "r", "ann"))
    assert run(repeats.due(q, 10)) == []
    run(repeats.resume(q, "r"))
    assert run(score(q.repeat, b"r")) == due_at + DAY


def test_a_paused_repeat_that_another_engine_armed_is_parked_again(
    run: Run, q: QueueKeys, mint: Callable[[], bytes]
) -> None:
    overdue(run, q)
    run(repeats.pause(q, "r", "ann"))
    run(command("ZADD", q.repeat, 5, "r"))
    assert run(repeats.repeat_fire(q, "r", "5", mint())) is Word.paused
    assert run(score(q.repeat, b"r")) == repeats.PARKED_MS
    assert run(repeats.advance(q, "r", 1000)) is Word.paused


def test_a_member_without_a_record_is_dropped(
    run: Run, q: QueueKeys, mint: Callable[[], bytes]
) -> None:
    run(command("ZADD", q.repeat, 5, "r"))
    assert run(repeats.repeat_fire(q, "r", "5", mint())) is Word.absent
    assert run(repeats.count(q)) == 0
    assert run(repeats.repeat_fire(q, "r", "5", mint())) is Word.absent


@pytest.mark.parametrize("every", ["0", "-5", "abc", "1e3", "", "9" * 19])
def test_case_102_a_cadence_that_is_none_is_parked_not_fired(
    run: Run, q: QueueKeys, mint: Callable[[], bytes], every: str
) -> None:
    due_at = overdue(run, q)
    run(command("HSET", q.repeat_record(b"r"), "every_ms", every))
    assert run(repeats.repeat_fire(q, "r", due_at, mint())) is Word.invalid
    assert run(score(q.repeat, b"r")) == repeats.PARKED_MS
    assert run(repeats.due(q, 10)) == []
    assert record(run, q)[b"py_next"] == due_at
    assert run(repeats.resume(q, "r")) is Word.invalid


@pytest.mark.parametrize("every", [0, -5, 10**15, True])
def test_case_102_registration_refuses_it(run: Run, q: QueueKeys, every: int) -> None:
    with pytest.raises(InvalidError):
        run(repeats.register(q, "r", every, b"t"))
    assert run(repeats.count(q)) == 0


def test_cancel_takes_record_and_runs(run: Run, q: QueueKeys, mint: Callable[[], bytes]) -> None:
    run(repeats.register(q, "r", DAY, b"t"))
    job_id = mint()
    run(repeats.run_now(q, "r", job_id))
    assert run(repeats.cancel(q, "r")) is Word.cancelled
    assert run(repeats.cancel(q, "r")) is Word.absent
    left = run(command("KEYS", q.base + b"*"))
    assert sorted(left) == sorted([q.pending, q.row(job_id)])
