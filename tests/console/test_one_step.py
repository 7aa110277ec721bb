"""Whatever comes between an action's questions and its write: it writes against what it expects."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

import pytest

from echomq_admin.actions import ACTIONS
from echomq_admin.actions.action import Order, Result, Target
from queue_core.bus import Bus
from queue_core.keys import QueueKeys
from queue_core.outcomes import Word
from queue_core.plans import Call, Plan
from queue_core.reads.jobs import get_job_state
from queue_core.states import State
from tests.builders import Builder, a_lane, command


def before_it_writes(plan: Plan[Result], meanwhile: Callable[[], object]) -> Plan[Result]:
    """The plan; before each of its writes somebody else acts."""
    reply = None
    try:
        while True:
            step = plan.send(reply)
            if isinstance(step, Call) and step.script is not None and step.script.writes:
                meanwhile()
            reply = yield step
    except StopIteration as end:
        result: Result = end.value
        return result


@pytest.mark.parametrize(("action", "field"), [("limit_lane", "limit"), ("weight_lane", "weight")])
def test_a_lane_that_is_set_by_another_meanwhile_stays_so(
    bus: Bus, q: QueueKeys, action: str, field: str
) -> None:
    lane = a_lane()
    key = q.glimit if field == "limit" else q.gweight
    order = Order(Target("main", q.name, lane), {field: 9}, "ada", "none", b"")
    plan = before_it_writes(
        ACTIONS[action].plan(order), lambda: bus.run(command("HSET", key, lane, "2"))
    )
    result = bus.run(plan)
    assert result.word is Word.moved
    assert f"Its {field} was changed meanwhile: it is 2." in result.sentence
    assert bus.run(command("HGET", key, lane)) == b"2"
    blind = bus.run(ACTIONS[action].plan(replace(order, expect="")))
    assert blind.word is Word.ok


@pytest.mark.parametrize("state", [State.unknown, State.awaiting_children])
def test_a_job_of_no_set_that_comes_into_one_meanwhile_stays(
    bus: Bus, q: QueueKeys, make: Builder, state: State
) -> None:
    job = make.state(state)
    order = Order(Target("main", q.name, job.id), {}, "ada", state.value, b"")
    plan = before_it_writes(
        ACTIONS["remove_job"].plan(order), lambda: bus.run(command("ZADD", q.pending, 0, job.id))
    )
    result = bus.run(plan)
    assert result.word is Word.moved
    assert f"It is pending now, not {state.value}." in result.sentence
    assert bus.run(get_job_state(q, job.id)).value is State.pending
