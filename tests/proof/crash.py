"""Killing what serves a queue, and counting what became of every job."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from random import Random

from queue_core.bus import Bus, connect
from queue_core.embedded import Embedded, leashed
from queue_core.verbs import repeats
from tests.builders import command, server_ms
from tests.proof.hands import CONCURRENCY, GROUP, PUMPS, WORKERS
from tests.proof.journal import Told, journals
from tests.proof.keyspace import Keyspace, read, violations
from tests.proof.producers import QUEUES, STREAM
from tests.servers import until

ROOT = Path(__file__).resolve().parents[2]
PAIR = ("worker1", "worker2")
CREW = (*PAIR, "pump", "producer1", "producer2")
VICTIMS = (*CREW, "server", "worker1", "worker2")
TICK = b"tick"
DRAIN_S = 90.0
IN_HAND = CONCURRENCY * len(QUEUES)
"""What one worker may have in hand."""


@dataclass
class Found:
    """What one run of kills came to."""

    kills: int = 0
    admitted: int = 0
    records: int = 0
    completed: int = 0
    dead: int = 0
    duplicates: int = 0
    bound: int = 0
    kinds: Counter[str] = field(default_factory=Counter)
    """How often each kind of worker and pump came on."""


class Deck:
    """Kinds in a drawn order, each once before any comes again."""

    def __init__(self, hand: Random, kinds: Sequence[str]) -> None:
        self._hand, self._kinds = hand, list(kinds)
        self._left: list[str] = []

    def draw(self) -> str:
        """The next one."""
        self._left = self._left or self._hand.sample(self._kinds, len(self._kinds))
        return self._left.pop()


class Stage:
    """A server and the processes around it, whose workers and pump change their kind each time
    they come on."""

    def __init__(self, folder: Path, number: str) -> None:
        self.folder = folder
        self.hand = Random(number)
        self.server = Embedded(folder / "valkey").start()
        self.bus: Bus = connect(self.server.url)
        self.kills: Counter[str] = Counter()
        self.kinds: Counter[str] = Counter()
        self._decks = {"worker": Deck(self.hand, WORKERS), "pump": Deck(self.hand, PUMPS)}
        self._crew: dict[str, subprocess.Popen[bytes]] = {}
        self._nodes = 0
        self.bus.run(repeats.register(QUEUES[0], TICK, 200, b"ok"))

    def enter(self, *names: str) -> None:
        """Start some of the crew."""
        for name in names:
            self._nodes += 1
            role = name.rstrip("12")
            if deck := self._decks.get(role):
                role = deck.draw()
                self.kinds[role] += 1
            journal = self.folder / f"{name}.{self._nodes}.journal"
            words = [role, self.server.url, str(journal), str(self._nodes)]
            command = [sys.executable, "-m", "tests.proof.hands", *words, f"{self.hand.random()}"]
            with (self.folder / f"{name}.log").open("ab") as log:
                self._crew[name] = subprocess.Popen(leashed(command), cwd=ROOT, stderr=log)

    def kill(self, name: str) -> None:
        """SIGKILL, and back at once."""
        self.kills[name] += 1
        if name == "server":
            self.server.kill()
            time.sleep(self.hand.random() * 0.2)
            self.server.start()
            return
        self.down(name)
        self.enter(name)

    def down(self, *names: str) -> None:
        """SIGKILL some of the crew. None of them has ended by itself, nor lost a task of its loop
        without a word."""
        for name in names:
            said = (self.folder / f"{name}.log").read_text(errors="replace")
            assert self._crew[name].poll() is None, f"{name} has ended by itself: {said[-4000:]}"
            assert "never retrieved" not in said, f"{name} limps: {said[-4000:]}"
            os.kill(self._crew[name].pid, signal.SIGKILL)
            self._crew.pop(name).wait()

    def look(self) -> list[Keyspace]:
        """Both queues whole, and sound."""
        spaces = self.bus.run(read(*QUEUES))
        for space in spaces:
            assert not (wrong := list(violations(space))), wrong
        return spaces

    def drained(self) -> bool:
        """Whether nothing waits or is held any more."""
        spaces = self.bus.run(read(*QUEUES))
        return all(not _unread(space) for space in spaces) and not any(
            space.keys.get(name)
            for space in spaces
            for name in (b"pending", b"active", b"schedule", b"flow:outbox", *_lanes(space))
        )

    def heard(self, since_ms: int) -> bool:
        """Whether each worker has said since then, in both queues, that it lives."""
        since = [
            self.bus.run(command("ZRANGEBYSCORE", q.workers, since_ms, "+inf")) for q in QUEUES
        ]
        marks = [b".%d." % self._crew[name].pid for name in PAIR]
        return all(any(mark in who for who in said) for said in since for mark in marks)

    def close(self) -> None:
        """Nothing is left running."""
        for process in self._crew.values():
            process.kill()
            process.wait()
        self.bus.close()
        self.server.kill()


def _lanes(space: Keyspace) -> list[bytes]:
    return [b"g:" + lane + b":pending" for lane in space.lanes()]


def _unread(space: Keyspace) -> bool:
    """Whether the group has records to hand out, or in somebody's hands."""
    entries, groups = space.keys.get(b"stream:" + STREAM, ([], {}))
    last, held = groups.get(GROUP, (b"", {}))
    return bool(held or (entries and last != entries[-1][0]))


