"""The methods that an application calls."""

import ast
import asyncio
import inspect
import os
import textwrap
from collections.abc import Callable
from typing import Any

import pytest

from queue_core import AsyncQueue, Lease, Queue, Word
from queue_core.application import FRESH_IDS, Client, enqueue
from queue_core.bus import connect
from queue_core.errors import EchoMQError, InvalidError
from queue_core.ids import Minter, decode
from queue_core.keys import QueueKeys, node_lease
from queue_core.nodes import lease_of
from queue_core.plans import Plan
from queue_core.verbs import admission, due, lanes
from tests.builders import HOUR, Run, a_lane, command

NODE = 401


def public(kind: type) -> dict[str, Any]:
    return {name: verb for name, verb in vars(kind).items() if not name.startswith("_")}


def test_both_queues_offer_the_same_verbs() -> None:
    assert list(public(Queue)) == list(public(AsyncQueue))
    for name, verb in public(Queue).items():
        other = public(AsyncQueue)[name]
        assert inspect.signature(verb) == inspect.signature(other), name
        assert inspect.iscoroutinefunction(other)
        assert not inspect.iscoroutinefunction(verb)


def test_each_verb_is_one_statement() -> None:
    for kind in (Queue, AsyncQueue):
        for name, verb in public(kind).items():
            (definition,) = ast.parse(textwrap.dedent(inspect.getsource(verb))).body
            assert isinstance(definition, ast.FunctionDef | ast.AsyncFunctionDef)
            docstring, statement = definition.body
            assert isinstance(docstring, ast.Expr), name
            assert isinstance(statement, ast.Return), name


def test_a_job_from_admission_to_its_end(bus: Any, q: QueueKeys) -> None:
    queue = Queue(bus, q.name, node=NODE)
    admitted = queue.enqueue("grüße")
    held = queue.claim()
    assert held is not None
    assert (admitted.word, held.id, held.payload) == (Word.enqueued, admitted.id, "grüße".encode())
    assert queue.progress(held.id, "half") is Word.ok
    assert queue.log(held.id, "line") == 1
    assert queue.extend(held, HOUR) is Word.ok
    job = queue.job(held.id).value
    assert job is not None
    assert job.progress == b"half"
    assert queue.retry(held, 0, 3, "again") is Word.scheduled
    assert queue.counts().value["schedule"] == 1
    assert queue.complete(held) is Word.ok


def test_admission_by_time_and_lane(bus: Any, q: QueueKeys) -> None:
    queue, lane = Queue(bus, q.name, node=NODE), a_lane()
    words = [
        queue.enqueue(b"x", group=lane).word,
        queue.enqueue_at(b"x", 5).word,
        queue.enqueue_in(b"x", HOUR, group=lane).word,
        *(one.word for one in queue.enqueue_many([b"a", "b"]) if not isinstance(one, EchoMQError)),
    ]
    assert words == ["enqueued", "scheduled", "scheduled", "enqueued", "enqueued"]
    held = queue.lane_claim()
    assert held is not None
    assert held.group == lane
    assert queue.delay(held, HOUR) is Word.ok
    assert [queue.pause(), queue.pause(), queue.resume()] == [Word.ok, Word.noop, Word.ok]


def test_row_24_what_is_scheduled_into_a_lane_is_served_from_there(
    bus: Any, q: QueueKeys, mint: Callable[[], bytes]
) -> None:
    queue, lane = Queue(bus, q.name, node=NODE), a_lane()
    jobs = [queue.enqueue_in(b"x", 0, group=lane), queue.enqueue_at(b"x", 5, group=lane)]
    bus.run(lanes.limit(q, lane, 1))
    assert bus.run(due.promote(q, 10)) == 2
    held = queue.lane_claim()
    assert held is not None
    assert (held.id in {job.id for job in jobs}, held.group) == (True, lane)
    assert queue.lane_claim() is None
    assert queue.complete(held) is Word.ok
    assert queue.lane_claim() is not None


