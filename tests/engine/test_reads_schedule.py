"""The fence and the exact list: bounded looks that survive strange scores and long ties."""

import pytest

from queue_core.errors import InvalidError, WrongTypeFault
from queue_core.keys import QueueKeys
from queue_core.plans import Call, Step
from queue_core.reads import schedule
from queue_core.reads.schedule import Cursor
from queue_core.verbs import admission
from tests.builders import Builder, Run, command, server_ms
from tests.engine.steps import calls, watched

HOUR = 3_600_000


def _put(run: Run, q: QueueKeys, members: dict[bytes, float | str]) -> None:
    words = [word for member, score in members.items() for word in (score, member)]
    for at in range(0, len(words), 2000):
        run(command("ZADD", q.schedule, *words[at : at + 2000]))


def _walk(run: Run, q: QueueKeys, way: str) -> list[bytes]:
    found: list[bytes] = []
    cursor = Cursor("-inf", b"") if way == "after" else Cursor("inf", b"\xff" * 20)
    while True:
        page = run(schedule.page(q, way, cursor)).value
        members = [row.due.member for row in page.rows]
        found = found + members if way == "after" else members + found
        if not (page.more_after if way == "after" else page.more_before):
            return found
        cursor = page.cursor("last" if way == "after" else "first")


@pytest.mark.parametrize("way", ["after", "before"])
def test_case_6_5000_equal_scores_come_once_each(run: Run, q: QueueKeys, way: str) -> None:
    """Case 6."""
    now = run(server_ms())
    ids = [b"JOB%011d" % number for number in range(5000)]
    _put(run, q, dict.fromkeys(ids, now + HOUR))
    assert _walk(run, q, way) == ids


def test_a_cursor_whose_member_left_goes_on_at_its_place(run: Run, q: QueueKeys) -> None:
    now = run(server_ms())
    ids = [b"JOB%011d" % number for number in range(120)]
    _put(run, q, dict.fromkeys(ids, now + HOUR))
    first = run(schedule.page(q, "after", Cursor("-inf", b""))).value
    cursor = first.cursor("last")
    run(command("ZREM", q.schedule, cursor.member, ids[10], ids[60]))
    second = run(schedule.page(q, "after", cursor)).value
    assert [row.due.member for row in second.rows][:3] == [ids[50], ids[51], ids[52]]
    assert ids[60] not in [row.due.member for row in second.rows]


def test_bytes_decide_among_equals_whatever_the_locale(run: Run, q: QueueKeys) -> None:
    members = [b"10", b"9", b"Z", b"a", "😀".encode(), b"\xff"]
    _put(run, q, dict.fromkeys(members, 5))
    shown = []
    cursor = Cursor("-inf", b"")
    for _ in members:
        page = run(schedule.page(q, "after", cursor, size=1)).value
        shown.append(page.rows[0].due.member)
        cursor = page.cursor("last")
    assert shown == run(command("ZRANGE", q.schedule, 0, -1))


def test_case_50_54_scores_out_of_any_date_leave_the_axis_unharmed(run: Run, q: QueueKeys) -> None:
    """Cases 50 and 54."""
    now = run(server_ms())
    strange = {b"a": "-inf", b"b": -1, b"c": -9e15, b"d": 1_700_000_000, b"e": 9e15, b"f": "inf"}
    _put(run, q, strange | {b"late": now - 60_000, b"soon": now + HOUR})
    fence = run(schedule.fence(q, 7 * 24 * HOUR)).value
    by_name = {due.member: due for due in (*fence.late_marks, *fence.next_marks)}
    assert fence.late == 5
    assert fence.oldest_ms == now - 60_000
    assert fence.beyond == 2
    assert by_name[b"a"].run_at_ms is None
    assert by_name[b"a"].score == "-inf"
    assert by_name[b"d"].looks_like_seconds
    assert not by_name[b"b"].looks_like_seconds
    assert fence.next_due_ms == now + HOUR


def test_all_reaches_to_the_last_job_and_no_further(run: Run, q: QueueKeys) -> None:
    now = run(server_ms())
    _put(run, q, {b"a": now + 3 * HOUR, b"b": 9e15})
    fence = run(schedule.fence(q, 0)).value
    assert 0 <= fence.span_ms - 3 * HOUR <= 2_000
    assert fence.beyond == 1