def crash(folder: Path, kills: int, number: str) -> Found:
    """Load two queues, kill somebody again and again, look, let the rest be worked off, and
    account for every job. `AssertionError` where one is lost."""
    stage = Stage(folder, number)
    try:
        stage.enter(*CREW)
        until(lambda: len(list(folder.glob("*.journal"))) == len(CREW), "the crew is there")
        for _ in range(kills):
            time.sleep(0.1 + stage.hand.random() * 0.5)
            stage.kill(stage.hand.choice(VICTIMS))
        for name in PAIR:
            stage.kills[name] += 1
        stage.down(*CREW)
        stage.look()
        stage.bus.run(repeats.cancel(QUEUES[0], TICK))
        stage.enter(*PAIR, "pump")
        until(stage.drained, "all is worked off", DRAIN_S)
        now_ms = stage.bus.run(server_ms())
        until(lambda: stage.heard(now_ms), "both workers still beat")
        spaces = stage.look()
        stage.down(*PAIR, "pump")
    finally:
        stage.close()
    return account(stage, journals(folder), spaces)


def account(stage: Stage, told: Told, spaces: list[Keyspace]) -> Found:
    """Where every job is, and whether that can be."""
    kills = stage.kills
    found = Found(kills=kills.total(), admitted=len(told.acked), kinds=stage.kinds)
    for q, space in zip(QUEUES, spaces, strict=True):
        name, rows = q.name.decode(), {job_id.decode(): row for job_id, row in space.rows.items()}
        seen = {job_id for at, job_id in (*told.acked, *told.began) if at == name}
        gone = seen - rows.keys()
        for job_id in gone:
            words = {word for _, word in told.verdicts[name, job_id]}
            assert "Done" in words, f"{job_id} of {name} is gone, its verdicts are {words}"
        for job_id, row in rows.items():
            _left(name, job_id, row, told)
        completed = int(space.keys.get(b"metrics:completed", {}).get(b"count", b"0"))
        again = sum(tries - 1 for (at, _), tries in told.tries.items() if at == name)
        assert len(gone) <= completed <= len(gone) + again, (name, len(gone), completed, again)
        found.completed += completed
        found.dead += len(space.keys.get(b"dead", {}))
    _parents(told)
    assert not (lost := told.appended - told.read), f"{lost} were appended and never handed out"
    found.records = len(told.appended)
    found.duplicates = told.duplicates()
    workers = sum(kills[name] for name in PAIR)
    retried = sum(tries - 1 for tries in told.tries.values())
    found.bound = workers * IN_HAND + kills["server"] * len(PAIR) * IN_HAND + retried
    assert found.duplicates <= found.bound, found
    return found


def _left(name: str, job_id: str, row: dict[bytes, bytes], told: Told) -> None:
    """A row that is left is dead and was tried, or the parent of a flow that was never promised."""
    if row[b"state"] == b"dead":
        tried = told.began[name, job_id] or row.get(b"last_error") == b"stalled"
        parent = told.acked.get((name, job_id)) == "parent" or (name, job_id) in told.tries
        assert tried or parent, f"{job_id} of {name} is dead and no handler ran: {row}"
        return
    promised = (name, job_id) in told.acked
    assert row[b"state"] == b"awaiting_children", f"{job_id} of {name} is left: {row}"
    assert not promised, f"{job_id} of {name} waits for ever: {row}"


def _parents(told: Told) -> None:
    """No parent ran before each of its children had a verdict that ends it."""
    for (_, child), detail in told.acked.items():
        if not detail.startswith("child:"):
            continue
        parent = detail.removeprefix("child:")
        runs = [at for (_, job_id), began in told.began.items() if job_id == parent for at in began]
        ended = [
            at
            for (_, job_id), verdicts in told.verdicts.items()
            if job_id == child
            for at, word in verdicts
            if word in ("Done", "Dead")
        ]
        assert not runs or (ended and min(ended) < min(runs)), f"{parent} ran before {child}"
