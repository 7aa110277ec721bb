"""Each page of the console over HTTP and over its socket, on a queue of millions."""

import statistics
import tempfile
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path

from bench.load import Loaded, Q, load
from bench.watch import watch
from echomq_admin.house.house import House
from echomq_admin.live.page import Watch
from echomq_admin.live.pages import PAGES
from queue_core.bus import Bus, connect
from queue_core.embedded import Embedded
from queue_core.plans import Call, Plan, Reply
from queue_core.scripts import SCRIPTS
from tests.addresses import every_address
from tests.ports import free_port
from tests.visitor import Visitor

RUNS = 3
NOTED_US = 500
"""Calls from this on are noted by the server. It would note each command inside a script as well,
so that noting all of them makes every script several times as slow."""

ASKED = 60
WATCHED_S = 4.0
NAMES = {script.sha.encode(): name for name, script in SCRIPTS.items()}


@dataclass
class Measured:
    """One page in one run. Times in ms; `scripts` are the server's own times of
    each call that it noted."""

    p50_ms: float
    p95_ms: float
    kilobytes: float
    frames: int
    scripts: dict[str, list[float]]

    @property
    def slowest(self) -> tuple[str, float]:
        """The script that took longest once, and how long."""
        worst = {name: max(took) for name, took in self.scripts.items()}
        return max(worst.items(), key=lambda one: one[1], default=("none", 0.0))


@dataclass
class Report:
    """What `docs/benchmarks.md` is written from."""

    loaded: Loaded
    memory_mb: float
    server: str
    runs: list[dict[str, Measured]] = field(default_factory=list)


def measure(jobs: int, say: Callable[[str], None]) -> Report:
    """Load a server of its own, put a real console over it, and ask each page in `RUNS` runs."""
    with tempfile.TemporaryDirectory(prefix="emq-bench-") as name:
        folder = Path(name)
        server = Embedded(folder / "valkey", extra=("--auto-aof-rewrite-percentage", "0"))
        server.start()
        house = House(folder, free_port(), server.url, say)
        bus = connect(server.url)
        try:
            loaded = load(bus, jobs, say)
            house.start()
            report = Report(loaded, _number(bus, b"used_memory") / 1e6, _version(bus))
            for run in range(RUNS):
                say(f"run {run + 1} of {RUNS}")
                visitor = Visitor(house.url)
                visitor.sign_in(house.sign_in_link())
                report.runs.append(_one_run(bus, house.port, visitor, loaded, say))
                visitor.close()
            return report
        finally:
            bus.close()
            house.stop()
            server.kill()


def _one_run(
    bus: Bus, port: int, visitor: Visitor, loaded: Loaded, say: Callable[[str], None]
) -> dict[str, Measured]:
    items = {"job": loaded.job, "board": loaded.board}
    cookie = "; ".join(f"{name}={text}" for name, text in visitor.cookies.items())
    found = {}
    for name, path in every_address("main", Q.name, items).items():
        bus.run(_config("slowlog-log-slower-than", str(NOTED_US)))
        bus.run(_config("slowlog-max-len", "10000"))
        bus.run(_slowlog("RESET"))
        took, size = _asked(visitor, path)
        frames = _frames(port, cookie, name, items) if name in PAGES else 0
        one = Measured(
            statistics.median(took),
            statistics.quantiles(took, n=20)[18],
            size / 1000,
            frames,
            _scripts(bus),
        )
        found[name] = one
        say(f"{name}: p95 {one.p95_ms:.0f} ms, {one.slowest[0]} {one.slowest[1]:.2f} ms")
    return found


def _asked(visitor: Visitor, path: str) -> tuple[list[float], int]:
    """The ms of each request, and the size of the page in bytes."""
    took, size = [], 0
    for at in range(ASKED + 3):
        began = time.perf_counter()
        status, page = visitor.get(path)
        if status != 200:
            raise RuntimeError(f"{path} answered {status}")
        if at >= 3:  # the first ones load templates
            took.append((time.perf_counter() - began) * 1000)
        size = len(page.encode())
    return took, size


def _frames(port: int, cookie: str, name: str, items: dict[str, bytes]) -> int:
    page = PAGES[name]
    watched = Watch(
        bus="main" if page.of_bus else "",
        page=name,
        queue=Q.name if page.of_queue else b"",
        item=items.get(name, b""),
        params=page.clean({}),
    )
    return len(watch(port, cookie, watched.topic, WATCHED_S))


def _scripts(bus: Bus) -> dict[str, list[float]]:
    """Each script noted since the last reset: the ms of its calls by the server's own clock."""
    found: dict[str, list[float]] = {}
    for entry in bus.run(_slowlog("GET", "-1")):
        took, words = entry[2] / 1000, entry[3]
        if words[0].upper().startswith(b"EVALSHA"):
            found.setdefault(NAMES.get(words[1], words[1].decode()), []).append(took)
    return found


def _slowlog(*words: str) -> Plan[Reply]:
    return (yield Call("SLOWLOG", (), words))


def _config(name: str, text: str) -> Plan[Reply]:
    return (yield Call("CONFIG", (), ("SET", name, text)))


def _info() -> Plan[Reply]:
    return (yield Call("INFO", (), ("everything",)))


def _told(bus: Bus, name: bytes) -> bytes:
    lines = bus.run(_info()).splitlines()
    return next(line.partition(b":")[2] for line in lines if line.startswith(name + b":"))


def _number(bus: Bus, name: bytes) -> int:
    return int(_told(bus, name))


def _version(bus: Bus) -> str:
    return _told(bus, b"valkey_version").decode()
