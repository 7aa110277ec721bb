"""Which bus serves which configured name: one blocking connection pool each per process.

`bus_for` writes and is connected by the first action, so that looking alone leaves no trace on
a bus; `reading_bus` observes. Both stand behind one breaker per name: while a bus is known not
to answer, a call fails at once instead of holding its page for a time-out.
"""

from __future__ import annotations

import contextlib
import random
import threading
import time
from collections.abc import Callable, Sequence
from typing import Any, Protocol, TypeVar

from echomq_admin import config
from echomq_admin.said_once import Standing
from queue_core.bus import connect
from queue_core.errors import EchoMQError, FenceError, UnavailableError, UnknownOutcomeError
from queue_core.nodes import NodeLease
from queue_core.plans import Plan
from queue_core.servers import parse

T = TypeVar("T")

FIRST_WAIT_S, LONGEST_WAIT_S = 0.5, 15.0
"""Between two tries of a bus that does not answer; doubled each time, up to the second."""

ANSWERED = frozenset({"LOADING", "READONLY", "OOM", "BUSY", "MISCONF", "TRYAGAIN", "MASTERDOWN"})
"""Refusals of a server that is there: they come at once and keep no caller waiting."""


class Connected(Protocol):
    """What a breaker needs of a bus."""

    def run(self, plan: Plan[T]) -> T: ...
    def run_all(self, plans: Sequence[Plan[Any]]) -> list[Any]: ...
    def primaries(self) -> Sequence[str]: ...
    def close(self) -> None: ...


class UnknownBus(KeyError):
    """No bus of this name is configured."""


class Breaker:
    """Whether a bus is worth asking. One caller tries after each wait; the rest fail fast."""

    def __init__(self, name: str, clock: Callable[[], float] = time.monotonic) -> None:
        self.name = name
        self.failures = 0
        self._clock = clock
        self._lock = threading.Lock()
        self._wait = FIRST_WAIT_S
        self._until: float | None = None
        self._why = ""
        self._standing = Standing(f"bus {name}")

    def enter(self) -> None:
        """Pass, or `UnavailableError` with code NOTASKED."""
        with self._lock:
            if self._until is None:
                return
            left = self._until - self._clock()
            if left > 0:
                raise UnavailableError(
                    "NOTASKED", f"{self._why}; it is tried again in {left:.1f} s"
                )
            self._until = self._clock() + self._wait  # the others wait for this one's answer

    def worked(self) -> None:
        """The bus answered."""
        with self._lock:
            self._until, self._wait = None, FIRST_WAIT_S
        self._standing.is_well()

    def failed(self, why: str) -> None:
        """The bus did not answer."""
        with self._lock:
            self.failures += 1
            wait = self._wait * random.uniform(0.8, 1.2)  # noqa: S311 (spreads, hides nothing)
            self._until, self._why = self._clock() + wait, why
            self._wait = min(self._wait * 2, LONGEST_WAIT_S)
        self._standing.is_not(why)


