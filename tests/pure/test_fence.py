"""The fence and the cadence rows as numbers."""

import pytest

from echomq_admin.charts import cadence, fence
from echomq_admin.charts.axis import REACHES_MS, moment, place, reach_back
from queue_core.reads.glance import Trace, seems_seconds
from queue_core.reads.repeats import Registry, Repeat, Run
from queue_core.reads.schedule import Bar, Due, Fence
from queue_core.reads.snapshot import Snapshot

NOW = 1_796_000_000_000
ROW = Trace("row", b"0", False, None)
FAILED = Trace("row", b"3", True, None)
ORPHAN = Trace("orphan", None, False, None)


def a_fence(**changes: object) -> Fence:
    plain = Fence(0, 0, None, 604_800_000, 0, (), (), (), ())
    return Fence(**{name: changes.get(name, getattr(plain, name)) for name in plain.__slots__})


def a_repeat(**changes: object) -> Repeat:
    plain = Repeat(b"digest", str(NOW + 5_000), "record", b"60000", None, None, None, 1, b"x", ())
    return Repeat(**{name: changes.get(name, getattr(plain, name)) for name in plain.__slots__})


@pytest.mark.parametrize("t", [0, 1, -1, 4_999, 120_000, -252_000, 604_800_000])
def test_the_axis_has_an_inverse(t: int) -> None:
    assert moment(place(t)) == pytest.approx(t, abs=1e-3)


def test_the_axis_is_symmetric_and_rises() -> None:
    assert place(-60_000) == -place(60_000)
    assert place(1) < place(2) < place(1e12)


def test_the_reach_back_has_room_and_an_end() -> None:
    assert reach_back(None) == REACHES_MS[0]
    assert reach_back(252_000) == 900_000
    assert reach_back(1e15) == REACHES_MS[-1]


def test_an_ordinary_mark_is_short() -> None:
    assert fence.mark(Due(b"JOB0", str(NOW), ROW)) == ["~Sk9CMA", NOW, "d", 0]
    assert fence.mark(Due(b"JOB0", str(NOW), FAILED))[2:] == ["r", 3]


def test_what_is_out_of_the_ordinary_is_said() -> None:
    assert fence.mark(Due(b"a", "-inf", ORPHAN))[4] == {
        "score": "-inf", "edge": "past", "flag": "orphan",
    }  # fmt: skip
    assert fence.mark(Due(b"a", "1700000000", ROW))[4] == {"flag": "seconds"}
    assert fence.mark(Due(b"\xff\n", str(NOW), ROW))[4] == {"id": "⟨ff⟩␊"}
    assert fence.mark(Due(b"a", f"{NOW}.5", ROW))[4] == {"score": f"{NOW}.5"}


@pytest.mark.parametrize(
    ("score", "seems"),
    [(1_700_000_000, True), (NOW, False), (-1, False), (0, False), (9e15, False)],
)
def test_seconds_are_told_from_milliseconds(score: float, seems: bool) -> None:
    assert seems_seconds(score) is seems


def test_a_crowd_at_the_last_mark_is_counted_once() -> None:
    """Jobs of one run-at beyond the marks stand beside the last of them."""
    marks = tuple(Due(b"JOB%d" % n, str(NOW + 60_000), ROW) for n in range(3))
    bars = (Bar(NOW + 60_000, NOW + 90_000, 7),)
    seen = fence.series(
        Snapshot(a_fence(total=100, late=0, beyond=5, next_marks=marks, bars=bars), NOW),
        "log",
        None,
    )
    assert seen["crowd"] == {"at": NOW + 60_000, "n": 100 - 5 - 3 - 7}
    assert seen["kinds"]["whole"] is False
    assert seen["repeatTotal"] is None


def test_marks_that_are_all_leave_no_crowd() -> None:
    marks = (Due(b"JOB1", str(NOW + 1), ROW), Due(b"JOB2", str(NOW + 2), FAILED))
    seen = fence.series(Snapshot(a_fence(total=2, next_marks=marks), NOW), "log", None)
    assert seen["crowd"] is None
    assert seen["kinds"] == {"delayed": 1, "retry": 1, "repeat": 0, "unknown": 0, "whole": True}


def test_case_120_the_numbers_of_a_full_fence_fit_a_frame() -> None:
    """Case 120: a frame stays under 50 KB."""
    import json

    marks = tuple(Due(b"JOB%011d" % n, str(NOW + n), FAILED) for n in range(180))
    late = tuple(Due(b"JLB%011d" % n, str(NOW - n), ROW) for n in range(60))
    bars = tuple(Bar(NOW + n, NOW + n + 1, 10**6) for n in range(96))
    full = a_fence(
        total=10**6, late=10**5, late_marks=late, next_marks=marks, bars=bars, late_bars=bars
    )
    assert len(json.dumps(fence.series(Snapshot(full, NOW), "log", None))) < 25_000


def test_runs_to_come_keep_the_slots() -> None:
    assert fence.runs(a_repeat(), 2) == [NOW + 5_000, NOW + 65_000, NOW + 125_000]
    assert fence.runs(a_repeat(every=b"0"), 2) == [NOW + 5_000]
    assert fence.runs(a_repeat(score="9007199254740991"), 2) == []
    assert fence.runs(a_repeat(found="absent", every=None), 2) == [NOW + 5_000]


def test_a_cadence_chart_reaches_as_far_as_its_rows() -> None:
    past = (Run(NOW - 60_000, NOW - 59_900, b"JOB1"), Run(None, NOW - 300_000, b"JOB0"))
    seen = cadence.series([a_repeat(runs=past)], NOW)
    assert seen["rows"][0]["past"] == [[NOW - 60_000, NOW - 59_900], [None, NOW - 300_000]]
    assert seen["back"] == 900_000
    assert seen["ahead"] == 300_000
    assert len(seen["rows"][0]["coming"]) == 7


def test_the_registry_gives_the_fence_its_diamonds() -> None:
    registry = Snapshot(Registry(1, 0, (a_repeat(),)), NOW)
    seen = fence.series(Snapshot(a_fence(), NOW), "log", registry)
    assert seen["repeatTotal"] == 1
    assert seen["repeats"][0]["name"] == "digest"
    assert len(seen["repeats"][0]["runs"]) == 4
