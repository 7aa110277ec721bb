"""This engine in a process of its own, on the words of the contest, and the bare floor beside it:
`python -m bench.engine.ours URL CORE`."""

from __future__ import annotations

import json
import os
import socket
import statistics
import sys
import threading
import time
from collections.abc import Callable, Iterator
from typing import Any

import hiredis
import redis

from queue_core.bus import Bus, connect
from queue_core.ids import Minter
from queue_core.keys import QueueKeys, queue
from queue_core.links import packed
from queue_core.plans import Call, Plan
from queue_core.queue import Queue
from queue_core.scripts import script
from queue_core.verbs import admission, claims
from queue_core.work.consumer import AHEAD, Consumer
from queue_core.work.pump import Pump
from queue_core.work.task import Task

PAYLOAD = b"x" * 100
WAIT_S = 60
PLAIN = """
if redis.call('EXISTS', KEYS[1]) == 1 then return 0 end
redis.call('HSET', KEYS[1], 'state', 'pending', 'attempts', '0', 'payload', ARGV[2])
redis.call('ZADD', KEYS[2], 0, ARGV[1])
return 1
"""
NOTED_US = 200
"""Scripts that take less are not looked at: none of them is the slowest."""

_minter = Minter(7)
_names = iter(range(10**9))


def fresh() -> QueueKeys:
    """A queue that nobody used."""
    return queue(f"bench{os.getpid()}.{next(_names)}")


def minted() -> Plan[bytes]:
    """A plan of a fresh id, as a pump wants it."""
    return _minter.mint()
    yield  # type: ignore[unreachable]


def clean(bus: Bus) -> None:
    """Empty the database between two measures."""
    bus.run(_flush())


def _flush() -> Plan[None]:
    yield Call("FLUSHDB")


def enqueue(bus: Bus, count: int) -> float:
    """Seconds that so many admissions take, one by one, as an application asks for them."""
    at = Queue(bus, fresh().name, node=_minter.node)
    began = time.perf_counter()
    for _ in range(count):
        at.enqueue(PAYLOAD)
    return time.perf_counter() - began


def floor_enqueue(bus: Bus, count: int) -> float:
    """The same script by bare redis-py, one call a job, its arguments made before."""
    q, one = fresh(), script("enqueue")
    client = redis.Redis(unix_socket_path=_socket_of(bus), protocol=3)
    client.script_load(one.source)
    words = [
        (one.sha, 2, q.row(job), q.pending, q.base, job, PAYLOAD)
        for job in (_minter.mint() for _ in range(count))
    ]
    began = time.perf_counter()
    for args in words:
        client.evalsha(*args)
    return time.perf_counter() - began


def bulk(bus: Bus, count: int) -> float:
    """Seconds that so many admissions take in one call, a verdict for each."""
    q = fresh()
    items = [(_minter.mint(), PAYLOAD) for _ in range(count)]
    began = time.perf_counter()
    words = bus.run(admission.enqueue_many(q, items))
    took = time.perf_counter() - began
    assert len(words) == count
    return took


def floor_bulk(bus: Bus, count: int) -> float:
    """The same script in the same chunks: bytes made before, over a raw socket, replies parsed."""
    q, many = fresh(), script("enqueue_many")
    bus.run(_load(many.source))
    rounds = []
    for start in range(0, count, admission.BATCH):
        calls = []
        for _ in range(0, min(admission.BATCH, count - start), admission.IN_ONE_SCRIPT):
            items = [
                word for _ in range(admission.IN_ONE_SCRIPT) for word in (_minter.mint(), PAYLOAD)
            ]
            calls.append(("EVALSHA", many.sha, 1, q.pending, q.base, *items))
        rounds.append((packed([*calls]), len(calls)))
    sock = socket.socket(socket.AF_UNIX)
    sock.connect(_socket_of(bus))
    reader = hiredis.Reader()
    began = time.perf_counter()
    for data, calls_sent in rounds:
        sock.sendall(data)
        got = 0
        while got < calls_sent:
            reader.feed(sock.recv(65_536))
            while reader.gets() is not False:
                got += 1
    took = time.perf_counter() - began
    sock.close()
    return took


def _load(source: bytes) -> Plan[None]:
    yield Call("SCRIPT", args=("LOAD", source))


def _socket_of(bus: Bus) -> str:
    return bus.url_safe.removeprefix("unix://").partition("?")[0]


def drain(bus: Bus, count: int, workers: int) -> float:
    """Seconds that a waiting backlog takes, from the first handler's start on."""
    return _served(bus, _backlog(bus, count), count, workers)


