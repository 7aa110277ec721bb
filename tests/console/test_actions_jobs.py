"""Each action on a job against each state: what it answers, what it changes, what it says."""

from __future__ import annotations

from collections.abc import Callable
from datetime import UTC, datetime
from typing import Any

import pytest

from echomq_admin.actions.action import Target
from echomq_admin.actions.answers import Answer
from echomq_admin.live.page import to_path
from echomq_admin.models import AuditEntry
from queue_core.bus import Bus
from queue_core.keys import QueueKeys
from queue_core.outcomes import Outcome, Word
from queue_core.reads.jobs import get_job_state
from queue_core.states import VERBS, State
from tests.builders import Builder, a_lane, command, row, score

Do = Callable[..., Answer]
HELD = [state for state in State if state is not State.absent]


def state_of(bus: Bus, q: QueueKeys, job_id: bytes) -> State:
    return bus.run(get_job_state(q, job_id)).value


# ---- retry -----------------------------------------------------------------------------------


@pytest.mark.parametrize("state", list(State))
def test_retry_answers_as_the_table_of_states_says(
    do: Do, make: Builder, bus: Bus, q: QueueKeys, state: State
) -> None:
    job = make.state(state)
    answer = do("retry_dead", job.id)
    step = VERBS["reprocess_job"][state]
    assert answer.word is step.word
    waits = {State.pending, State.in_lane, State.active}
    expected = {
        State.dead: Outcome.done,
        State.absent: Outcome.gone,
    }.get(state, Outcome.already if state in waits else Outcome.wrong_state)
    assert answer.outcome is expected
    assert state_of(bus, q, job.id) in step.to or state is State.absent


def test_case_82_a_pending_job_is_already_queued(do: Do, make: Builder) -> None:
    answer = do("retry_dead", make.pending().id)
    assert answer.outcome is Outcome.already
    assert "It needs no retry: it is pending" in answer.sentence


def test_case_80_the_effect_on_attempts_is_told_before_the_click(
    client_of: Callable[[Any], Any], site: Any, ada: Any, make: Builder, q: QueueKeys
) -> None:
    job = make.dead()
    page = client_of(ada).get(
        "/dialog/retry_dead",
        {"bus": "main", "queue": to_path(q.name), "item": to_path(job.id)},
        headers={"HX-Request": "true"},
    )
    assert "Attempts stay at 1" in page.content.decode()


def test_row_38_a_parent_is_not_run_without_its_children_unsaid(
    client_of: Callable[[Any], Any], site: Any, ada: Any, make: Builder, bus: Bus, q: QueueKeys
) -> None:
    job = make.awaiting_children(2)
    bus.run(command("HSET", q.row(job.id), "state", "dead"))
    bus.run(command("ZADD", q.dead, 0, job.id))
    asked = {"bus": "main", "queue": to_path(q.name), "item": to_path(job.id)}
    pages = []
    for _ in range(3):
        page = client_of(ada).get("/dialog/retry_dead", asked, headers={"HX-Request": "true"})
        pages.append(page.content.decode())
        bus.run(command("DECR", q.dependencies(job.id)))
    assert "2 of its children are not done" in pages[0]
    assert "Its last child is not done" in pages[1]
    assert "not done" not in pages[2]


def test_case_80_attempts_stay(do: Do, make: Builder, bus: Bus, q: QueueKeys) -> None:
    job = make.dead()
    assert do("retry_dead", job.id).outcome is Outcome.done
    assert bus.run(row(q, job.id))[b"attempts"] == b"1"


def test_case_72_an_orphan_among_the_dead_has_no_data_to_retry(do: Do, make: Builder) -> None:
    answer = do("retry_dead", make.ghost(make.q.dead).id)
    assert answer.outcome is Outcome.gone
    assert "data is gone" in answer.sentence


def test_case_78_only_state_and_error_change(do: Do, make: Builder, bus: Bus, q: QueueKeys) -> None:
    job = make.dead()
    before = bus.run(row(q, job.id))
    do("retry_dead", job.id)
    after = bus.run(row(q, job.id))
    changed = {b"state", b"last_error"}
    assert {k: v for k, v in before.items() if k not in changed} == {
        k: v for k, v in after.items() if k not in changed
    }


