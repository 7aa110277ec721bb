"""The processes of the crash test: `python -m tests.proof.hands ROLE URL JOURNAL NODE SEED`.

Each writes what it does into a journal of its own before it goes on, a line at a time and straight
to the file, so that a SIGKILL loses none of it: `monotonic_ns what queue id detail`.
"""

from __future__ import annotations

import os
import sys
import threading
import time
from collections.abc import Sequence
from random import Random
from typing import Any

from queue_core.bus import Bus, connect
from queue_core.errors import EchoMQError
from queue_core.ids import Minter, encode
from queue_core.keys import QueueKeys, queue
from queue_core.outcomes import Word
from queue_core.plans import Plan
from queue_core.verbs import admission, flows, streams
from queue_core.verbs.flows import FlowJob
from queue_core.work.backoff import fixed
from queue_core.work.batch_consumer import BatchConsumer
from queue_core.work.consumer import Consumer
from queue_core.work.loops import Loop
from queue_core.work.metronome import Metronome
from queue_core.work.pump import Pump
from queue_core.work.records import Record
from queue_core.work.serving import Policy
from queue_core.work.streams import StreamConsumer
from queue_core.work.task import Task
from queue_core.work.verdicts import Dead, Done, Failed, Later, Verdict

QUEUES = [queue("crash.a"), queue("crash.b")]
LANES = [encode(b"PRT", 1), encode(b"PRT", 2)]
CONCURRENCY = 3
"""Jobs that handlers of one worker have begun at once on one queue."""
LEASE_MS = 2_500
MAX_STALLED = 8
PACE_S = 0.01
STREAM, GROUP = b"log", b"crew"
IDLE_MS = 1_500
"""How long a record lies before another worker takes it over."""
KINDS = ["ok"] * 6 + ["fail", "later", "dead"]


class Journal:
    """Lines that outlive the process."""

    def __init__(self, path: str) -> None:
        self._file = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_APPEND)

    def note(self, what: str, q: QueueKeys, job_id: bytes, detail: str = "-") -> None:
        """One line, with one write."""
        line = f"{time.monotonic_ns()} {what} {q.name.decode()} {job_id.decode()} {detail}\n"
        os.write(self._file, line.encode())