def standing(bus: Bus, small: int, large: int, times: int) -> float:
    """How fast a worker of 10 serves the head of a backlog of `large`, over how fast it serves that
    of one of `small`: the median of `times` of each in turn, since one is over too soon. The head
    leaves enough for the worker to take ahead of it, which takes the server's time in both."""
    head = small - 2 * AHEAD
    deep = _backlog(bus, large)
    found = []
    for _ in range(times):
        few = _served(bus, _backlog(bus, small), head, 10)
        found.append(few / _served(bus, deep, head, 10))
        bus.run(_popped(deep, 2 * AHEAD))  # what was given back is never taken ahead again
    return statistics.median(found)


def _popped(q: QueueKeys, count: int) -> Plan[None]:
    yield Call("ZPOPMIN", (q.pending,), (count,))


def _backlog(bus: Bus, count: int) -> QueueKeys:
    q = fresh()
    bus.run(admission.enqueue_many(q, ((_minter.mint(), PAYLOAD) for _ in range(count))))
    return q


def _served(bus: Bus, q: QueueKeys, count: int, workers: int) -> float:
    seen, first = 0, 0.0
    done = 0.0

    def handler(_task: Task) -> None:
        nonlocal seen, first, done
        if not seen:
            first = time.perf_counter()
        seen += 1
        if seen == count:
            done = time.perf_counter()
            worker.stop()

    worker = Consumer(bus, q.name, handler, concurrency=workers)
    worker.run()
    return (done - first) * count / (count - 1)


def pickup(bus: Bus, count: int, in_lane: bool = False) -> list[float]:
    """ms from enqueue to the handler's start, on an idle worker."""
    lane = b"PRT" + _minter.mint()[3:]

    def put(q: QueueKeys, _at: int) -> None:
        time.sleep(0.02)
        payload = repr(time.time()).encode()
        if in_lane:
            bus.run(admission.lane_enqueue(q, lane, _minter.mint(), payload))
        else:
            bus.run(admission.enqueue(q, _minter.mint(), payload))

    return _watched(bus, count, put)


def pickup_of_plain(bus: Bus, count: int) -> list[float]:
    """The same of jobs that know nothing of this engine: a client with nothing but a socket writes
    the row and the member as the wire says (protocol part 4.1) and wakes nobody."""
    with socket.socket(socket.AF_UNIX) as client:
        client.connect(_socket_of(bus))

        def put(q: QueueKeys, _at: int) -> None:
            time.sleep(0.02)
            job = _minter.mint()
            words = ("EVAL", PLAIN, 2, q.row(job), q.pending, job, repr(time.time()))
            client.sendall(packed([words]))
            assert client.recv(4096) == b":1\r\n"

        return _watched(bus, count, put)


def lateness(bus: Bus, count: int) -> list[float]:
    """ms from due to the handler's start, the schedule on the bus and a pump beside the worker."""

    def put(q: QueueKeys, at: int) -> None:
        due_ms = int(time.time() * 1000) + 300 + 37 * at
        payload = repr(due_ms / 1000).encode()
        bus.run(admission.enqueue_at(q, _minter.mint(), payload, due_ms))

    return _watched(bus, count, put)


def _watched(bus: Bus, count: int, put: Callable[[QueueKeys, int], None]) -> list[float]:
    """What `put` made late, after a first job that shows the worker at work, as of the peers."""
    q, late, all_of_them = fresh(), [], threading.Event()

    def handler(task: Task) -> None:
        late.append((time.time() - float(task.payload)) * 1000)
        if len(late) == count + 1:
            all_of_them.set()

    with _Running(Consumer(bus, q.name, handler, concurrency=10), Pump(bus, [q], minted)):
        bus.run(admission.enqueue(q, _minter.mint(), b"0"))
        while not late:
            time.sleep(0.01)
        time.sleep(0.3)
        for at in range(count):
            put(q, at)
        all_of_them.wait(WAIT_S)
    return late[1:]


class _Running:
    """Loops at work in threads, stopped in order."""

    def __init__(self, *loops: Any) -> None:
        self._loops = loops
        self._threads = [threading.Thread(target=loop.run) for loop in loops]

    def __enter__(self) -> None:
        for thread in self._threads:
            thread.start()

    def __exit__(self, *_: object) -> None:
        for loop in self._loops:
            loop.stop()
        for thread in self._threads:
            thread.join()