def test_bounds_logs_and_dedup_ids(bus: Any, q: QueueKeys) -> None:
    queue = Queue(bus, q.name, node=NODE)
    first = queue.enqueue_once(b"x", "d", HOUR)
    again = queue.enqueue_once("x", "d", HOUR, group=a_lane(), delay_ms=5)
    assert (first.word, again.word, again.id) == (Word.enqueued, Word.exists, first.id)
    assert queue.bound(concurrency=1) is Word.ok
    assert queue.keep_logs(HOUR) is Word.ok
    assert queue.claim() is not None
    queue.enqueue(b"y")
    assert queue.claim() is None
    assert [queue.bound(), queue.bound(), queue.keep_logs(None)] == [Word.ok, Word.noop, Word.ok]


def test_a_given_id_may_be_sent_again(bus: Any, q: QueueKeys, mint: Callable[[], bytes]) -> None:
    queue, job_id = Queue(bus, q.name, node=NODE), mint()
    assert queue.enqueue(b"x", job_id=job_id).word is Word.enqueued
    again = queue.enqueue(b"x", job_id=job_id.decode())
    assert (again.word, again.id) == (Word.duplicate, job_id)
    with pytest.raises(InvalidError):
        queue.enqueue(b"x", job_id="nothing")


def test_a_fresh_id_that_is_taken_is_minted_anew(run: Run, q: QueueKeys) -> None:
    taken = Minter(NODE).mint()
    run(admission.enqueue(q, taken, b"theirs"))
    fresh = [taken, Minter(NODE + 1).mint()]

    def mint() -> Plan[bytes]:
        yield from ()
        return fresh.pop(0) if len(fresh) > 1 else fresh[0]

    admitted = run(enqueue(Client(q, mint), b"ours", None, None))
    assert (admitted.word, admitted.id) == (Word.enqueued, fresh[0])
    assert run(command("HGET", q.row(taken), "payload")) == b"theirs"
    stuck = run(enqueue(Client(q, mint), b"ours", None, None))
    assert stuck.word is Word.duplicate
    assert FRESH_IDS > 1


async def test_the_same_awaited(abus: Any, q: QueueKeys) -> None:
    queue = AsyncQueue(abus, q.name, node=NODE)
    admitted = await queue.enqueue("x")
    held = await queue.claim()
    assert isinstance(held, Lease)
    assert held.id == admitted.id
    assert await queue.complete(held, "done") is Word.ok


def test_without_a_node_number_one_is_leased_and_shared(bus: Any, q: QueueKeys) -> None:
    first, second = Queue(bus, q.name), Queue(bus, q.name + b".other")
    ids = [first.mint(), second.enqueue(b"x").id, first.enqueue(b"x").id, second.mint("CUS")]
    nodes = {decode(one).node for one in ids}
    assert nodes == {lease_of(bus).node}
    assert [one[:3] for one in ids] == [b"JOB", b"JOB", b"JOB", b"CUS"]
    assert len({one[3:] for one in ids}) == 4
    assert bus.run(command("EXISTS", node_lease(nodes.pop()))) == 1
    assert decode(Queue(bus, q.name, node=NODE).mint()).node == NODE
    bus.run(lease_of(bus).release())


async def test_an_awaited_queue_leases_one_too(abus: Any, q: QueueKeys) -> None:
    queue = AsyncQueue(abus, q.name)
    minted = await asyncio.gather(*(queue.mint() for _ in range(50)), queue.mint("CUS"))
    assert len(set(minted)) == 51
    assert lease_of(abus).node in {decode(one).node for one in minted}
    assert decode(await AsyncQueue(abus, q.name, node=NODE).mint("CUS")).node == NODE
    await abus.run(lease_of(abus).release())


def test_a_child_process_leaves_the_number_to_its_parent(server: Any, q: QueueKeys) -> None:
    bus = connect(server.url)
    queue = Queue(bus, q.name)
    ours = decode(queue.mint()).node
    read, write = os.pipe()
    child = os.fork()
    if not child:
        os.write(write, b"%d" % decode(queue.mint()).node)
        os._exit(0)
    os.waitpid(child, 0)
    theirs = int(os.read(read, 9))
    os.close(read)
    os.close(write)
    assert theirs != ours
    assert decode(queue.mint()).node == ours
    bus.run(lease_of(bus).release())
    bus.close()
