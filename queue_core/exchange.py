"""What a bus sends and how it takes the answers, without I/O: both buses drive this.

Calls are grouped into one pipeline per node and round. A script that a node turns out not to know
is loaded, and only what met that is sent again; a moved slot is followed; a node that could not
be reached is looked for once more. None of these has run anything, so sending again repeats
nothing. What was sent and got no answer is never sent again.
"""

from __future__ import annotations

from collections.abc import Generator, Iterable, Sequence
from dataclasses import dataclass
from types import GeneratorType
from typing import Any, NamedTuple, TypeAlias

from queue_core.errors import (
    ContractError,
    EchoMQError,
    ServerFault,
    UnavailableError,
    UnknownOutcomeError,
)
from queue_core.plans import Batch, Call, Plan, Reply, Wait
from queue_core.routes import Routes, Words
from queue_core.scripts import Script

ROUNDS = 6
"""A call is followed through so many refusals; a Cluster that moves on is then unavailable."""

READS = frozenset({
    "BITCOUNT", "COMMAND", "DBSIZE", "ECHO", "EXISTS", "GET", "GETRANGE",
    "HEXISTS", "HGET", "HGETALL", "HKEYS", "HLEN", "HMGET", "HPTTL", "HSCAN", "HSTRLEN", "HTTL",
    "INFO", "LINDEX", "LLEN", "LPOS", "LRANGE", "OBJECT", "PING", "PTTL", "ROLE", "SCAN",
    "SCARD", "SISMEMBER", "SSCAN", "STRLEN", "TIME", "TTL", "TYPE", "XINFO", "XLEN",
    "XPENDING", "XRANGE", "XREVRANGE", "ZCARD", "ZCOUNT", "ZLEXCOUNT", "ZMSCORE", "ZRANGE",
    "ZRANGEBYSCORE", "ZRANK", "ZREVRANGE", "ZREVRANK", "ZSCAN", "ZSCORE",
})  # fmt: skip
"""Commands that change nothing: the only ones an observing bus sends, and the ones whose lost
answer leaves nothing in doubt."""

WAIT_SLACK_S = 2.0
"""How much longer than its own time-out a blocking pop may take to answer."""

AROUND = frozenset({"NOSCRIPT", "MOVED", "ASK"})
"""Refusals that `exchange` knows a way around; none of them has run anything."""

ELSEWHERE = frozenset({"CONNECT", "READONLY"})
"""The same where another server may serve by now: in a Cluster and behind Sentinels."""


DOWN = frozenset({"CLUSTERDOWN"})
"""What a node says that is cut off from the others: those may have chosen another."""

MIDWAY = "access a non local key"
"""What a server says that has broken a script off where a key of its slot had moved away."""


@dataclass(frozen=True, slots=True)
class Cut:
    """Sent, and no answer came."""

    why: str


class Send(NamedTuple):
    """One node's pipeline of one round."""

    node: str
    words: list[Words]
    writes: bool


class Learn:
    """Ask the servers anew who serves what."""


Answer: TypeAlias = Reply | EchoMQError | Cut
Rounds: TypeAlias = Generator[
    list[Send] | Learn, list[list[Answer]] | None, list[Reply | EchoMQError]
]


def writes(call: Call) -> bool:
    """Whether a call may change the bus."""
    if call.script is not None:
        return call.script.writes
    return call.name.upper() not in READS


def words_of(call: Call) -> Words:
    """A call as the words of a command."""
    script = call.script
    if script is None:
        return (call.name, *call.keys, *call.args)
    return (script.verb, script.sha, len(call.keys), *call.keys, *call.args)


def permit(call: Call) -> None:
    """Refuse what may write on a bus that only observes: `ContractError`, nothing is sent."""
    if writes(call):
        raise ContractError(f"{call.name} may write, and this bus only observes")


def straight(call: Call, routes: Routes) -> Send:
    """One call to its node. `UnavailableError` where it has none."""
    return Send(routes.node_of(call), [words_of(call)], writes(call))


def blocking(step: Wait) -> tuple[Call, float]:
    """A `Wait` as its call, and how long its answer may take, in seconds."""
    seconds = step.timeout_ms / 1000
    return Call("BLPOP", step.keys, (f"{seconds:.3f}",)), seconds + WAIT_SLACK_S


