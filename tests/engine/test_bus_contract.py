"""What both buses promise, over every kind of servers: the same cases for all."""

from __future__ import annotations

import os
import signal
import threading
import time

import pytest

from queue_core.errors import (
    ContractError,
    EchoMQError,
    ServerFault,
    UnavailableError,
    WrongTypeFault,
)
from queue_core.keys import queue
from queue_core.outcomes import Word
from queue_core.plans import Batch, Call, Wait
from queue_core.verbs import admission, claims, settle
from tests.builders import HOUR, command
from tests.buses import Blocking
from tests.servers import ask


def keyless(name, *args, node=None):
    return (yield Call(name, (), args, node=node))


def test_verbs_run(reach, q, mint):
    job_id = mint()
    assert reach.run(admission.enqueue(q, job_id, b"\x00work")) is Word.enqueued
    lease = reach.run(claims.claim(q, HOUR))
    assert (lease.id, lease.payload) == (job_id, b"\x00work")
    assert reach.run(settle.complete(q, job_id, lease.token)) is Word.ok


def test_plans_run_in_lockstep_over_all_nodes(reach, q, mint):
    queues = [queue(f"{q.name.decode()}.{n}") for n in range(12)]
    ids = [mint() for _ in queues]
    first = reach.run_all(
        [admission.enqueue(one, i, b"") for one, i in zip(queues, ids, strict=True)]
    )
    assert first == [Word.enqueued] * 12
    plans = [claims.claim(one, HOUR) for one in queues]
    plans.insert(5, command("LPUSH", queues[0].active, "x"))
    plans.append(keyless("NOSUCH"))
    results = reach.run_all(plans)
    assert isinstance(results.pop(5), WrongTypeFault)
    assert isinstance(results.pop(), ServerFault)
    assert [lease.id for lease in results] == ids


def test_plans_of_different_lengths_end_each_in_its_time(reach, q):
    def many(n):
        sizes = []
        for _ in range(n):
            size = yield Call("RPUSH", (q.base + b"n%d" % n,), ("x",))
            sizes.append(size)
        return sizes

    assert reach.run_all([many(n) for n in (3, 0, 1)]) == [[1, 2, 3], [], [1]]
    assert reach.run_all([]) == []


def test_a_flushed_script_is_loaded_again_and_nothing_runs_twice(reach, q, mint):
    for port in reach.servers.ports():
        ask(port, "SCRIPT", "FLUSH")
    ids = [mint() for _ in range(5)]
    assert reach.run(admission.enqueue(q, ids[0], b"")) is Word.enqueued
    for port in reach.servers.ports():
        ask(port, "SCRIPT", "FLUSH")

    def mixed():
        counter = q.base + b"counter"
        one = Call("INCR", (counter,))
        reply = yield Batch((one, one, one))
        return reply

    results = reach.run_all(
        [admission.enqueue_many(q, [(i, b"") for i in ids]), mixed(), claims.claim(q, HOUR)]
    )
    assert results[0] == [Word.duplicate, *[Word.enqueued] * 4]
    assert results[1] == [1, 2, 3]
    assert results[2].id == ids[0]


def test_a_fault_is_thrown_into_the_plan(reach, q):
    undone = []

    def careful():
        yield Call("SET", (q.base + b"text",), ("x",))
        try:
            yield Call("LPUSH", (q.base + b"text",), ("y",))
        except WrongTypeFault:
            undone.append((yield Call("DEL", (q.base + b"text",))))
        return "mended"

    assert reach.run(careful()) == "mended"
    assert undone == [1]
    with pytest.raises(WrongTypeFault):
        reach.run(wrong_type(q))


def wrong_type(q):
    yield Call("SET", (q.base + b"text",), ("x",))
    yield Call("LPUSH", (q.base + b"text",), ("y",))


def test_a_failed_call_of_a_batch_stands_in_its_place(reach, q):
    key = q.base + b"text"

    def batch():
        return (yield Batch((Call("SET", (key,), (1,)), Call("LPUSH", (key,), (2,)), *two)))

    two = (Call("GET", (key,)), Call("INCR", (key,)))
    first, fault, third, fourth = reach.run(batch())
    assert (first, third, fourth) == (b"OK", b"1", 2)
    assert isinstance(fault, WrongTypeFault)
    assert fault.code == "WRONGTYPE"


def test_a_batch_s_own_work_is_done_before_its_reply_is_read(reach, q):
    done = []

    def batch():
        reply = yield Batch((Call("PING", (), ("there",)),), lambda: done.append("sent"))
        done.append(reply)

    reach.run(batch())
    assert done == ["sent", [b"there"]]