# ---- another time ----------------------------------------------------------------------------


def test_reschedule_to_exact_ms(do: Do, make: Builder, bus: Bus, q: QueueKeys) -> None:
    job = make.scheduled()
    answer = do("reschedule", job.id, at_ms="1900000000000")
    assert answer.outcome is Outcome.done
    assert bus.run(score(q.schedule, job.id)) == 1_900_000_000_000
    assert "2030-03-17 17:46:40 UTC" in answer.sentence


def test_reschedule_against_another_score_writes_nothing(
    do: Do, make: Builder, bus: Bus, q: QueueKeys
) -> None:
    job = make.scheduled()
    held = bus.run(score(q.schedule, job.id))
    answer = do("reschedule", job.id, at_ms="1900000000000", expect="1")
    assert (answer.outcome, answer.word) == (Outcome.wrong_state, Word.moved)
    assert bus.run(score(q.schedule, job.id)) == held


def test_reschedule_can_be_taken_back(do: Do, make: Builder, bus: Bus, q: QueueKeys) -> None:
    job = make.scheduled()
    held = bus.run(score(q.schedule, job.id))
    assert held is not None
    answer = do("reschedule", job.id, at_ms="1900000000000", expect=f"{held:.0f}")
    assert answer.undo is not None
    assert do(answer.undo.action, job.id, **answer.undo.params).outcome is Outcome.done
    assert bus.run(score(q.schedule, job.id)) == held


def test_postpone_counts_from_its_time_or_from_now(
    do: Do, make: Builder, bus: Bus, q: QueueKeys
) -> None:
    ahead, late = make.scheduled(), make.due()
    was = bus.run(score(q.schedule, ahead.id))
    assert do("reschedule", ahead.id, by="15m").outcome is Outcome.done
    assert bus.run(score(q.schedule, ahead.id)) == was + 900_000
    assert do("reschedule", late.id, by="1h").outcome is Outcome.done
    assert bus.run(score(q.schedule, late.id)) > 1_700_000_000_000


@pytest.mark.parametrize("state", [state for state in State if state is not State.scheduled])
def test_reschedule_of_what_is_not_scheduled(do: Do, make: Builder, state: State) -> None:
    for asked in ({"at_ms": "1900000000000"}, {"by": "5m"}):
        answer = do("reschedule", make.state(state).id, **asked)
        gone = state is State.absent
        assert answer.outcome is (Outcome.gone if gone else Outcome.wrong_state)


@pytest.mark.parametrize(
    "asked",
    [
        {},
        {"at_ms": "soon"},
        {"at_ms": str(2**53)},
        {"at": "tomorrow"},
        {"by": "15"},
        {"by": "9999999w"},
        {"at": "2030-01-01T00:00", "by": "5m"},
        {"at": "2030-01-01T00:00", "zone": "Mars/Olympus"},
    ],
)
def test_a_time_that_is_none_is_refused(
    do: Do, make: Builder, bus: Bus, q: QueueKeys, asked: dict[str, str]
) -> None:
    job = make.scheduled()
    held = bus.run(score(q.schedule, job.id))
    answer = do("reschedule", job.id, **asked)
    assert answer.outcome is Outcome.invalid
    assert answer.errors
    assert bus.run(score(q.schedule, job.id)) == held


def test_case_58_a_skipped_local_time_is_refused_with_two_suggestions(
    do: Do, make: Builder, bus: Bus, q: QueueKeys
) -> None:
    job = make.scheduled()
    answer = do("reschedule", job.id, at="2030-03-31T02:30", zone="Europe/Berlin")
    assert answer.outcome is Outcome.invalid
    assert "2030-03-31T01:30+01:00 or 2030-03-31T03:30+02:00" in answer.sentence
    taken = do("reschedule", job.id, at="2030-03-31T03:30+02:00", zone="Europe/Berlin")
    assert taken.outcome is Outcome.done
    moment = datetime(2030, 3, 31, 1, 30, tzinfo=UTC)
    assert bus.run(score(q.schedule, job.id)) == moment.timestamp() * 1000


