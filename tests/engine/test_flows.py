"""Flows: adding, delivering and reading them."""

from collections.abc import Callable
from typing import Any

import pytest

from queue_core.errors import InvalidError
from queue_core.keys import QueueKeys, queue
from queue_core.outcomes import Word
from queue_core.plans import Step
from queue_core.verbs import claims, flows, jobs, settle
from queue_core.verbs.flows import FlowJob
from tests.builders import HOUR, Builder, Run, command, row, score
from tests.engine.steps import watched

Mint = Callable[[], bytes]


def keys_of(run: Run, *queues: QueueKeys) -> list[bytes]:
    found: list[bytes] = []
    for q in queues:
        found += run(command("KEYS", q.base + b"*"))
    return found


def other_queue(q: QueueKeys) -> QueueKeys:
    return queue(q.name + b".other")


def held_by(run: Run, q: QueueKeys) -> Any:
    held = run(claims.claim(q, HOUR))
    assert held is not None
    return held


def test_a_flow_of_one_queue_is_one_script(run: Run, q: QueueKeys, mint: Mint) -> None:
    leaf = FlowJob(mint(), b"leaf", ignore_failure=True)
    middle = FlowJob(mint(), b"middle", (leaf,))
    root = FlowJob(mint(), b"root", (middle, FlowJob(mint(), b"beside")))
    seen: list[Step] = []
    assert run(watched(flows.add(q, root), seen)) == (Word.ok, None)
    assert len(seen) == 1
    assert run(row(q, root.id))[b"state"] == b"awaiting_children"
    assert run(flows.dependencies(q, root.id)) == 2
    assert run(flows.dependencies(q, middle.id)) == 1
    assert run(row(q, leaf.id))[b"parent_policy"] == b"id"
    assert run(score(q.pending, middle.id)) is None


def test_a_flow_over_queues_is_written_from_the_root_down(
    run: Run, q: QueueKeys, mint: Mint
) -> None:
    other = other_queue(q)
    leaf = FlowJob(mint(), b"leaf", queue=q)
    middle = FlowJob(mint(), b"middle", (leaf,), queue=other)
    root = FlowJob(mint(), b"root", (middle,))
    seen: list[Step] = []
    assert run(watched(flows.add(q, root), seen)) == (Word.ok, None)
    assert len(seen) == 4, "one look, then three levels"
    assert run(row(other, middle.id))[b"parent_queue"] == q.name
    assert run(row(q, leaf.id))[b"parent_queue"] == other.name


def test_row_31_nothing_is_written_over_an_existing_id(
    run: Run, q: QueueKeys, mint: Mint, make: Builder
) -> None:
    there, other = make.pending(), other_queue(q)
    before = sorted(keys_of(run, q, other))
    for home in (None, other):
        first = FlowJob(mint(), b"c", queue=home)
        root = FlowJob(mint(), b"p", (first, FlowJob(there.id, b"again")))
        assert run(flows.add(q, root)) == (Word.duplicate, there.id)
    assert sorted(keys_of(run, q, other)) == before


def test_row_31_a_wrong_kind_anywhere_writes_nothing(run: Run, q: QueueKeys, mint: Mint) -> None:
    order = b"ORD" + mint()[3:]
    root = FlowJob(
        mint(), b"p", (FlowJob(mint(), b"c"), FlowJob(order, b"c", queue=other_queue(q)))
    )
    assert run(flows.add(q, root)) == (Word.kind, order)
    assert keys_of(run, q, other_queue(q)) == []


def test_row_31_a_flow_has_children_and_distinct_ids(run: Run, q: QueueKeys, mint: Mint) -> None:
    with pytest.raises(InvalidError):
        run(flows.add(q, FlowJob(mint(), b"p")))
    twice = FlowJob(mint(), b"c")
    assert run(flows.add(q, FlowJob(mint(), b"p", (twice, twice)))) == (Word.flow_cycle, twice.id)
    assert keys_of(run, q) == []


def test_a_flow_has_eight_levels_at_most(run: Run, q: QueueKeys, mint: Mint) -> None:
    job = FlowJob(mint(), b"leaf")
    for _ in range(flows.MAX_DEPTH - 1):
        job = FlowJob(mint(), b"node", (job,))
    assert run(flows.add(q, job)) == (Word.ok, None)
    deeper = FlowJob(mint(), b"root", (FlowJob(mint(), b"n", (FlowJob(mint(), b"n", (job,)),)),))
    assert run(flows.add(q, deeper))[0] is Word.flow_too_deep


def test_row_32_the_policy_is_there_before_a_child_can_run(
    run: Run, q: QueueKeys, mint: Mint
) -> None:
    """The child is claimed and dies at once; its parent must ignore that already."""
    child = FlowJob(mint(), b"c", queue=other_queue(q), ignore_failure=True)
    root = FlowJob(mint(), b"p", (child,))
    seen: list[Step] = []
    run(watched(flows.add(q, root), seen))
    last = seen[-1]
    assert "flow_add" in str(last), "the policy is written by the script that admits the child"
    held = held_by(run, other_queue(q))
    run(settle.retry(other_queue(q), held.id, held.token, 0, 1, b"boom"))
    assert run(flows.deliver(other_queue(q), 10)) == 1
    assert run(row(q, root.id))[b"state"] == b"pending"
    assert run(flows.ignored_failures(q, root.id)) == {child.id: b"boom"}


def test_rows_33_and_34_only_a_waiting_parent_is_released(
    run: Run, q: QueueKeys, mint: Mint
) -> None:
    other = other_queue(q)
    child = FlowJob(mint(), b"c", queue=other)
    root = FlowJob(mint(), b"p", (child,))
    run(flows.add(q, root))
    run(jobs.remove_job(q, root.id))
    held = held_by(run, other)
    run(settle.complete(other, held.id, held.token, b"r"))
    assert run(flows.deliver(other, 10)) == 1
    assert run(command("EXISTS", q.row(root.id))) == 0
    assert run(command("EXISTS", q.pending)) == 0


