"""What the verbs of queues, lanes, repeats, flows and boards cost the server."""

from collections.abc import Callable
from typing import Any

import pytest

from queue_core import boards
from queue_core.keys import QueueKeys
from queue_core.plans import Plan
from queue_core.reads import boards as board_reads
from queue_core.reads.limits import limits
from queue_core.reads.metrics import get_metrics
from queue_core.scripts import SCRIPTS
from queue_core.verbs import admission, flows, lanes, locks, queues, repeats
from tests.builders import HOUR, Builder, Run, a_lane, command
from tests.engine.test_cost import LANE, after, cost, crowd, fill

pytestmark = pytest.mark.usefixtures("loaded")


def a_flow(make: Builder) -> flows.FlowJob:
    return flows.FlowJob(make.mint(), b"", (flows.FlowJob(make.mint(), b""),))


def registered(make: Builder, name: str) -> str:
    make.run(repeats.register(make.q, name, HOUR, b"t"))
    return name


def fired(make: Builder) -> Plan[Any]:
    name = make.mint()
    registered(make, name)
    make.run(command("ZADD", make.q.repeat, 5, name))
    return repeats.repeat_fire(make.q, name, "5", make.mint())


VERBS: dict[str, tuple[int, Callable[[Builder], Plan[Any]]]] = {
    "pause": (4, lambda m: queues.pause(m.q)),
    "resume": (3, lambda m: queues.resume(m.q)),
    "bound": (13, lambda m: queues.bound(m.q, 5, 5, HOUR)),
    "keep_logs": (4, lambda m: queues.keep_logs(m.q, HOUR)),
    "enqueue_once": (15, lambda m: admission.enqueue_once(m.q, m.mint(), 5, m.mint(), b"", LANE)),
    "lane_pause": (4, lambda m: lanes.pause(m.q, LANE)),
    "lane_resume": (11, lambda m: lanes.resume(m.q, LANE)),
    "lane_limit": (12, lambda m: lanes.limit(m.q, LANE, 5)),
    "lane_limit_as_seen": (12, lambda m: lanes.limit(m.q, LANE, 5, lanes.UNSET)),
    "lane_weight": (4, lambda m: lanes.weight(m.q, LANE, 5)),
    "lane_weight_as_seen": (4, lambda m: lanes.weight(m.q, LANE, 5, lanes.UNSET)),
    "reassign": (16, lambda m: lanes.reassign(m.q, m.in_lane(LANE).id, a_lane())),
    "depth": (4, lambda m: lanes.depth(m.q, LANE)),
    "register": (6, lambda m: repeats.register(m.q, m.mint(), 5, b"t", HOUR)),
    "due": (6, lambda m: repeats.due(m.q, 1)),
    "repeat_fire": (12, fired),
    "run_now": (10, lambda m: repeats.run_now(m.q, registered(m, "now"), m.mint())),
    "repeat_pause": (9, lambda m: repeats.pause(m.q, registered(m, "stop"), "ann")),
    "cancel": (4, lambda m: repeats.cancel(m.q, "none")),
    "flow_add": (14, lambda m: flows.add(m.q, a_flow(m))),
    "lock_track": (6, lambda m: locks.lock_track(m.q, m.pending().id, 0, HOUR)),
    "limits": (6, lambda m: limits(m.q)),
    "get_metrics": (5, lambda m: get_metrics(m.q, "completed")),
    "fold": (5, lambda m: boards.fold(m.q.name, m.mint(), 5)),
    "page": (6, lambda m: board_reads.page(m.q.name, 0, 10)),
    "undelivered": (3, lambda m: flows.undelivered(m.q)),
    "top": (5, lambda m: boards.top(m.q.name, 10)),
}


@pytest.mark.parametrize("verb", VERBS)
def test_a_verb_costs_the_same_in_a_crowd(run: Run, q: QueueKeys, make: Builder, verb: str) -> None:
    most, plan = VERBS[verb]
    alone = cost(run, after(None, plan(make)))
    fill(run, q)
    crowd(run, q, q.repeat, 10**14)
    crowded = cost(run, plan(make))
    assert crowded[0] == 1
    assert max(alone[1], crowded[1]) <= most
    assert crowded[1] - alone[1] <= 8


def test_a_step_of_destruction_is_bounded(run: Run, q: QueueKeys) -> None:
    fill(run, q)
    trips, commands = cost(run, queues.drain_step(q, "pending", queues.STEP_BUDGET))
    assert trips == 1
    assert commands <= 2 * queues.STEP_BUDGET + 5
    run(queues.pause(q))
    trips, commands = cost(run, queues.obliterate(q, force=True, budget=queues.STEP_BUDGET))
    assert trips == 1
    assert commands <= 3 * queues.STEP_BUDGET + 10


def test_a_full_server_can_be_administered() -> None:
    """What frees memory or stops its growth is not refused; what brings more in is."""
    grow = {name for name, one in SCRIPTS.items() if one.writes and "allow-oom" not in one.flags}
    mine = ("queue_", "lane_", "repeat_", "lock_", "flow_", "board_", "stream_")
    assert {name for name in grow if name.startswith(mine)} == {
        "lane_enqueue", "lane_enqueue_at", "lane_enqueue_in", "repeat_register", "repeat_fire",
        "repeat_run_now", "flow_add", "board_fold", "board_best", "stream_append", "stream_group",
        "stream_read_group", "stream_park",
    }  # fmt: skip
