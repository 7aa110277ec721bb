"""A policy's curve and the jobs on it."""

import pytest

from echomq_admin.charts.curve import COLUMNS, Policy, lines, misfit, points
from queue_core.errors import InvalidError
from queue_core.reads.glance import Glance
from queue_core.reads.retries import Waiting
from queue_core.work.backoff import exponential, fixed, jitter

ROW = Glance("row", b"3", b"scheduled", None, b"boom", None, None, 0, b"")
EXACT = Policy("exponential", 500, 30_000, 8, False)
DRAWN = Policy("exponential", 500, 30_000, 8, True)


def waiting(failures: int, left: int, most: int | None = None) -> Waiting:
    return Waiting(b"JOB1", "1796000000000", ROW, failures, left, most)


@pytest.mark.parametrize(
    ("failures", "ms"), [(1, 500), (2, 1_000), (6, 16_000), (7, 30_000), (90, 30_000)]
)
def test_an_exponential_doubles_up_to_its_cap(failures: int, ms: int) -> None:
    assert exponential(500, 30_000).ceiling(failures) == ms
    assert fixed(500).ceiling(failures) == 500


def test_full_jitter_draws_from_zero_to_the_curve() -> None:
    policy = jitter(exponential(2, 8))
    drawn = {policy.delay(2) for _ in range(400)}
    assert drawn == {0, 1, 2, 3, 4}
    assert policy.ceiling(2) == 4


@pytest.mark.parametrize(
    "wrong", [lambda: fixed(-1), lambda: exponential(1, -1), lambda: fixed(1).delay(0)]
)
def test_what_no_policy_takes(wrong: object) -> None:
    with pytest.raises(InvalidError):
        wrong()


def test_the_way_to_dead() -> None:
    assert (DRAWN.worst_ms, DRAWN.mean_ms) == (61_500, 30_750)
    assert EXACT.mean_ms == 61_500
    assert Policy("fixed", 500, 1, 1, False).worst_ms == 0


def test_only_certain_misfits_are_told() -> None:
    assert misfit(DRAWN, waiting(3, 7_500)) == "above"
    assert misfit(DRAWN, waiting(3, 100, 50_000)) == ""
    assert misfit(DRAWN, waiting(3, 100, 500)) == ""
    assert misfit(EXACT, waiting(3, 100, 500)) == "below"
    assert misfit(EXACT, waiting(3, 100)) == ""
    assert misfit(DRAWN, waiting(8, 100)) == "spent"


def test_long_ways_are_cut_and_say_so() -> None:
    seen = lines(Policy("fixed", 1_000, 1, 60, False))
    assert len(seen["steps"]) == COLUMNS
    assert seen["more"] == 59 - COLUMNS
    assert seen["worst"] == 59_000


def test_points_name_no_secret() -> None:
    point = points(DRAWN, [waiting(3, 100, 900)])[0]
    assert point == {
        "key": "~Sk9CMQ", "id": "JOB1", "n": 3, "run": 1_796_000_000_000, "most": 900, "off": "",
    }  # fmt: skip