def test_case_58_a_doubled_local_time_is_refused_with_both(do: Do, make: Builder) -> None:
    answer = do("reschedule", make.scheduled().id, at="2030-10-27T02:30:45", zone="Europe/Berlin")
    assert answer.outcome is Outcome.invalid
    assert "2030-10-27T02:30:45+02:00 or 2030-10-27T02:30:45+01:00" in answer.sentence


# ---- run now ---------------------------------------------------------------------------------


@pytest.mark.parametrize("state", list(State))
def test_run_now_answers_as_the_table_of_states_says(
    do: Do, make: Builder, bus: Bus, q: QueueKeys, state: State
) -> None:
    job = make.state(state)
    answer = do("run_now", job.id)
    step = VERBS["run_now"][state]
    assert answer.word is step.word
    assert state_of(bus, q, job.id) in step.to or state is State.absent


def test_case_66_only_this_one_of_many_at_one_time_moves(
    do: Do, make: Builder, bus: Bus, q: QueueKeys
) -> None:
    jobs = [make.scheduled() for _ in range(20)]
    for job in jobs:
        bus.run(command("ZADD", q.schedule, 1_900_000_000_000, job.id))
    assert do("run_now", jobs[7].id).outcome is Outcome.done
    assert state_of(bus, q, jobs[7].id) is State.pending
    assert bus.run(command("ZCARD", q.schedule)) == 19


def test_run_now_offers_the_lane(do: Do, make: Builder, bus: Bus, q: QueueKeys) -> None:
    group = a_lane()
    job = make.scheduled(group)
    assert do("run_now", job.id).outcome is Outcome.done
    assert bus.run(command("LPOS", q.ring, group)) == 0


# ---- remove ----------------------------------------------------------------------------------


@pytest.mark.parametrize("state", HELD)
def test_remove_takes_row_and_member(
    do: Do, make: Builder, bus: Bus, q: QueueKeys, state: State
) -> None:
    job = make.state(state)
    answer = do("remove_job", job.id, expect=state.value, confirm="remove")
    assert answer.outcome is Outcome.done, answer.sentence
    assert state_of(bus, q, job.id) is State.absent


@pytest.mark.parametrize("typed", ["", "yes", "removed"])
def test_remove_wants_its_word(do: Do, make: Builder, typed: str) -> None:
    answer = do("remove_job", make.dead().id, confirm=typed)
    assert answer.outcome is Outcome.invalid
    assert "confirm" in answer.errors


def test_case_76_a_job_that_moved_on_is_not_removed(
    do: Do, make: Builder, bus: Bus, q: QueueKeys
) -> None:
    job = make.pending()
    answer = do("remove_job", job.id, expect="dead", confirm="remove")
    assert (answer.outcome, answer.word) == (Outcome.wrong_state, Word.moved)
    assert "pending now, not dead" in answer.sentence
    assert state_of(bus, q, job.id) is State.pending


def test_case_70_a_locked_job_stays(do: Do, make: Builder, bus: Bus, q: QueueKeys) -> None:
    job = make.active()
    bus.run(command("SET", q.lock(job.id), "x", "PX", 60_000))
    answer = do("remove_job", job.id, expect="active", confirm="remove")
    assert answer.outcome is Outcome.locked
    assert bus.run(row(q, job.id))


def test_removing_what_is_gone(do: Do, make: Builder) -> None:
    for expect in ("", "dead", "unknown"):
        answer = do("remove_job", make.absent().id, expect=expect, confirm="remove")
        assert answer.outcome is Outcome.gone


def test_case_72_an_orphan_can_be_swept(do: Do, make: Builder, bus: Bus, q: QueueKeys) -> None:
    job = make.ghost(q.pending)
    answer = do("remove_job", job.id, expect="pending", confirm="remove")
    assert answer.outcome is Outcome.done
    assert "It had no row" in answer.sentence
    assert bus.run(score(q.pending, job.id)) is None


