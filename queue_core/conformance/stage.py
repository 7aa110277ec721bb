"""What a scenario is, and what it has in hand: a scratch queue, a bus, and expectations.

A scenario is a function of a `Stage`. It acts through the verbs and looks at raw keys, as a
reader of another engine would.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from typing import Any, Protocol, TypeVar

from queue_core.bus import Bus, connect
from queue_core.conformance.scratch import keys_from
from queue_core.errors import EchoMQError
from queue_core.ids import Minter
from queue_core.jobs import Lease
from queue_core.keys import QueueKeys, queue
from queue_core.links import Link
from queue_core.outcomes import Word
from queue_core.plans import Arg, Call, Plan, Reply, Step, single
from queue_core.pools import Pools
from queue_core.replies import plain
from queue_core.routes import Words
from queue_core.servers import Servers
from queue_core.verbs import admission, claims

T = TypeVar("T")

LEASE_MS = 60_000
CONNECT_S, COMMAND_S = 3.0, 5.0


class Run(Protocol):
    """Runs a plan on the bus under test, blocking or awaited."""

    def __call__(self, plan: Plan[T]) -> T:
        """The plan's result."""


class Differs(Exception):
    """An expectation that was not met."""

    def __init__(self, what: str, expected: Any, got: Any) -> None:
        self.what = what
        self.expected = expected
        self.got = got
        super().__init__(f"{what}: expected {expected!r}, got {got!r}")


@dataclass(frozen=True, slots=True)
class Scenario:
    """One row of the table: its number, its name, one sentence, and what plays it."""

    number: int
    name: str
    text: str
    play: Callable[[Stage], None]


class Chapter:
    """The scenarios of one module."""

    def __init__(self) -> None:
        self.scenarios: list[Scenario] = []

    def scenario(self, number: int) -> Callable[[Callable[[Stage], None]], Callable[[Stage], None]]:
        """Marks a function as the scenario of that number; its name and docstring are the
        scenario's."""

        def mark(play: Callable[[Stage], None]) -> Callable[[Stage], None]:
            text = " ".join((play.__doc__ or "").split())
            name = play.__name__.removesuffix("_")
            self.scenarios.append(Scenario(number, name, text, play))
            return play

        return mark


@dataclass(frozen=True, slots=True)
class Ground:
    """The bus under test: how plans run on it, how more connections to it are made, and the
    names of its primaries."""

    servers: Servers
    url: str
    fence: str
    run: Run
    primaries: tuple[str, ...]


class Line:
    """A subscribed RESP3 connection: replies come in the order of the commands, pushes beside
    them."""

    def __init__(self, link: Link, channel: bytes) -> None:
        self._link = link
        self._pushed: list[bytes] = []
        link.send([("SUBSCRIBE", channel)])
        link.read_push()

    def ask(self, *commands: Words) -> list[Reply]:
        """The replies to some commands, sent together."""
        self._link.send(list(commands))
        return [self._reply() for _ in commands]

    def heard(self) -> list[bytes]:
        """The messages that came so far; a command sent now is answered after them."""
        self.ask(("PING",))
        return self._pushed

    def _reply(self) -> Reply:
        while True:
            said = self._link.read_push()
            if isinstance(said, EchoMQError):
                raise said
            if not (isinstance(said, list) and said[:1] == [b"message"]):
                return plain(said)
            self._pushed.append(said[2])


