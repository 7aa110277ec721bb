"""Batches without a bus: when one goes, what a handler's answer means, where members end."""

import pytest

from queue_core.errors import UnavailableError
from queue_core.jobs import Lease
from queue_core.outcomes import Word
from queue_core.work.batches import MISSING, Parts, decide, partition, verdicts_of
from queue_core.work.verdicts import Dead, Done, Failed, Later

LEASES = [Lease(b"JOB0000000000%d" % n, b"x", 1, 0) for n in range(1, 7)]
A, B, C, D, E, F = (lease.id for lease in LEASES)


@pytest.mark.parametrize(
    ("depth", "elapsed_ms", "size"),
    [
        (3, 0, 0),  # too few, too early
        (4, 0, 4),
        (9, 0, 9),
        (3, 199, 0),
        (3, 200, 3),  # the timeout takes what there is
        (0, 200, 0),
        (0, 9_000, 0),  # nothing to take, however late
        (1, 9_000, 1),  # and the next one goes at once
    ],
)
def test_decide(depth: int, elapsed_ms: int, size: int) -> None:
    assert decide(depth, elapsed_ms, min_size=4, timeout_ms=200) == size


def test_row_20_no_answer_of_a_handler_leaves_a_member_without_verdict() -> None:
    answer = {A: None, B: Later(5), C: Failed("no \ud800 text"), D: Dead(ValueError("x")), E: 42}  # type: ignore[arg-type]
    assert verdicts_of(LEASES, answer) == {
        A: Done(),
        B: Later(5),
        C: Failed("no ? text"),
        D: Dead("x"),
        E: Failed("bad verdict: int"),
        F: Failed(MISSING),
    }


@pytest.mark.parametrize("answer", [None, [], "ok"])
def test_an_answer_that_is_no_mapping_fails_them_all(answer: object) -> None:
    bad = Failed(f"bad verdict: {type(answer).__name__}")
    assert verdicts_of(LEASES, answer) == dict.fromkeys((A, B, C, D, E, F), bad)


def test_every_member_ends_in_one_part() -> None:
    verdicts = {A: Done(), B: Later(5), C: Failed("x"), D: Dead("x"), E: Done()}
    outcomes = {
        A: Word.ok, B: Word.ok, C: Word.scheduled, D: Word.dead, E: Word.stale,
        F: UnavailableError("LOST", "no answer"),
    }  # fmt: skip
    parts = partition(LEASES, verdicts, outcomes)
    assert parts == Parts(completed=(A,), delayed=(B,), retried=(C,), dead=(D,), lost=(E, F))


def test_an_empty_batch() -> None:
    assert partition([], {}, {}) == Parts((), (), (), (), ())