class GuardedBus:
    """A bus that is connected when first needed, behind its breaker. Safe to share by threads."""

    def __init__(self, name: str, url: str, observe: bool, breaker: Breaker) -> None:
        self.name = name
        self.url, self._observe, self._breaker = url, observe, breaker
        self._bus: Connected | None = None
        self._lock = threading.Lock()

    def run(self, plan: Plan[T]) -> T:
        """Run one plan; faults as of the bus, and `UnavailableError` while it is not asked."""
        return self._asked(lambda bus: bus.run(plan))

    def run_all(self, plans: Sequence[Plan[Any]]) -> list[Any]:
        """Run plans in lockstep; a plan that fails stands there as its `EchoMQError`."""
        return self._asked(lambda bus: bus.run_all(plans))

    def primaries(self) -> Sequence[str]:
        """The primaries of a Cluster by name; one elsewhere."""
        return self._asked(lambda bus: bus.primaries())

    def close(self) -> None:
        """Give the connections up; the next use connects anew."""
        with self._lock:
            bus, self._bus = self._bus, None
        if bus is not None:
            bus.close()

    def _asked(self, ask: Callable[[Connected], T]) -> T:
        self._breaker.enter()
        try:
            answer = ask(self._connected())
        except UnknownOutcomeError:
            self._breaker.failed(f"{self.name} did not answer in time")
            raise
        except UnavailableError as fault:
            if fault.code in ANSWERED:
                self._breaker.worked()
            elif fault.code != "NOTASKED":
                self._breaker.failed(str(fault).rstrip("."))
            raise
        except FenceError:
            self.close()  # the fence is read anew when somebody tries again
            raise
        except EchoMQError:
            self._breaker.worked()
            raise
        self._breaker.worked()
        return answer

    def _connected(self) -> Connected:
        before = self._breaker.failures
        with self._lock:
            if self._bus is None:
                if self._breaker.failures != before:
                    self._breaker.enter()  # whoever held the lock has found nobody there
                try:
                    self._bus = connect(
                        self.url,
                        observe=self._observe,
                        command_timeout_ms=config.timeout_ms(),
                    )
                except UnavailableError as fault:
                    self._breaker.failed(str(fault).rstrip("."))
                    raise UnavailableError("NOTASKED", str(fault)) from fault
            return self._bus


_guarded: dict[tuple[str, str, bool], GuardedBus] = {}
_breakers: dict[tuple[str, str], Breaker] = {}
_leases: dict[tuple[str, str], NodeLease] = {}
_making = threading.Lock()
_given: dict[str, str] = {}


def _entry(value: Any) -> tuple[str, list[str]]:
    if isinstance(value, str):
        return value, []
    return str(value["url"]), list(value.get("queues", []))


def bus_urls() -> dict[str, str]:
    """Every configured bus, and those given to this process: name to URL, in order. Secrets are
    in there; show `safe_url`."""
    return {name: _entry(value)[0] for name, value in config.buses().items()} | _given


def give(name: str, url: str) -> None:
    """Let this process use a bus that no setting names, until `close_all`."""
    _given[name] = url


def declared(bus: str) -> tuple[bytes, ...]:
    """The queues that the settings name for a bus."""
    names = list(_entry(config.buses()[bus])[1]) if bus in config.buses() else []
    more = config.queues()
    if isinstance(more, list | tuple):
        names += list(more) if bus == next(iter(config.buses())) else []
    else:
        names += list(more.get(bus, []))
    return tuple(dict.fromkeys(name.encode() for name in names))


def safe_url(bus: str) -> str:
    """The URL of a bus with its secrets masked. `InvalidError` for a URL that says nothing."""
    return parse(bus_urls()[bus]).safe


def bus_for(name: str) -> GuardedBus:
    """The bus that acts. `UnknownBus` where none of this name is configured."""
    return _guard(name, observe=False)


def reading_bus(name: str) -> GuardedBus:
    """The bus that looks and never writes. `UnknownBus` as above."""
    return _guard(name, observe=True)


def mint(name: str) -> bytes:
    """A fresh job id for a bus, under a node number leased on it: a round trip at the first and
    once in a while. Faults as of `run`."""
    bus = bus_for(name)
    with _making:
        lease = _leases.setdefault((name, bus.url), NodeLease())
    return bus.run(lease.mint(b"JOB"))


def _guard(name: str, observe: bool) -> GuardedBus:
    urls = bus_urls()
    if name not in urls:
        raise UnknownBus(name)
    url = urls[name]
    with _making:
        breaker = _breakers.setdefault((name, url), Breaker(name))
        key = (name, url, observe)
        return _guarded.setdefault(key, GuardedBus(name, url, observe, breaker))


def close_all() -> None:
    """Give every connection up, and the node numbers back: a command ends here, so that many
    commands in a row do not use the numbers up."""
    with _making:
        held, leases = dict(_guarded), dict(_leases)
        for kept in (_guarded, _leases, _breakers, _given):
            kept.clear()
    for (name, url), lease in leases.items():
        bus = held.get((name, url, False))
        if bus is not None and lease.node is not None:
            with contextlib.suppress(EchoMQError):  # the number then runs out by itself
                bus.run(lease.release())
    for bus in held.values():
        bus.close()
