"""Wrong clocks: ids stay single and rising, leases and dues are the server's."""

import logging
import secrets
import subprocess
import sys
import time
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest

from queue_core.bus import Bus, connect
from queue_core.embedded import Embedded, leashed
from queue_core.ids import Minter
from queue_core.jobs import Lease
from queue_core.keys import QueueKeys, node_lease
from queue_core.nodes import LEASE_MS
from queue_core.outcomes import Word
from queue_core.plans import Plan, Reply
from queue_core.scripts import script
from queue_core.verbs import admission, claims, repeats
from tests.builders import command
from tests.proof.clocks import HOUR_MS, clock, tamper
from tests.proof.crash import ROOT
from tests.proof.journal import journals
from tests.proof.producers import QUEUES
from tests.servers import until

FIXED_SEED = 20_240_103
MOVES = 15_000
ROLES = ("Consumer", "AsyncPump")
WAIT_MS, HOLD_MS, TICK_MS = 600, 3_000, 200
SLACK_S = 30.0
"""A loaded machine may be late; an hour is what a wrong clock would make."""

_log = logging.getLogger(__name__)


@pytest.mark.parametrize("number", [FIXED_SEED, secrets.randbits(32)], ids=["fixed", "fresh"])
def test_no_clock_and_no_lost_lease_mints_an_id_twice(server: Embedded, number: int) -> None:
    _log.warning("clocks are drawn with seed %d", number)
    bus = connect(server.url)
    try:
        assert tamper(bus, MOVES, str(number)) > MOVES
    finally:
        bus.close()


def python(skew_ms: int, *words: str) -> list[str]:
    """The words that start a module of this package under a wrong wall clock."""
    return [sys.executable, "-m", "tests.proof.skewed", str(skew_ms), *words]


def test_the_next_owner_of_a_number_mints_above_the_last_whatever_their_hosts_say(
    server: Embedded,
) -> None:
    minted: list[str] = []
    for skew_ms in (HOUR_MS, 0, -HOUR_MS):
        words = python(skew_ms, "tests.proof.mints", server.url, "430", "300")
        said = subprocess.run(words, cwd=ROOT, check=True, capture_output=True, text=True)
        minted += said.stdout.split()
    assert len(minted) == 900
    assert minted == sorted(set(minted))


def test_a_number_comes_free_only_past_what_was_minted_under_it(bus: Bus) -> None:
    last_ms = clock(bus) + 400
    assert bus.run(_renew(b"mine", last_ms))[0] == b"ok"
    assert bus.run(command("PTTL", _KEY)) > LEASE_MS + 200
    assert bus.run(_release(b"mine", last_ms)) == [b"ok"]
    until(lambda: bus.run(_renew(b"another", 0))[0] == b"ok", "the number is free")
    assert clock(bus) > last_ms


_KEY = node_lease(7_001)
"""Of a number that no engine leases: others take theirs at random."""


def _renew(owner: bytes, last_ms: int) -> Plan[Reply]:
    return (yield script("node_renew").call((_KEY,), owner, LEASE_MS, last_ms))


def _release(owner: bytes, last_ms: int) -> Plan[Reply]:
    return (yield script("node_release").call((_KEY,), owner, last_ms))


@dataclass
class Stage:
    """A server, the journals of its crew, and a job whose holder is never heard of again."""

    bus: Bus
    folder: Path
    held: Lease

    def ran(self, job_id: bytes) -> list[int]:
        """When a handler began a job, in ms of the machine's monotonic clock."""
        told = journals(self.folder).began[QUEUES[0].name.decode(), job_id.decode()]
        return [at // 1_000_000 for at in told]


@pytest.fixture
def stage(tmp_path: Path, request: pytest.FixtureRequest) -> Iterator[Stage]:
    """A worker and a pump whose wall clocks are an hour off, each its own way."""
    embedded = Embedded(tmp_path / "valkey").start()
    bus = connect(embedded.url)
    bus.run(admission.enqueue(QUEUES[0], Minter(8).mint(), b"ok"))
    held = bus.run(claims.claim(QUEUES[0], HOLD_MS))
    crew = []
    for at, (role, skew_ms) in enumerate(zip(ROLES, request.param, strict=True)):
        journal = str(tmp_path / f"{role}.journal")
        words = ["tests.proof.hands", role, embedded.url, journal, str(at + 1), "1"]
        crew.append(subprocess.Popen(leashed(python(skew_ms, *words)), cwd=ROOT))
    try:
        until(lambda: bus.run(command("EXISTS", QUEUES[0].workers)), "the worker is there")
        yield Stage(bus, tmp_path, held)
    finally:
        for process in crew:
            process.kill()
            process.wait()
        bus.close()
        embedded.kill()


@pytest.mark.parametrize(
    "stage", [(HOUR_MS, -HOUR_MS), (-HOUR_MS, HOUR_MS)], indirect=True, ids=["ahead", "behind"]
)
def test_leases_dues_and_repeats_keep_the_servers_time(stage: Stage) -> None:
    bus, q, mint = stage.bus, QUEUES[0], Minter(9).mint
    offset_ms = time.monotonic_ns() // 1_000_000 - clock(bus)  # of the machine to the server
    soon, wished, at_ms = mint(), mint(), clock(bus) + WAIT_MS
    assert bus.run(admission.enqueue_in(q, soon, b"ok", WAIT_MS)) is Word.scheduled
    assert bus.run(admission.enqueue_at(q, wished, b"ok", at_ms)) is Word.scheduled
    assert bus.run(repeats.register(q, b"tick", TICK_MS, b"ok")) is Word.registered
    all_three = {soon: at_ms, wished: at_ms, stage.held.id: stage.held.deadline_ms}

    until(lambda: all(map(stage.ran, all_three)), "all three ran", SLACK_S)
    for job_id, not_before_ms in all_three.items():
        began = stage.ran(job_id)
        assert len(began) == 1
        assert began[0] >= not_before_ms + offset_ms - 2
    until(lambda: len(_runs(bus, q)) > 3, "the repeat ran", SLACK_S)
    slots = [float(run.split()[0]) for run in _runs(bus, q)]
    now_ms = clock(bus)
    assert len(set(slots)) == len(slots)
    assert all(now_ms - SLACK_S * 1000 < slot <= now_ms for slot in slots)


def _runs(bus: Bus, q: QueueKeys) -> list[bytes]:
    return bus.run(command("LRANGE", q.repeat_runs(b"tick"), 0, -1))
