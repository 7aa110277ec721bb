"""Every answer to "why is this job not running?", state by state."""

from dataclasses import replace

import pytest

from queue_core.reads.standing import Field, LaneStanding, Place, Standing
from queue_core.reads.why import Reason, Why, explain, ordinal
from queue_core.reads.window import Holder

NOW = 1_780_000_000_000
ID = b"JOB0KHTOWnGLuC"
LANE = b"PLR0RB9J1TNWZI"


def row(**fields: bytes) -> dict[bytes, Field]:
    """Fields of a row as read."""
    return {name.encode(): Field(len(value), value) for name, value in fields.items()}


def job(**changes: object) -> Standing:
    """A job of which nothing but its row is known."""
    nothing = Standing(
        id=ID, found="row", fields=row(state=b"pending", attempts=b"0", payload=b"{}"),
        fields_total=3, pending=None, active=None, schedule=None, dead=None, lane=None,
        queue_paused=False, alive=2, running=1, late=0, worst_due_ms=None, holder=None,
        children_left=None, processed=0, failed=0, unsuccessful=0, logs_total=0, logs=(),
        logs_bytes=0, lock_ms=None,
    )  # fmt: skip
    return replace(nothing, **changes)  # type: ignore[arg-type]


def lane(**changes: object) -> LaneStanding:
    """The job waits fifth in a lane that is fifth in a ring of seven."""
    waiting = LaneStanding(
        name=LANE, place=Place("0", 4, 44), turn=4, ring=7, parked=False, limit=4, in_flight=2,
        weight=2,
    )  # fmt: skip
    return replace(waiting, **changes)  # type: ignore[arg-type]


def plain(why: Why) -> str:
    """The sentence with moments as ms from now."""
    said = []
    for part in why.parts:
        if part.kind in ("left", "past"):
            assert isinstance(part.value, int)
            said.append(f"{abs(part.value - NOW)} ms")
        elif isinstance(part.value, bytes):
            said.append(part.value.decode("utf-8", "replace"))
        else:
            said.append(str(part.value))
    return "".join(said)


def test_not_due() -> None:
    why = explain(job(schedule=Place(str(NOW + 14_200), 3, 9)), NOW)
    assert (why.reason, why.state) == (Reason.not_due, "scheduled")
    assert plain(why).startswith("It is not due for 14200 ms.")


def test_not_due_after_a_failed_try_in_a_lane() -> None:
    facts = job(
        schedule=Place(str(NOW + 14_200), 3, 9),
        fields=row(state=b"scheduled", attempts=b"6", last_error=b"502", group=LANE),
        lane=lane(place=None),
    )
    said = plain(explain(facts, NOW))
    assert "Try 6 failed and put it at" in said
    assert "in lane PLR0RB9J1TNWZI, 5th in a ring of 7." in said


def test_due_and_about_to_be_promoted() -> None:
    assert explain(job(schedule=Place(str(NOW - 900), 0, 9)), NOW).reason is Reason.due


def test_due_but_nothing_is_promoting() -> None:
    why = explain(job(schedule=Place(str(NOW - 60_000), 0, 9), late=12), NOW)
    assert why.reason is Reason.nothing_promotes
    assert plain(why) == (
        "It fell due 60000 ms ago and nothing is promoting: 12 jobs of this queue are late."
    )


@pytest.mark.parametrize(
    ("score", "reason"), [("inf", Reason.not_due), ("-inf", Reason.nothing_promotes)]
)
def test_an_infinite_run_at(score: str, reason: Reason) -> None:
    assert explain(job(schedule=Place(score, 0, 1)), NOW).reason is reason


def test_queue_paused_says_by_whom_where_that_is_known() -> None:
    facts = job(pending=Place("0", 3, 9), queue_paused=True)
    assert plain(explain(facts, NOW)) == "The queue is paused, with 3 before it in flat pending."
    why = explain(facts, NOW, "pavel.d", NOW - 5_000)
    assert why.reason is Reason.queue_paused
    assert plain(why).startswith(f"The queue is paused by pavel.d since {NOW - 5_000}, with 3")


def test_lane_paused() -> None:
    why = explain(job(lane=lane(parked=True, turn=None)), NOW)
    assert why.reason is Reason.lane_paused
    assert plain(why) == "Its lane PLR0RB9J1TNWZI is paused, with 4 before it in it."


def test_lane_at_its_limit() -> None:
    why = explain(job(lane=lane(limit=3, in_flight=3, turn=None)), NOW)
    assert why.reason is Reason.lane_full
    assert "3 of 3" in plain(why)


def test_lane_that_was_never_offered() -> None:
    assert explain(job(lane=lane(turn=None)), NOW).reason is Reason.lane_not_offered


def test_behind_others_in_its_lane() -> None:
    why = explain(job(lane=lane(place=Place("0", 1204, 1300))), NOW)
    assert (why.reason, why.state) == (Reason.behind_in_lane, "lane")
    assert plain(why) == (
        "It waits its turn: 1,204 before it in lane PLR0RB9J1TNWZI, 5th in a ring of 7."
    )