def noted(fault: EchoMQError, routes: Routes) -> bool:
    """Take note of what a refusal says of the servers. Whether `exchange` knows a way around."""
    code = code_of(fault)
    if code == "MOVED" or code in ELSEWHERE | DOWN:
        routes.stale = routes.can_learn
    return code in AROUND or (code in ELSEWHERE and routes.can_learn)


def code_of(fault: EchoMQError) -> str:
    """The first word of a refusal, "" for a fault without one."""
    return fault.code if isinstance(fault, ServerFault | UnavailableError) else ""


def settled(call: Call, answer: Answer) -> Reply | EchoMQError:
    """What a call's answer means to its plan."""
    if isinstance(answer, Cut):
        if writes(call):
            return UnknownOutcomeError(f"{call.name} was sent and no answer came: {answer.why}")
        return UnavailableError("LOST", f"no answer to {call.name}: {answer.why}")
    if isinstance(answer, ServerFault) and MIDWAY in answer.text:
        if writes(call):
            return UnknownOutcomeError(f"{call.name} was broken off: {answer}")
        return UnavailableError("TRYAGAIN", answer.text)
    return answer


class _Pipelines:
    """The pipelines of one round, and which call each place in them belongs to."""

    def __init__(self) -> None:
        self._sends: dict[str, tuple[list[Words], list[int | str]]] = {}
        self._writing: set[str] = set()

    def add(self, node: str, words: Words, place: int | str, writing: bool = False) -> None:
        """Put one command at the end of a node's pipeline. `place` is that of its call, or for
        a command of our own the SHA it loads, "" for none."""
        pipeline = self._sends.get(node)
        if pipeline is None:
            pipeline = self._sends[node] = ([], [])
        pipeline[0].append(words)
        pipeline[1].append(place)
        if writing:
            self._writing.add(node)

    def sends(self) -> list[Send]:
        """What goes out."""
        return [
            Send(node, words, node in self._writing) for node, (words, _) in self._sends.items()
        ]

    def pair(self, answers: Sequence[Sequence[Answer]]) -> Iterable[tuple[str, int | str, Answer]]:
        """Node, place and answer of every command that was sent."""
        for (node, (_, places)), got in zip(self._sends.items(), answers, strict=True):
            for place, answer in zip(places, got, strict=True):
                yield node, place, answer