def work(bus: Bus, journal: Journal, node: int, hand: Random) -> None:
    """All queues, by one of the kinds of loop, and the stream's records."""

    def handler(task: Task) -> Verdict:
        q = queue(task.queue)
        journal.note("begin", q, task.id, str(task.attempts))
        time.sleep(hand.random() * 0.03)
        verdict = _verdict(task)
        journal.note(type(verdict).__name__, q, task.id, str(task.attempts))
        return verdict

    def batches(tasks: Sequence[Task]) -> dict[bytes, Verdict]:
        return {task.id: handler(task) for task in tasks}

    options: dict[str, Any] = {
        "lease_ms": LEASE_MS, "beat_ms": 100, "policy": Policy(fixed(50), 3), "label": str(node),
    }  # fmt: skip
    kind = hand.randrange(3)
    if kind == 0:
        bounded = {"concurrency": CONCURRENCY, **options}
        loops: list[Loop] = [Consumer(bus, q.name, handler, **bounded) for q in QUEUES]
    elif kind == 1:
        bounded = {"workers": CONCURRENCY * len(QUEUES), "most": CONCURRENCY, **options}
        loops = [Metronome(bus, {q.name: handler for q in QUEUES}, **bounded)]
    else:
        bounded = {"max_size": CONCURRENCY, "lanes": True, **options}
        loops = [BatchConsumer(bus, q.name, batches, **bounded) for q in QUEUES]
    reader = StreamConsumer(
        bus, QUEUES[0].name, STREAM, GROUP, lambda record: _read(journal, record, hand),
        from_start=True, beat_ms=100, idle_ms=IDLE_MS, max_deliveries=100,
    )  # fmt: skip
    threads = [threading.Thread(target=loop.run) for loop in (*loops, reader)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()


def _read(journal: Journal, record: Record, hand: Random) -> None:
    journal.note("read", QUEUES[0], record.id or b"nobody", str(record.deliveries))
    if hand.random() < 0.02:
        raise ValueError("again, when it lay for a while")
    time.sleep(hand.random() * 0.01)


def _verdict(task: Task) -> Verdict:
    kind = task.payload.decode()
    if task.attempts == 1 and kind in ("fail", "later"):
        return Failed("the first attempt fails") if kind == "fail" else Later(30)
    return Dead("it never works") if kind == "dead" else Done()


def pump(bus: Bus, journal: Journal, node: int, hand: Random) -> None:
    """Promote, return ended leases, fire the repeat, deliver to parents."""
    minter = Minter(node)

    def mint() -> Plan[bytes]:
        return minter.mint()
        yield

    Pump(bus, QUEUES, mint, max_stalled=MAX_STALLED).run()


def produce(bus: Bus, journal: Journal, node: int, hand: Random) -> None:
    """Jobs and flows, until it is killed. An unknown outcome is met by asking again."""
    minter = Minter(node)
    while True:
        if hand.random() < 0.05:
            _a_flow(bus, journal, minter, hand)
        elif hand.random() < 0.2:
            _a_record(bus, journal, minter)
        else:
            _a_job(bus, journal, minter.mint(), hand)
        time.sleep(PACE_S)


def _a_job(bus: Bus, journal: Journal, job_id: bytes, hand: Random) -> None:
    q, payload, way = hand.choice(QUEUES), hand.choice(KINDS).encode(), hand.random()
    lane, wait_ms = hand.choice(LANES), hand.randint(0, 200)
    while True:
        if way < 0.4:
            plan = admission.enqueue(q, job_id, payload)
        elif way < 0.8:
            plan = admission.lane_enqueue(q, lane, job_id, payload)
        elif way < 0.9:
            plan = admission.enqueue_in(q, job_id, payload, wait_ms)
        else:
            plan = admission.lane_enqueue_in(q, lane, job_id, payload, wait_ms)
        journal.note("try", q, job_id)
        try:
            word = bus.run(plan)
        except EchoMQError:
            time.sleep(0.05)
            continue
        journal.note("ack", q, job_id, word.value)
        return


def _a_flow(bus: Bus, journal: Journal, minter: Minter, hand: Random) -> None:
    q = hand.choice(QUEUES)
    children = tuple(
        FlowJob(minter.mint(), hand.choice(KINDS).encode(), (), at, hand.random() < 0.5)
        for at in QUEUES
    )
    parent = FlowJob(minter.mint(), b"ok", children)
    journal.note("tryflow", q, parent.id)
    try:
        word, _ = bus.run(flows.add(q, parent))
    except EchoMQError:
        return  # part of it may stand: nothing was promised
    if word is Word.ok:
        for child in children:
            journal.note("ack", child.queue or q, child.id, f"child:{parent.id.decode()}")
        journal.note("ack", q, parent.id, "parent")


def _a_record(bus: Bus, journal: Journal, minter: Minter) -> None:
    """One record. What got no answer may stand, and what the other producer was ahead of does
    not; nothing was promised of either."""
    record_id = minter.mint(b"EVT")
    try:
        word = bus.run(streams.append(QUEUES[0], STREAM, record_id, []))
    except EchoMQError:
        return
    if word is Word.ok:
        journal.note("appended", QUEUES[0], record_id)


ROLES = {"worker": work, "pump": pump, "producer": produce}


def main() -> None:
    """Be one of them, from as soon as the server answers."""
    role, url, path, node, number = sys.argv[1:]
    journal = Journal(path)
    while True:
        try:
            bus = connect(url)
            break
        except EchoMQError:
            time.sleep(0.02)
    ROLES[role](bus, journal, int(node), Random(number))


if __name__ == "__main__":
    main()
