"""The producers of the crash test: jobs, flows and records, each noted where it was promised."""

from __future__ import annotations

import time
from random import Random

from queue_core.bus import Bus
from queue_core.errors import EchoMQError
from queue_core.ids import Minter, encode
from queue_core.keys import queue
from queue_core.outcomes import Word
from queue_core.verbs import admission, flows, streams
from queue_core.verbs.flows import FlowJob
from tests.proof.journal import Journal

QUEUES = [queue("crash.a"), queue("crash.b")]
LANES = [encode(b"PRT", 1), encode(b"PRT", 2)]
PACE_S = 0.01
STREAM = b"log"
KINDS = ["ok"] * 6 + ["fail", "later", "dead"]


def produce(bus: Bus, journal: Journal, minter: Minter, hand: Random) -> None:
    """All three, until it is killed. An unknown outcome is met by asking again."""
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