class _Exchange:
    """Calls under way: what was found, what is still to do, and what is in its way."""

    def __init__(self, calls: Sequence[Call], routes: Routes) -> None:
        self.calls = calls
        self.routes = routes
        self.found: list[Reply | EchoMQError] = [None] * len(calls)
        self.todo = list(range(len(calls)))
        self.learned = False
        self._asked: dict[int, str] = {}  # place -> node that imports its slot
        self._lacking: set[int] = set()  # places whose node lacked their script
        self._refused: dict[tuple[str, str], ServerFault] = {}  # (node, SHA) not let in
        self._sending = _Pipelines()

    def compose(self) -> list[Send]:
        """The next round."""
        self._sending = sending = _Pipelines()
        several = len(self.todo) > 1
        for place in self.todo:
            call = self.calls[place]
            try:
                node = self._asked.get(place) or self.routes.node_of(call)
            except UnavailableError as fault:
                self.found[place] = fault
                continue
            if call.script is not None and (several or place in self._lacking):
                self._load(node, call.script)
            if place in self._asked:  # holds for the one command that follows
                sending.add(node, ("ASKING",), "")
            sending.add(node, words_of(call), place, writes(call))
        return sending.sends()

    def _load(self, node: str, script: Script) -> None:
        """Load a script ahead of the first call of it, so that a pipeline keeps its order."""
        known = self.routes.scripts.setdefault(node, set())
        if script.sha not in known:
            known.add(script.sha)
            self._sending.add(node, ("SCRIPT", "LOAD", script.source), script.sha)

    def take(self, answers: Sequence[Sequence[Answer]]) -> None:
        """Note the answers of a round; what must go out again is to do."""
        self.todo = []
        self._asked = {}
        for node, place, answer in self._sending.pair(answers):
            if isinstance(place, int):
                if self._again(node, place, answer):
                    self.todo.append(place)
            elif place and not isinstance(answer, bytes):
                self.routes.scripts[node].discard(place)
                if isinstance(answer, ServerFault):
                    self._refused[node, place] = answer

    def _again(self, node: str, place: int, answer: Answer) -> bool:
        """Whether a call must go out again."""
        call = self.calls[place]
        self.found[place] = settled(call, answer)
        code = code_of(answer) if isinstance(answer, EchoMQError) else ""
        if code == "NOSCRIPT" and call.script is not None:
            if refused := self._refused.get((node, call.script.sha)):
                self.found[place] = refused
                return False
            self.routes.scripts.setdefault(node, set()).discard(call.script.sha)
            self._lacking.add(place)
        elif code == "MOVED":
            self.routes.moved(str(answer), node)
        elif code == "ASK" and call.script is not None:
            # A script names its sets and builds the names of its rows. Where the sets have moved
            # and the rows have not, it would take jobs for gone.
            self.found[place] = UnavailableError("TRYAGAIN", "the slot moves to another node")
            return False
        elif code == "ASK":
            self._asked[place] = self.routes.redirected(str(answer), node)[1]
        elif code in ELSEWHERE and self.routes.can_learn and not self.learned:
            self.routes.stale = True  # refused or never sent: another may serve by now
        elif code in DOWN:
            self.routes.stale = self.routes.can_learn
            return False
        else:
            return False
        return True

    def give_up(self, fault: EchoMQError | None) -> None:
        """Answer what is still to do with a fault."""
        for place in self.todo:
            self.found[place] = fault or UnavailableError(
                "TRYAGAIN", f"the servers sent us around: {self.found[place]}"
            )


def exchange(calls: Sequence[Call], routes: Routes) -> Rounds:
    """Bring calls to their nodes and the answers home, in the order of the calls."""
    going = _Exchange(calls, routes)
    for _ in range(ROUNDS):
        if not routes.current():
            try:
                yield Learn()
            except EchoMQError as fault:
                going.give_up(fault)
                return going.found
            going.learned = True
        if not (sends := going.compose()):
            return going.found
        going.take((yield sends) or ())
        if not going.todo:
            return going.found
    going.give_up(None)
    return going.found


def unused(plan: Plan[Any]) -> None:
    """`ContractError` for a plan that has run: it would silently answer None."""
    if isinstance(plan, GeneratorType) and plan.gi_frame is None:
        raise ContractError("a plan runs once; make another for another run")


def lockstep(
    plans: Sequence[Plan[Any]],
) -> Generator[list[Call], list[Reply | EchoMQError], list[Any]]:
    """Advance plans together: every round sends the next step of each that still runs. A plan
    that fails is its `EchoMQError` in the list."""
    for plan in plans:
        unused(plan)
    results: list[Any] = [None] * len(plans)
    running = [
        (place, plan, step)
        for place, plan in enumerate(plans)
        if (step := _advance(plan, None, results, place)) is not None
    ]
    while running:
        calls: list[Call] = []
        for _, _, step in running:
            calls += step.calls if isinstance(step, Batch) else (step,)
        replies = yield calls
        at, still = 0, []
        for place, plan, step in running:
            size = len(step.calls) if isinstance(step, Batch) else 1
            reply = replies[at : at + size] if isinstance(step, Batch) else replies[at]
            at += size
            following = _advance(plan, reply, results, place)
            if following is not None:
                still.append((place, plan, following))
        running = still
    return results


def _advance(plan: Plan[Any], reply: Reply, results: list[Any], place: int) -> Call | Batch | None:
    """The plan's next step, or None once its result stands in its place."""
    try:
        step = plan.throw(reply) if isinstance(reply, EchoMQError) else plan.send(reply)
        while isinstance(step, Wait):
            step = plan.throw(ContractError("a plan that waits cannot run beside others"))
    except StopIteration as end:
        results[place] = end.value
        return None
    except EchoMQError as fault:
        results[place] = fault
        return None
    return step