def test_a_wait_ends_by_its_time_or_by_a_push(reach, q):
    def wait(ms):
        return (yield Wait((q.wake,), ms))

    began = time.monotonic()
    assert reach.run(wait(30)) is None
    assert time.monotonic() - began >= 0.03
    reach.run(command("LPUSH", q.wake, "1"))
    assert reach.run(wait(5000)) == [q.wake, b"1"]


def test_a_plan_that_waits_cannot_run_beside_others(reach, q):
    def wait():
        return (yield Wait((q.wake,), 30))

    results = reach.run_all([wait(), command("EXISTS", q.wake)])
    assert isinstance(results[0], ContractError)
    assert results[1] == 0


def test_a_plan_runs_once(reach, q):
    plan = command("EXISTS", q.base)
    assert reach.run(plan) == 0
    with pytest.raises(ContractError):
        reach.run(plan)
    with pytest.raises(ContractError):
        reach.run_all([plan])


def test_what_is_published_is_heard(reach, q):
    with reach.listening(q.events) as following:
        for n in (1, 2):
            reach.run(command("PUBLISH", q.events, b"%d\xff" % n))
        assert following() == (q.events, b"1\xff")
        assert following() == (q.events, b"2\xff")


def test_every_primary_has_a_name_to_be_asked_by(reach):
    names = reach.bus.primaries()
    assert {int(name.rpartition(":")[2]) for name in names} == set(reach.servers.ports())
    clocks = reach.run_all([keyless("TIME", node=name) for name in names])
    assert not [one for one in clocks if isinstance(one, EchoMQError)]


def test_a_reply_has_one_shape_in_both_protocols(reach, q):
    other = reach.another(protocol=3)
    key = q.base
    reach.run(command("HSET", key + b"hash", "f", "v", "g", ""))
    reach.run(command("ZADD", key + b"zset", 1.5, "a", 3, "b", "-inf", "c", 0.1, "d", 1e300, "e"))
    reach.run(command("SADD", key + b"set", "m"))
    asked = [
        ("HGETALL", key + b"hash"),
        ("HGETALL", key + b"none"),
        ("HMGET", key + b"hash", "f", "none"),
        ("ZSCORE", key + b"zset", "a"),
        ("ZSCORE", key + b"zset", "none"),
        ("ZMSCORE", key + b"zset", "b", "none", "c", "d", "e"),
        ("ZRANGE", key + b"zset", 0, -1, "WITHSCORES"),
        ("ZRANGE", key + b"zset", 0, -1),
        ("SISMEMBER", key + b"set", "m"),
        ("SMEMBERS", key + b"set"),
        ("GET", key + b"none"),
        ("LRANGE", key + b"none", 0, -1),
    ]
    for name, *rest in asked:
        two, three = reach.run(command(name, *rest)), other.run(command(name, *rest))
        assert two == three, name
        assert not isinstance(three, dict | set | float)


def test_a_script_answers_alike_in_both_protocols(reach, q, mint):
    other = reach.another(protocol=3)
    job_id = mint()
    assert other.run(admission.enqueue(q, job_id, b"p")) is Word.enqueued
    assert other.run(claims.claim(q, HOUR)).payload == b"p"


def test_a_connection_that_was_cut_while_it_rested_is_not_used(reach, q):
    assert reach.run(command("SET", q.base, "1")) == b"OK"
    for port in reach.servers.ports():
        ask(port, "CLIENT", "KILL", "TYPE", "NORMAL", "SKIPME", "YES")
    assert reach.run(command("INCR", q.base)) == 2


def test_a_closed_bus_says_so(reach, q):
    other = reach.another()
    other.bus.close() if isinstance(other, Blocking) else other.loop.run(other.bus.close())
    with pytest.raises(UnavailableError, match="closed"):
        other.run(command("GET", q.base))


def test_threads_share_the_blocking_bus(bus, q):
    def add():
        for _ in range(40):
            bus.run(command("INCR", q.base))

    threads = [threading.Thread(target=add) for _ in range(6)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert bus.run(command("GET", q.base)) == b"240"


def test_a_child_process_shares_no_connection_with_its_parent(bus, q):
    bus.run(command("SET", q.base, "parent"))
    child = os.fork()
    if not child:
        seen = bus.run(command("GET", q.base))
        os._exit(0 if seen == b"parent" else 1)
    for _ in range(50):
        assert bus.run(command("STRLEN", q.base)) == 6
    assert os.waitpid(child, 0)[1] == 0


def test_a_child_process_waits_for_no_thread_of_its_parent(cluster):
    """Another thread asks who serves what at the moment of the fork: it is not in the child."""
    made = Blocking(cluster.url)
    pools = made.bus._pools
    pools.routes.stale = True
    pools._learning.acquire()
    child = os.fork()
    if not child:
        signal.alarm(10)
        os._exit(0 if made.run(command("EXISTS", b"x")) == 0 else 1)
    pools._learning.release()
    assert os.waitpid(child, 0)[1] == 0
    made.close()