class Stage:
    """One scenario's surroundings. `q` is its scratch queue, where nothing else lives; `note` is
    what a reader of a passed scenario should know."""

    def __init__(self, ground: Ground, q: QueueKeys, minter: Minter) -> None:
        self.ground = ground
        self.q = q
        self.mint = minter.mint
        self.note = ""
        self._opened: list[Bus | Pools | Link] = []

    # ---- acting ------------------------------------------------------------------------------

    def run(self, plan: Plan[T]) -> T:
        """A plan's result on the bus under test."""
        return self.ground.run(plan)

    def ask(self, name: str, key: bytes, *args: Arg) -> Reply:
        """The reply to one command on one key."""
        return self.run(single(Call(name, (key,), args)))

    def everywhere(self, name: str, *args: Arg) -> None:
        """One command on every primary."""
        for node in self.ground.primaries:
            self.run(single(Call(name, (), args, node=node)))

    def sub(self, name: str) -> QueueKeys:
        """A further scratch queue of this scenario; a slot of its own."""
        return queue(self.q.name + b"." + name.encode())

    def wait(self, ms: int) -> None:
        """Let that much time go by."""
        time.sleep(ms / 1000)

    # ---- jobs --------------------------------------------------------------------------------

    def job(self, payload: bytes = b"work", q: QueueKeys | None = None) -> bytes:
        """The id of a job freshly in flat pending."""
        job_id = self.mint()
        word = self.run(admission.enqueue(q or self.q, job_id, payload))
        self.expect("enqueue", word, Word.enqueued)
        return job_id

    def jobs(self, count: int) -> list[bytes]:
        """Ids of several, in mint order."""
        return [self.job(b"job %d" % n) for n in range(1, count + 1)]

    def lane_job(self, lane: bytes, payload: bytes = b"work") -> bytes:
        """The id of a job freshly in a lane."""
        job_id = self.mint()
        word = self.run(admission.lane_enqueue(self.q, lane, job_id, payload))
        self.expect("lane enqueue", word, Word.enqueued)
        return job_id

    def lane_jobs(self, lane: bytes, count: int) -> list[bytes]:
        """Ids of several in one lane, in mint order."""
        ids = [self.mint() for _ in range(count)]
        plans = [admission.lane_enqueue(self.q, lane, job_id, b"work") for job_id in ids]
        for plan in plans:
            self.expect("lane enqueue", self.run(plan), Word.enqueued)
        return ids

    def held(self, lease_ms: int = LEASE_MS, q: QueueKeys | None = None) -> Lease:
        """A claim from flat pending that finds something."""
        lease = self.run(claims.claim(q or self.q, lease_ms))
        if lease is None:
            raise Differs("claim", "a job", "empty")
        return lease

    def lane_held(self, lease_ms: int = LEASE_MS) -> Lease:
        """A claim from the ring that finds something."""
        lease = self.run(claims.lane_claim(self.q, lease_ms))
        if lease is None:
            raise Differs("lane claim", "a job", "empty")
        return lease

    def finds_nothing(self, what: str = "claim") -> None:
        """Expect that flat pending gives nothing."""
        self.expect(what, self.run(claims.claim(self.q, LEASE_MS)), None)

    # ---- looking, as another engine would ----------------------------------------------------

    def row(self, job_id: bytes, q: QueueKeys | None = None) -> dict[bytes, bytes]:
        """Every field of a row; empty where there is none."""
        flat = self.ask("HGETALL", (q or self.q).row(job_id))
        return dict(zip(flat[::2], flat[1::2], strict=True))

    def field(self, job_id: bytes, name: str, q: QueueKeys | None = None) -> bytes | None:
        """One field of a row."""
        value: bytes | None = self.ask("HGET", (q or self.q).row(job_id), name)
        return value

    def score(self, key: bytes, member: bytes) -> float | None:
        """A member's score, None where it is not in the set."""
        score = self.ask("ZSCORE", key, member)
        return None if score is None else float(score)

    def size(self, key: bytes) -> int:
        """How many members a sorted set has."""
        return int(self.ask("ZCARD", key))

    def newest_first(self, key: bytes) -> list[bytes]:
        """Members by bytes, greatest first, as consoles browse."""
        words = ("+", "-", "BYLEX", "REV", "LIMIT", 0, 1000)
        return list(self.ask("ZRANGE", key, *words))

    def exists(self, key: bytes) -> bool:
        """Whether there is such a key."""
        return bool(self.ask("EXISTS", key))

    def keys(self) -> list[bytes]:
        """What there is of the scratch queue."""
        return self.run(keys_from(self.ground.primaries, self.q.base))

    # ---- expectations ------------------------------------------------------------------------

    def expect(self, what: str, got: Any, expected: Any) -> None:
        """Raise `Differs` where they are not equal."""
        if got != expected:
            raise Differs(what, expected, got)

    def holds(self, what: str, true: bool, got: Any) -> None:
        """Raise `Differs` where something does not hold."""
        if not true:
            raise Differs(what, "so", got)

    def state(self, job_id: bytes, expected: str | None, q: QueueKeys | None = None) -> None:
        """Expect the row's own word for its state."""
        wanted = None if expected is None else expected.encode()
        self.expect("state", self.field(job_id, "state", q), wanted)

    def refused(self, what: str, plan: Plan[Any], fault: type[EchoMQError]) -> None:
        """Expect that a plan is refused with a fault."""
        try:
            answer = self.run(plan)
        except fault:
            return
        raise Differs(what, fault.__name__, answer)

    # ---- further connections -----------------------------------------------------------------

    def connect(self) -> Bus:
        """One more bus to the same servers, closed when the scenario ends."""
        made = connect(self.ground.url, fence=self.ground.fence)
        self._opened.append(made)
        return made

    def listener(self, name: str = "") -> Bus:
        """One more bus whose connections speak RESP3 and carry a name of their own."""
        servers = replace(self.ground.servers, protocol=3)
        if name:
            servers = replace(servers, client_name=name)
        made = Bus(servers, False, self.ground.fence, CONNECT_S, COMMAND_S)
        made.greet()
        self._opened.append(made)
        return made

    def line(self, channel: bytes) -> Line:
        """A connection that is subscribed to `channel` and serves commands beside it."""
        servers = replace(self.ground.servers, protocol=3)
        pools = Pools(servers, self.ground.fence, CONNECT_S, COMMAND_S)
        self._opened.append(pools)
        pools.learn()
        node = pools.routes.node_of(Call("PUBLISH", (channel,)))
        link = pools.take(node)
        self._opened.append(link)
        return Line(link, channel)

    def heard(self, messages: Iterator[tuple[bytes, bytes]], mark: bytes) -> list[bytes]:
        """What came on a subscription so far. `mark` is a channel that it hears too: a word sent
        there now comes after all else from this queue's node."""
        self.run(single(Call("PUBLISH", (mark,), ("",))))
        found = []
        for channel, message in messages:
            if channel == mark:
                break
            found.append(message)
        return found

    def close(self) -> None:
        """Give up what was opened."""
        while self._opened:
            self._opened.pop().close()


def first_step(plan: Plan[Any]) -> Step:
    """What a plan sends first, without sending it."""
    try:
        return next(plan)
    finally:
        plan.close()