def test_row_35_entries_are_removed_by_value(run: Run, q: QueueKeys, mint: Mint) -> None:
    """Another pump delivers between our read and our removal: nothing else is cut."""
    entries = [b"\0".join((q.name, mint(), mint(), b"r%d" % at)) for at in range(3)]
    run(command("RPUSH", q.outbox, *entries))
    plan = flows.deliver(q, 2)
    read = next(plan)
    batch = plan.send(entries[:2])
    removal = plan.send([[b"ok"] for _ in batch.calls])
    run(command("LPOP", q.outbox))
    for call in removal.calls:
        run(command(call.name, call.keys[0], *call.args))
    assert read.name == "LRANGE"
    assert run(command("LRANGE", q.outbox, 0, -1)) == entries[2:]


@pytest.mark.planted
@pytest.mark.parametrize(
    "bad",
    [b"junk", b"q\0id\0child", b"\0fail\0q\0id", b"\0late\0q\0JOB00000000001\0c\0fp\0e", b""],
)
def test_row_36_a_malformed_entry_stays_and_stops(
    run: Run, q: QueueKeys, mint: Mint, bad: bytes
) -> None:
    good = b"\0".join((q.name, mint(), mint(), b"r"))
    run(command("RPUSH", q.outbox, good, bad, good))
    assert run(flows.deliver(q, 10)) == 1
    assert run(command("LRANGE", q.outbox, 0, -1)) == [bad, good]
    assert run(flows.deliver(q, 10)) == 0


def test_row_36_an_operator_sees_what_holds_an_outbox_up_and_may_skip_it(
    run: Run, q: QueueKeys, mint: Mint
) -> None:
    good, bad = b"\0".join((q.name, mint(), mint(), b"r")), b"junk"
    run(command("RPUSH", q.outbox, bad, good))
    assert run(flows.undelivered(q)) == [(bad, False), (good, True)]
    assert run(flows.skip(q, good)) is Word.invalid
    assert run(flows.skip(q, bad)) is Word.ok
    assert run(flows.skip(q, bad)) is Word.gone
    assert run(flows.deliver(q, 10)) == 1
    assert run(flows.undelivered(q)) == []


def test_delivery_twice_counts_once(run: Run, q: QueueKeys, mint: Mint) -> None:
    other = other_queue(q)
    first, second = FlowJob(mint(), b"c", queue=other), FlowJob(mint(), b"c", queue=other)
    root = FlowJob(mint(), b"p", (first, second))
    run(flows.add(q, root))
    held = held_by(run, other)
    run(settle.complete(other, held.id, held.token, b"a\0b"))
    (entry,) = run(command("LRANGE", other.outbox, 0, -1))
    run(command("RPUSH", other.outbox, entry))
    assert run(flows.deliver(other, 10)) == 2
    assert run(flows.dependencies(q, root.id)) == 1
    assert run(flows.children_values(q, root.id)) == {held.id: b"a\0b"}


def test_a_death_climbs_one_level_a_sweep(run: Run, q: QueueKeys, mint: Mint) -> None:
    job = FlowJob(mint(), b"leaf")
    levels = [job]
    for _ in range(3):
        job = FlowJob(mint(), b"node", (job,))
        levels.append(job)
    run(flows.add(q, job))
    held = held_by(run, q)
    run(settle.retry(q, held.id, held.token, 0, 1, b"deep"))
    dead = [run(score(q.dead, level.id)) is not None for level in levels]
    assert dead == [True, True, False, False]
    assert [run(flows.deliver(q, 10)) for _ in range(3)] == [1, 1, 0]
    assert run(command("HGET", q.failed(job.id), levels[2].id)) == b"deep"


def test_an_ignored_death_climbs_no_further(run: Run, q: QueueKeys, mint: Mint) -> None:
    other = other_queue(q)
    leaf = FlowJob(mint(), b"leaf", queue=other, ignore_failure=True)
    middle = FlowJob(mint(), b"middle", (leaf,))
    root = FlowJob(mint(), b"root", (middle,))
    run(flows.add(q, root))
    held = held_by(run, other)
    run(settle.retry(other, held.id, held.token, 0, 1, b"meh"))
    assert run(flows.deliver(other, 10)) == 1
    assert run(flows.deliver(q, 10)) == 0
    assert run(row(q, middle.id))[b"state"] == b"pending"
    assert run(row(q, root.id))[b"state"] == b"awaiting_children"


def test_bulk_writes_the_good_and_names_the_bad(run: Run, q: QueueKeys, mint: Mint) -> None:
    good = FlowJob(mint(), b"p", (FlowJob(mint(), b"c"),))
    order = FlowJob(b"ORD" + mint()[3:], b"c")
    verdicts = run(
        flows.add_many(q, [good, FlowJob(mint(), b"p", (order,)), FlowJob(b"bad", b"p", (good,))])
    )
    assert verdicts[:2] == [(Word.ok, None), (Word.kind, order.id)]
    assert isinstance(verdicts[2], InvalidError)


def test_children_values_are_read_in_pages(run: Run, q: QueueKeys, mint: Mint) -> None:
    parent = mint()
    pairs = {b"c%04d" % at: b"v" * 100 for at in range(flows.PAGE * 3)}
    flat = [word for pair in pairs.items() for word in pair]
    run(command("HSET", q.processed(parent), *flat))
    seen: list[Step] = []
    assert run(watched(flows.children_values(q, parent), seen)) == pairs
    assert len(seen) > 1
