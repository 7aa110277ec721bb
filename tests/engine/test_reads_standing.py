"""One job as the bus holds it, and the sentence that follows from it, on a real server."""

import pytest

from queue_core.reads.standing import FIELD_BYTES, LOG_BYTES, standing, whole
from queue_core.reads.why import Reason, explain
from queue_core.states import State
from queue_core.verbs import claims, jobs, lanes, queues
from tests.builders import a_lane, command
from tests.engine.test_cost import cost, fill
from tests.engine.test_reads_window import ODD_IDS


def why(run, q, job_id, lane=b""):
    """The reason and the state of one job."""
    seen = run(standing(q, job_id, lane))
    found = explain(seen.value, seen.at_ms)
    return found.reason, found.state


@pytest.mark.parametrize(
    ("state", "expected"),
    [
        (State.pending, (Reason.no_worker, "pending")),
        (State.in_lane, (Reason.no_worker, "lane")),
        (State.active, (Reason.active, "active")),
        (State.scheduled, (Reason.not_due, "scheduled")),
        (State.dead, (Reason.dead, "dead")),
        (State.awaiting_children, (Reason.held, "awaiting")),
        (State.unknown, (Reason.nowhere, "unknown")),
        (State.absent, (Reason.gone, "gone")),
    ],
)
def test_every_state_has_its_reason(run, q, make, state, expected):
    assert why(run, q, make.state(state).id) == expected


def test_reasons_of_time(run, q, make):
    assert why(run, q, make.due().id) == (Reason.nothing_promotes, "scheduled")
    assert why(run, q, make.expired().id) == (Reason.lease_over, "active")


def test_reasons_of_waiting_with_a_crew(run, q, make):
    run(command("ZADD", q.workers, 10**15, b"somebody"))
    first, second = make.pending(), make.pending()
    assert why(run, q, first.id)[0] is Reason.next
    assert why(run, q, second.id)[0] is Reason.behind_in_pending
    group = a_lane()
    lead, follows = make.in_lane(group), make.in_lane(group)
    assert why(run, q, lead.id)[0] is Reason.next
    assert why(run, q, follows.id)[0] is Reason.behind_in_lane
    run(lanes.limit(q, group, 1))
    assert run(claims.lane_claim(q, 60_000)).id == lead.id
    assert why(run, q, follows.id)[0] is Reason.lane_full
    run(lanes.pause(q, group))
    assert why(run, q, follows.id)[0] is Reason.lane_paused
    run(queues.pause(q))
    assert why(run, q, follows.id)[0] is Reason.queue_paused


@pytest.mark.parametrize("name", ["pending", "active", "schedule", "dead"])
def test_an_orphan_of_each_set(run, q, make, name):
    assert why(run, q, make.ghost(getattr(q, name)).id)[0] is Reason.orphan


def test_an_orphan_of_a_lane_is_found_where_the_lane_is_told(run, q, make):
    group = a_lane()
    orphan = make.ghost(q.lane(group)).id
    assert why(run, q, orphan)[0] is Reason.gone
    assert why(run, q, orphan, group) == (Reason.orphan, "lane")


@pytest.mark.parametrize("member", ODD_IDS)
def test_any_bytes_name_a_job(run, q, member):
    """Exact strings, however they look (case 30)."""
    run(command("ZADD", q.pending, 0, member))
    run(command("HSET", q.row(member), "state", "pending", "attempts", 0, "payload", "{}"))
    seen = run(standing(q, member)).value
    assert (seen.id, seen.found, seen.sets) == (member, "row", ("pending",))


def test_a_row_of_another_type(run, q, make):
    made = make.ghost(q.pending)
    run(command("RPUSH", q.row(made.id), b"x"))
    seen = run(standing(q, made.id)).value
    assert (seen.found, seen.sets) == ("list", ("pending",))


def test_a_set_of_another_type_leaves_the_rest(run, q, make):
    made = make.pending()
    run(command("SET", q.schedule, b"x"))
    run(command("SET", q.logs(made.id), b"x"))
    seen = run(standing(q, made.id)).value
    assert (seen.sets, seen.late, seen.logs_total) == (("pending",), None, None)


def test_long_fields_are_measured_and_read_on_demand(run, q, make):
    made = make.pending(b"p" * 70_000)
    run(command("HSET", q.row(made.id), "last_error", b"e" * (FIELD_BYTES + 1)))
    seen = run(standing(q, made.id)).value
    assert (seen.fields[b"payload"].size, seen.text(b"payload")) == (70_000, None)
    assert (seen.fields[b"last_error"].size, seen.text(b"last_error")) == (FIELD_BYTES + 1, None)
    assert run(whole(q, made.id)).value.value == b"p" * 70_000
    refused = run(whole(q, made.id, most=100))
    assert (refused.complete, refused.value.value, refused.value.size) == (False, None, 70_000)
    gone = run(whole(q, b"nobody"))
    assert (gone.complete, gone.value.value, gone.value.size) == (True, None, 0)


def test_a_row_of_many_fields_shows_those_of_the_wire(run, q, make):
    made = make.pending(b"{}")
    words = [word for at in range(500) for word in (f"f{at}", at)]
    run(command("HSET", q.row(made.id), *words))
    seen = run(standing(q, made.id)).value
    assert seen.fields_total == 503
    assert set(seen.fields) == {b"state", b"attempts", b"payload"}


def test_logs_are_read_to_a_bound(run, q, make):
    made = make.pending()
    for at in range(3):
        run(jobs.add_log(q, made.id, b"line %d" % at))
    seen = run(standing(q, made.id)).value
    assert (seen.logs_total, seen.logs) == (3, (b"line 0", b"line 1", b"line 2"))
    run(jobs.add_log(q, made.id, b"x" * (LOG_BYTES + 1)))
    seen = run(standing(q, made.id)).value
    assert (seen.logs_total, seen.logs) == (4, ())
    assert seen.logs_bytes > LOG_BYTES


def test_the_lock_of_a_worker_is_told(run, q, make):
    made = make.active()
    run(command("SET", q.lock(made.id), "1", "PX", 30_000))
    assert 0 < run(standing(q, made.id)).value.lock_ms <= 30_000


def test_one_job_costs_one_bounded_look(run, q, make):
    made = make.in_lane(a_lane())
    fill(run, q)
    run(standing(q, made.id))
    trips, commands = cost(run, standing(q, made.id))
    assert trips == 1
    assert commands <= 60
