"""The registry: what is armed, what is not, what was missed."""

from collections.abc import Callable

from queue_core.keys import QueueKeys
from queue_core.reads import repeats as read
from queue_core.reads.schedule import Cursor
from queue_core.verbs import repeats
from tests.builders import Run, command, server_ms

HOUR = 3_600_000


def _one(run: Run, q: QueueKeys, name: bytes) -> read.Repeat:
    return next(one for one in run(read.registry(q)).value.repeats if one.name == name)


def test_a_registration_with_its_runs(run: Run, q: QueueKeys, mint: Callable[[], bytes]) -> None:
    run(repeats.register(q, b"digest", 60_000, b'{"a":1}'))
    due = run(repeats.due(q, 10))[0]
    job = mint()
    run(repeats.repeat_fire(q, b"digest", due.score, job))
    by_hand = mint()
    run(repeats.run_now(q, b"digest", by_hand))
    seen = _one(run, q, b"digest")
    assert (seen.every_ms, seen.parked, seen.template_head) == (60_000, False, b'{"a":1}')
    assert [(one.job_id, one.due_ms) for one in seen.runs] == [
        (by_hand, None),
        (job, int(due.score)),
    ]
    assert seen.runs[1].drift_ms is not None
    assert seen.runs[1].drift_ms >= 0
    assert seen.missed is None


def test_a_paused_repeat_is_parked_and_says_by_whom(run: Run, q: QueueKeys) -> None:
    run(repeats.register(q, b"digest", 60_000, b"x", HOUR))
    before = _one(run, q, b"digest").next_ms
    run(repeats.pause(q, b"digest", b"mira"))
    seen = _one(run, q, b"digest")
    assert (seen.parked, seen.next_ms, seen.paused_by) == (True, None, b"mira")
    assert seen.resumes_at_ms == before
    assert seen.paused_at_ms is not None


def test_case_102_cadences_that_are_none(run: Run, q: QueueKeys) -> None:
    """Case 102."""
    now = run(server_ms())
    for text in (b"0", b"-5", b"abc", b"1e3", b"", b"9000000000000000000"):
        run(command("ZADD", q.repeat, now + HOUR, b"n" + text))
        run(command("HSET", q.repeat_record(b"n" + text), "every_ms", text, "template", "x"))
    assert {one.every_ms for one in run(read.registry(q)).value.repeats} == {None}


def test_case_94_not_armed_and_no_definition(run: Run, q: QueueKeys) -> None:
    """Case 94."""
    now = run(server_ms())
    run(command("ZADD", q.repeat, now + HOUR, b"nothing"))
    run(command("HSET", q.repeat_record(b"loose*"), "every_ms", "5"))
    run(repeats.register(q, b"armed", 60_000, b"x", HOUR))
    assert _one(run, q, b"nothing").found == "absent"
    found: set[bytes] = set()
    cursor = b"0"
    while True:
        step = run(read.unarmed(q, cursor, 1000))
        found.update(step.names)
        cursor = step.cursor
        if cursor == b"0":
            break
    assert found == {b"loose*"}


def test_missed_periods_and_doubled_slots(run: Run, q: QueueKeys) -> None:
    now = run(server_ms())
    run(repeats.register(q, b"digest", 60_000, b"x", HOUR))
    slot = now - 600_000
    lines = [f"{slot + n} {slot + n + 5} JOB{n}" for n in (0, 60_000, 240_000, 240_000)]
    run(command("LPUSH", q.repeat_runs(b"digest"), *lines, "garbage", "- x y"))
    seen = _one(run, q, b"digest")
    assert seen.missed == 2
    assert seen.doubled == {slot + 240_000}
    assert len(seen.runs) == 4


def test_pages_of_the_registry(run: Run, q: QueueKeys) -> None:
    now = run(server_ms())
    for number in range(7):
        run(command("ZADD", q.repeat, now + HOUR, b"r%d" % number))
    first = run(read.registry(q, size=3)).value
    assert (first.total, len(first.repeats), first.more_after) == (7, 3, True)
    last = first.repeats[-1]
    second = run(read.registry(q, Cursor(last.score, last.name), size=3)).value
    assert [one.name for one in second.repeats] == [b"r3", b"r4", b"r5"]