def test_first_of_its_lane() -> None:
    why = explain(job(lane=lane(place=Place("0", 0, 1))), NOW)
    assert why.reason is Reason.next
    assert "nothing before it in lane" in plain(why)


def test_behind_others_in_flat_pending() -> None:
    why = explain(job(pending=Place("0", 12, 40)), NOW)
    assert (why.reason, why.state) == (Reason.behind_in_pending, "pending")
    assert plain(why) == "It waits its turn: 12 before it in flat pending."


def test_next_of_flat_pending() -> None:
    assert explain(job(pending=Place("0", 0, 40)), NOW).reason is Reason.next


def test_no_worker_seen() -> None:
    why = explain(job(pending=Place("0", 2, 40), alive=0, running=0), NOW)
    assert why.reason is Reason.no_worker


def test_somebody_who_leaves_no_presence_still_works() -> None:
    """Workers of the Elixir bus write none: what runs proves them."""
    why = explain(job(pending=Place("0", 2, 40), alive=0, running=3), NOW)
    assert why.reason is Reason.behind_in_pending


def test_workers_that_could_not_be_counted_are_not_none() -> None:
    facts = job(pending=Place("0", 2, 40), alive=None)
    assert explain(facts, NOW).reason is Reason.behind_in_pending


@pytest.mark.parametrize("where", ["pending", "schedule", "active", "dead"])
def test_orphan_in_each_set(where: str) -> None:
    facts = job(found="none", fields={}, **{where: Place("0", 0, 1)})
    why = explain(facts, NOW)
    assert why.reason is Reason.orphan
    assert "no row any more" in plain(why)


def test_held_for_children() -> None:
    facts = job(fields=row(state=b"awaiting_children", attempts=b"0"), children_left=b"2")
    why = explain(facts, NOW)
    assert (why.reason, why.state) == (Reason.held, "awaiting")
    assert plain(why) == "It is held for 2 children."
    assert "1 child." in plain(explain(replace(facts, children_left=b"1"), NOW))
    assert "count is not there" in plain(explain(replace(facts, children_left=None), NOW))


def test_active_and_who_holds_it() -> None:
    facts = job(
        active=Place(str(NOW + 22_000), 0, 1), holder=Holder(b"notify-2:7", NOW - 8_000, NOW)
    )
    why = explain(facts, NOW)
    assert why.reason is Reason.active
    assert plain(why) == "It is running. Worker notify-2:7 holds it for 22000 ms more."
    assert "was not told" in plain(explain(replace(facts, holder=None), NOW))


def test_lease_over() -> None:
    facts = job(
        active=Place(str(NOW - 9_000), 0, 1), holder=Holder(b"notify-2", NOW - 39_000, None)
    )
    why = explain(facts, NOW)
    assert why.reason is Reason.lease_over
    assert "ended 9000 ms ago: it waits for the reaper" in plain(why)
    assert "of whom nothing is heard" in plain(why)


def test_dead_with_its_error() -> None:
    facts = job(
        dead=Place("0", 0, 1),
        fields=row(state=b"dead", attempts=b"8", last_error=b"502 bad gateway"),
    )
    why = explain(facts, NOW)
    assert why.reason is Reason.dead
    assert plain(why) == "It is dead after 8 attempts: 502 bad gateway"
    assert [part.value for part in why.parts if part.kind == "error"] == [b"502 bad gateway"]


def test_gone() -> None:
    why = explain(job(found="none", fields={}), NOW)
    assert (why.reason, why.state) == (Reason.gone, "gone")


def test_a_row_that_no_set_names() -> None:
    assert explain(job(), NOW).reason is Reason.nowhere


def test_another_type_under_its_key() -> None:
    assert explain(job(found="list", fields={}), NOW).reason is Reason.wrong_type


@pytest.mark.parametrize("attempts", [b"abc", b"-1", b"", b"9" * 40])
def test_attempts_that_are_no_number_are_told_and_never_zero(attempts: bytes) -> None:
    facts = job(pending=Place("0", 0, 1), fields=row(state=b"pending", attempts=attempts))
    assert "Its attempts are no number." in explain(facts, NOW).odd


@pytest.mark.parametrize("fields", [{"state": b"weird"}, {}])
def test_a_state_no_engine_writes_is_told(fields: dict[str, bytes]) -> None:
    facts = job(pending=Place("0", 0, 1), fields=row(attempts=b"0", **fields))
    assert any("state" in sentence for sentence in explain(facts, NOW).odd)


def test_two_sets_at_once_are_told() -> None:
    facts = job(pending=Place("0", 0, 1), schedule=Place(str(NOW), 0, 1))
    why = explain(facts, NOW)
    assert why.state == "pending"
    assert "It is in more than one set: pending, schedule." in why.odd


def test_ordinals() -> None:
    assert [ordinal(n) for n in (1, 2, 3, 4, 11, 12, 13, 21, 101, 111, 1002)] == [
        "1st", "2nd", "3rd", "4th", "11th", "12th", "13th", "21st", "101st", "111th", "1,002nd",
    ]  # fmt: skip
