"""The contest: every contestant measures itself in turn, round after round, on one server."""

from __future__ import annotations

import os
import tempfile
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from bench.engine.bed import BULLMQ, PEERS, Contestant, cores, install, pin, versions
from queue_core.bus import connect
from queue_core.embedded import Embedded
from queue_core.plans import Call, Plan

OURS = "this engine"
LANE, PLAIN = f"{OURS}, a lane", f"{OURS}, a plain client's"
FLOOR = "bare floor"
ROUNDS = 9
ADMITTED = 2_000
BULK = 20_000
BULLMQ_BULK = 5_000
SERVED = 1_000
SERVED_FAST = 5_000
SMALL, LARGE, TIMES = 1_000, 200_000, 8
PICKED = 30
DUE = 12
SCHEDULED = 1_000_000
WARM = 200


@dataclass
class Report:
    """What was seen, by measure and contestant: rates in jobs a second, one of each round, and
    latencies in ms, those of each round. `load` is the machine's, over a minute, before and after
    each round: about 2 is the contest's own."""

    server: str
    versions: dict[str, str]
    apart: bool
    load: list[float]
    rates: dict[str, dict[str, list[float]]] = field(default_factory=dict)
    late: dict[str, dict[str, list[list[float]]]] = field(default_factory=dict)
    own: dict[str, list[float]] = field(default_factory=dict)

    def rate(self, measure: str, name: str, count: int, seconds: float | None) -> None:
        """Note a rate, where there is one."""
        if seconds:
            self.rates.setdefault(measure, {}).setdefault(name, []).append(count / seconds)

    def lateness(self, measure: str, name: str, samples: list[float] | None) -> None:
        """Note latencies, where there are some."""
        if samples:
            self.late.setdefault(measure, {}).setdefault(name, []).append(samples)


def measure(rounds: int, say: Callable[[str], None], scheduled: int = SCHEDULED) -> Report:
    """Run all of it. The server has one core and whoever is measured the other."""
    peers = install(say)
    with tempfile.TemporaryDirectory(prefix="emq-bench-") as folder:
        server = Embedded(Path(folder), extra=("--auto-aof-rewrite-percentage", "0")).start()
        here, there = cores()
        pin(server.pid or 0, here)
        bus = connect(server.url)
        report = Report(bus.run(_version()), versions(), here >= 0, [os.getloadavg()[0]])
        bus.close()
        contestants = {
            name: Contestant(name, server.url, str(server.socket), there) for name in (OURS, *peers)
        }
        try:
            for one in contestants.values():
                one.ask("enqueue", WARM)  # it has started and loaded its scripts
            for at in range(rounds):
                say(f"round {at + 1} of {rounds}")
                _round(report, contestants)
                report.load.append(os.getloadavg()[0])
            say("lanes, standing backlogs, a long schedule, idleness")
            for _ in range(rounds):
                _own(report, contestants[OURS])
            for _ in range(min(3, rounds)):
                _scheduled(report, contestants[OURS], scheduled)
            report.own["idle"] = [contestants[OURS].ask("idle", 10)]
        finally:
            for one in contestants.values():
                one.end()
            server.stop()
    return report


def _version() -> Plan[str]:
    text = yield Call("INFO", args=("server",))
    fields = dict(line.split(b":", 1) for line in text.splitlines() if b":" in line)
    return str((fields.get(b"valkey_version") or fields[b"redis_version"]).decode())


def _round(report: Report, contestants: dict[str, Contestant]) -> None:
    """One round: each measure goes through all contestants before the next begins."""
    ours = contestants[OURS]
    for name, one in contestants.items():
        report.rate("enqueue", name, ADMITTED, one.ask("enqueue", ADMITTED))
    report.rate("enqueue", FLOOR, ADMITTED, ours.ask("floor_enqueue", ADMITTED))
    report.rate("bulk", OURS, BULK, ours.ask("bulk", BULK))
    report.rate("bulk", FLOOR, BULK, ours.ask("floor_bulk", BULK))
    if BULLMQ in contestants:
        took = contestants[BULLMQ].ask("bulk", BULLMQ_BULK, 1000)
        report.rate("bulk", BULLMQ, BULLMQ_BULK, took)
    for workers in (1, 10):
        for name, one in contestants.items():
            count = SERVED_FAST if name in (OURS, BULLMQ) else SERVED
            if name in PEERS and name != "huey":
                count //= 2
            report.rate(f"drain {workers}", name, count, one.ask("drain", count, workers))
    report.lateness("pickup", LANE, ours.ask("pickup", PICKED, True))
    report.lateness("pickup", PLAIN, ours.ask("pickup_of_plain", PICKED))
    for name, one in contestants.items():
        report.lateness("pickup", name, one.ask("pickup", PICKED))
        report.lateness("lateness", name, one.ask("lateness", DUE))


def _own(report: Report, ours: Contestant) -> None:
    """What only concerns this engine, each as a ratio in one round."""
    report.own.setdefault("standing", []).append(ours.ask("standing", SMALL, LARGE, TIMES))
    one, many = ours.ask("claim_cost", 1, SERVED), ours.ask("claim_cost", 1000, SERVED)
    report.own.setdefault("lanes", []).append(many / one)
    report.own.setdefault("rotation", []).append(ours.ask("rotation", 1000, 3))


def _scheduled(report: Report, ours: Contestant, scheduled: int) -> None:
    found: dict[str, Any] = ours.ask("beside_promote", scheduled, 1000)
    for name, figure in found.items():
        report.own.setdefault(name, []).append(figure)