def test_bars_count_what_marks_leave_out(run: Run, q: QueueKeys) -> None:
    now = run(server_ms())
    _put(run, q, {b"JOB%011d" % n: now + 60_000 + n * 7_000 for n in range(1500)})
    _put(run, q, {b"LAT%011d" % n: now - 1_000 - n * 500 for n in range(400)})
    fence = run(schedule.fence(q, 7 * 24 * HOUR)).value
    assert len(fence.late_marks) == schedule.LATE_MARKS
    assert len(fence.next_marks) == schedule.NEXT_MARKS
    assert sum(bar.count for bar in fence.bars) == 1500 - schedule.NEXT_MARKS
    left_out = 400 - schedule.LATE_MARKS
    assert abs(sum(bar.count for bar in fence.late_bars) - left_out) <= 4
    edges = [(bar.from_ms, bar.to_ms) for bar in fence.bars]
    assert edges == sorted(edges)


def test_the_cost_does_not_follow_the_set(run: Run, q: QueueKeys) -> None:
    """One call each; the script touches the set, and the rows of its marks."""
    now = run(server_ms())
    _put(run, q, {b"JOB%011d" % n: now + n for n in range(3000)})
    steps: list[Step] = []
    run(watched(schedule.fence(q, HOUR), steps))
    run(watched(schedule.page(q, "after", Cursor(str(now + 1500), b"JOB")), steps))
    assert len(calls(steps)) == 2
    assert all(call.keys == (q.schedule,) for call in calls(steps))
    fence = run(schedule.fence(q, HOUR)).value
    assert len(fence.next_marks) + len(fence.late_marks) <= 240
    assert len(fence.bars) <= schedule.BARS


def test_rows_say_what_they_are(run: Run, q: QueueKeys, make: Builder) -> None:
    retried = make.pending()
    run(command("ZREM", q.pending, retried.id))
    run(command("HSET", q.row(retried.id), "attempts", "2", "last_error", b"\xff\x00boom"))
    now = run(server_ms())
    delayed = make.mint()
    run(admission.enqueue_at(q, delayed, b"x" * 70_000, now + HOUR))
    run(command("LPUSH", q.row(b"list"), "a"))
    _put(run, q, {retried.id: now + 10, b"gone": now + 20, b"list": now + 30})
    rows = {row.due.member: row.due.job for row in run(schedule.page(q)).value.rows}
    assert rows[retried.id].kind == "retry"
    assert rows[retried.id].last_error == b"\xff\x00boom"
    assert rows[delayed].kind == "delayed"
    assert (rows[delayed].payload_size, rows[delayed].payload_head) == (70_000, b"")
    assert (rows[b"gone"].found, rows[b"gone"].kind) == ("orphan", "unknown")
    assert rows[b"list"].found == "wrongtype"


def test_around_the_fence_the_worst_late_come_first(run: Run, q: QueueKeys) -> None:
    now = run(server_ms())
    _put(run, q, {b"L%02d" % n: now - 100_000 + n for n in range(30)})
    _put(run, q, {b"N%02d" % n: now + 100_000 + n for n in range(90)})
    page = run(schedule.page(q)).value
    names = [row.due.member for row in page.rows]
    assert names[:10] == [b"L%02d" % n for n in range(10)]
    assert names[10:] == [b"N%02d" % n for n in range(40)]
    assert [row.rank for row in page.rows][9:11] == [9, 30]
    assert page.more_after
    assert not page.more_before


def test_an_empty_schedule_is_zero_and_a_wrong_type_is_told(run: Run, q: QueueKeys) -> None:
    empty = run(schedule.fence(q, HOUR)).value
    assert (empty.total, empty.late, empty.next_due_ms, empty.bars) == (0, 0, None, ())
    assert run(schedule.page(q)).value.rows == ()
    run(command("SET", q.schedule, "x"))
    with pytest.raises(WrongTypeFault):
        run(schedule.fence(q, HOUR))


def test_a_page_beside_a_cursor_needs_one(q: QueueKeys) -> None:
    with pytest.raises(InvalidError):
        next(schedule.page(q, "after"))
    assert isinstance(next(schedule.page(q)), Call)