def claim_cost(bus: Bus, lane_count: int, count: int) -> float:
    """Seconds of `count` single claims of a ring of so many equally loaded lanes."""
    q = fresh()
    _load_lanes(bus, q, lane_count, max(2 * count // lane_count, 2))
    began = time.perf_counter()
    for _ in range(count):
        bus.run(claims.lane_claim(q, 60_000))
    return time.perf_counter() - began


def rotation(bus: Bus, lane_count: int, turns: int) -> float:
    """The longest that a lane waited for its turn of the ring, over the ideal rotation, counted in
    jobs that a worker of 10 served in between."""
    q = fresh()
    _load_lanes(bus, q, lane_count, turns + 2)
    order: list[bytes] = []

    def handler(task: Task) -> None:
        order.append(task.group or b"")
        if len(order) >= lane_count * turns:
            worker.stop()

    worker = Consumer(bus, q.name, handler, concurrency=10)
    worker.run()
    last: dict[bytes, int] = {}
    longest = 0
    for at, group in enumerate(order[: lane_count * turns]):
        longest = max(longest, at - last.get(group, at - lane_count))
        last[group] = at
    return longest / lane_count


def _load_lanes(bus: Bus, q: QueueKeys, lane_count: int, depth: int) -> None:
    names = [b"PRT" + _minter.mint()[3:] for _ in range(lane_count)]
    plans = [
        admission.lane_enqueue(q, name, _minter.mint(), PAYLOAD)
        for _ in range(depth)
        for name in names
    ]
    for start in range(0, len(plans), 1000):
        bus.run_all(plans[start : start + 1000])


def beside_promote(bus: Bus, scheduled: int, due: int) -> dict[str, float]:
    """A schedule of `scheduled`, `due` of them due at once: the slowest promote by the server's
    own clock in ms, and the rate of settled claims in that time, over the rate without it."""
    q = fresh()
    far = int(time.time() * 1000) + 10**9
    for start in range(0, scheduled, 5000):
        words = [word for n in range(5000) for word in (far + start + n, _minter.mint())]
        bus.run(_zadd(q.schedule, words))
    backlog = fresh()
    bus.run(admission.enqueue_many(backlog, ((_minter.mint(), PAYLOAD) for _ in range(80_000))))
    seen: list[float] = []
    worker = Consumer(bus, backlog.name, lambda _task: seen.append(time.time()), concurrency=10)
    bus.run(_slow_from(NOTED_US))
    with _Running(worker, Pump(bus, [q], minted)):
        soon = int(time.time() * 1000) + 600
        plans = [admission.enqueue_at(q, _minter.mint(), PAYLOAD, soon) for _ in range(due)]
        for start in range(0, due, 100):
            bus.run_all(plans[start : start + 100])
        time.sleep(max(0.0, soon / 1000 + 0.2 - time.time()))
    slowest = bus.run(_slowest(script("promote").sha.encode()))
    at = soon / 1000
    while_due = sum(at <= one < at + 0.1 for one in seen) / 0.1
    before = sum(at - 0.3 <= one < at for one in seen) / 0.3
    return {"slowest_ms": slowest, "kept": while_due / before if before else 0.0}


def _zadd(key: bytes, words: list[Any]) -> Plan[None]:
    yield Call("ZADD", (key,), tuple(words))


def _slow_from(micros: int) -> Plan[None]:
    yield Call("CONFIG", args=("SET", "slowlog-log-slower-than", micros, "slowlog-max-len", 20_000))
    yield Call("SLOWLOG", args=("RESET",))


def _slowest(sha: bytes) -> Plan[float]:
    entries = yield Call("SLOWLOG", args=("GET", 20_000))
    yield Call("CONFIG", args=("SET", "slowlog-log-slower-than", -1))
    took = [entry[2] for entry in entries if len(entry[3]) > 1 and entry[3][1] == sha]
    return max(took, default=NOTED_US) / 1000


def idle(bus: Bus, seconds: float) -> float:
    """Client commands a second of an idle consumer and its pump, as MONITOR sees them."""
    q = fresh()
    sock = socket.socket(socket.AF_UNIX)
    sock.connect(_socket_of(bus))
    with _Running(Consumer(bus, q.name, lambda _task: None), Pump(bus, [q], minted)):
        time.sleep(0.5)
        sock.sendall(b"MONITOR\r\n")
        said = b"".join(_heard(sock, seconds))
    sock.close()
    lines = [line for line in said.split(b"\r\n") if q.base in line and b" lua] " not in line]
    return len(lines) / seconds


def _heard(sock: socket.socket, seconds: float) -> Iterator[bytes]:
    ends = time.monotonic() + seconds
    while (left := ends - time.monotonic()) > 0:
        sock.settimeout(left)
        try:
            yield sock.recv(65_536)
        except TimeoutError:
            return


WORDS: dict[str, Callable[..., Any]] = {
    one.__name__: one
    for one in (
        enqueue, floor_enqueue, bulk, floor_bulk, drain, standing, pickup, pickup_of_plain,
        lateness, claim_cost, rotation, beside_promote, idle,
    )
}  # fmt: skip


def main() -> None:
    """Answer words until the line ends."""
    url, core = sys.argv[1], int(sys.argv[2])
    if core >= 0:
        os.sched_setaffinity(0, {core})
    bus = connect(url)
    for line in sys.stdin:
        word, *numbers = json.loads(line)
        answer = WORDS[word](bus, *numbers)
        clean(bus)
        print(json.dumps(answer), flush=True)


if __name__ == "__main__":
    main()