def test_an_orphan_is_swept_out_of_the_lane_it_was_seen_in(
    do: Do, make: Builder, bus: Bus, q: QueueKeys
) -> None:
    lane = a_lane()
    job, stays = make.ghost(q.lane(lane)), make.ghost(q.lane(lane))
    where = Target("main", q.name, job.id, lane=lane)
    asked = {"target": where, "expect": "in_lane", "confirm": "remove"}
    unnamed = do("remove_job", job.id, expect="in_lane", confirm="remove")
    assert unnamed.outcome is Outcome.gone
    assert "Name the lane" in unnamed.sentence
    elsewhere = Target("main", q.name, job.id, lane=a_lane())
    assert do("remove_job", **{**asked, "target": elsewhere}).outcome is Outcome.gone
    assert bus.run(score(q.lane(lane), job.id)) == 0
    assert do("remove_job", **asked).outcome is Outcome.done
    assert bus.run(score(q.lane(lane), job.id)) is None
    assert bus.run(score(q.lane(lane), stays.id)) == 0
    assert do("remove_job", **asked).outcome is Outcome.already
    entry = AuditEntry.objects.filter(outcome="done").get()
    assert entry.params["lane"] == to_path(lane)


def test_a_stray_of_another_lane_is_swept_and_its_job_stays(
    do: Do, make: Builder, bus: Bus, q: QueueKeys
) -> None:
    """The row says one lane and another names the job too: only the second forgets it."""
    job, other = make.in_lane(), a_lane()
    bus.run(command("ZADD", q.lane(other), 0, job.id))
    where = Target("main", q.name, job.id, lane=other)
    asked = {"target": where, "expect": "in_lane", "confirm": "remove"}
    answer = do("remove_job", **asked)
    assert answer.outcome is Outcome.done
    assert "Its row stays" in answer.sentence
    assert job.group is not None
    assert bus.run(score(q.lane(job.group), job.id)) == 0
    assert bus.run(row(q, job.id))
    assert bus.run(score(q.lane(other), job.id)) is None


def test_a_job_that_left_its_lane_is_not_swept_from_where_it_went(
    do: Do, make: Builder, bus: Bus, q: QueueKeys
) -> None:
    job = make.active(a_lane())
    assert job.group is not None
    where = Target("main", q.name, job.id, lane=job.group)
    answer = do("remove_job", target=where, expect="in_lane", confirm="remove")
    assert answer.outcome is Outcome.wrong_state
    assert "active" in answer.sentence
    assert bus.run(score(q.active, job.id)) is not None


FOREIGN = [b"123", b"007", b"1e5", b"null", b"__proto__", b"-", b"a ", b"x" * 4096, b"\xff\x00"]


@pytest.mark.parametrize("member", FOREIGN)
def test_case_30_foreign_members_are_rescheduled_and_removed_by_their_bytes(
    do: Do, bus: Bus, q: QueueKeys, member: bytes
) -> None:
    bus.run(command("ZADD", q.schedule, 1_900_000_000_000, member))
    bus.run(command("HSET", q.row(member), "state", "scheduled", "payload", "x", "attempts", "0"))
    assert do("reschedule", member, at_ms="1900000000001").outcome is Outcome.done
    assert bus.run(score(q.schedule, member)) == 1_900_000_000_001
    assert do("remove_job", member, expect="scheduled", confirm="remove").outcome is Outcome.done
    assert bus.run(score(q.schedule, member)) is None


def test_case_74_odd_rows_answer_and_lie_about_nothing(
    do: Do, make: Builder, bus: Bus, q: QueueKeys
) -> None:
    job = make.dead()
    bus.run(command("HSET", q.row(job.id), "state", "weird", "attempts", "abc"))
    assert do("retry_dead", job.id).outcome is Outcome.done


def test_a_row_of_another_type_is_that_and_not_gone(
    do: Do, make: Builder, bus: Bus, q: QueueKeys
) -> None:
    job = make.ghost(q.dead)
    bus.run(command("RPUSH", q.row(job.id), "x"))
    answer = do("retry_dead", job.id)
    assert answer.outcome in (Outcome.wrong_state, Outcome.gone)
