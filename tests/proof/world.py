"""Queues and their models side by side: every verb is sent to one and done to the other.

Verbs of one round trip go out in pipelines, as the model knows every answer beforehand; a verb of
several goes out alone. The keyspace is held against the model, and against what must hold in any,
each time `check` is called.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable
from random import Random
from typing import Any, TypeAlias

from queue_core.bus import Bus
from queue_core.ids import Minter
from queue_core.jobs import Lease
from queue_core.keys import QueueKeys, board, board_base, queue
from queue_core.plans import Call, Plan
from tests.proof.administration import Administered
from tests.proof.beside import Board, Stream
from tests.proof.keyspace import read, told, violations, wipe
from tests.proof.model import Job

QUEUES, LANES, JOBS, GAMES = 2, 3, 8, 2
PIPELINE = 64

_names = itertools.count()
_ids = Minter(1001, clock_ms=lambda: 1_704_067_200_000)
IDS = [_ids.mint() for _ in range(JOBS)]
GROUPS = [_ids.mint(b"PRT") for _ in range(LANES)]
FOREIGN = _ids.mint(b"ORD")


Verb: TypeAlias = Callable[["World", Random], None]
VERBS: dict[str, Verb] = {}
"""Every verb by its name."""
WEIGHTS: dict[str, int] = {}
"""How often each is tried beside the others."""


def verb(weight: int) -> Callable[[Verb], Verb]:
    """Enter a function among the verbs."""

    def enter(function: Verb) -> Verb:
        VERBS[function.__name__] = function
        WEIGHTS[function.__name__] = weight
        return function

    return enter


class Broken(AssertionError):
    """The engine and its model do not agree, or an invariant does not hold."""


class World:
    """Some queues of one bus and their models."""

    def __init__(self, bus: Bus, name: str) -> None:
        self.bus = bus
        run = next(_names)
        self.keys = [queue(f"{name}.{run}.{at}") for at in range(QUEUES)]
        fields_end = bus.run(_knows("HPEXPIRE"))
        self.models = {q.name: Administered(q.name, fields_end) for q in self.keys}
        self.streams: dict[bytes, dict[bytes, Stream]] = {q.name: {} for q in self.keys}
        self.boards = {f"{name}.{run}.{at}".encode(): Board() for at in range(GAMES)}
        self.steps = 0
        self.hands: list[tuple[QueueKeys, bytes, bytes]] = []
        self.trace: list[str] = []
        self._sent: list[tuple[str, Plan[Any], Any, Callable[[Any], Any]]] = []
        self._handed: set[tuple[int, bytes]] = set()
        self._lives: list[Job] = []
        self._attempts: dict[Job, int] = {}

    # ---- what a verb draws from --------------------------------------------------------------

    def pick(self, hand: Random) -> tuple[QueueKeys, Administered]:
        """A queue and its model."""
        q = hand.choice(self.keys)
        return q, self.models[q.name]

    def lease(self, hand: Random) -> tuple[QueueKeys, Administered, bytes, bytes]:
        """A queue, its model, and an id with a token: one that was handed out, one that is the
        row's present one, or a wrong one."""
        if self.hands and hand.random() < 0.7:
            q, job_id, token = hand.choice(self.hands)
            return q, self.models[q.name], job_id, token
        q, model = self.pick(hand)
        job_id = hand.choice(IDS)
        job = model.jobs.get(job_id)
        return q, model, job_id, job.token if job and hand.random() < 0.7 else b"77"

    # ---- what a verb does --------------------------------------------------------------------

    def do(
        self,
        text: str,
        plan: Plan[Any],
        expected: Any,
        view: Callable[[Any], Any] = lambda answer: answer,
        alone: bool = False,
    ) -> None:
        """Send a plan that must answer what the model did; `alone` where it takes several round
        trips."""
        self.steps += 1
        self.trace.append(text)
        if alone:
            self.flush()
        self._sent.append((text, plan, expected, view))
        if alone or len(self._sent) >= PIPELINE:
            self.flush()

    def claimed(self, text: str, q: QueueKeys, plan: Plan[Any], jobs: list[Job]) -> None:
        """Send a claim that must hand out these jobs, each under a token that it never had."""
        expected = [(job.id, job.row[b"payload"], job.token, job.group) for job in jobs]
        for job in jobs:
            self._lives.append(job)  # an object that is kept is told apart for ever
            if (id(job), job.token) in self._handed:
                raise Broken(f"the model handed {job} out twice")
            self._handed.add((id(job), job.token))
            self.hands = [*self.hands[-11:], (q, job.id, job.token)]
        self.do(text, plan, expected, _leases)

    def flush(self) -> None:
        """Send what waits and hold the answers against the model's."""
        sent, self._sent = self._sent, []
        if not sent:
            return
        answers = self.bus.run_all([plan for _, plan, _, _ in sent])
        for (text, _, expected, view), answer in zip(sent, answers, strict=True):
            seen = answer if isinstance(answer, Exception) else view(answer)
            if seen != expected:
                raise Broken(f"{text}\n answered {seen!r}\n and not  {expected!r}\n{self._last()}")

    def check(self) -> None:
        """Hold the keyspace against the model, and against what must hold in any."""
        self.flush()
        for q, space in zip(self.keys, self.bus.run(read(*self.keys)), strict=True):
            model = self.models[q.name]
            if wrong := list(violations(space)):
                raise Broken(f"{q.name!r}: {wrong}\n{self._last()}")
            seen, expected = told(space), model.keyspace()
            for name, stream in self.streams[q.name].items():
                expected |= stream.keyspace(name)
            if seen != expected:
                parts = [
                    f"{key!r} is {seen.get(key)!r}\n and not {expected.get(key)!r}"
                    for key in sorted({*seen, *expected})
                    if seen.get(key) != expected.get(key)
                ]
                raise Broken(f"{q.name!r}: " + "\n".join([*parts, self._last()]))
            for job in model.jobs.values():
                attempts = int(space.keys[b"job:" + job.id][b"attempts"])
                if attempts < self._attempts.get(job, 0):
                    raise Broken(f"the attempts of {job.id!r} went down to {attempts}")
                self._attempts[job] = attempts
        for game, model_board in self.boards.items():
            seen_board = self.bus.run(_board(game))
            if seen_board != (model_board.totals, model_board.scores):
                raise Broken(f"{game!r}: {seen_board}, {vars(model_board)}\n{self._last()}")
        self.trace.clear()

    def close(self) -> None:
        """Leave nothing."""
        self.bus.run(wipe(*self.keys))
        for game in self.boards:
            self.bus.run(command("DEL", board(game)))
            self.bus.run(command("DEL", board_base(game)))

    def _last(self) -> str:
        return "since the last check:\n  " + "\n  ".join(self.trace)


def _leases(answer: Lease | list[Lease] | None) -> list[tuple[bytes, bytes, bytes, bytes | None]]:
    """What was handed out, however the verb answers."""
    leases = answer if isinstance(answer, list) else [answer] if answer else []
    return [(one.id, one.payload, one.token, one.group) for one in leases]


def _knows(name: str) -> Plan[bool]:
    """Whether the server has a command."""
    return (yield Call("COMMAND", (), ("INFO", name)))[0] is not None


def _board(game: bytes) -> Plan[tuple[dict[bytes, int], dict[bytes, int]]]:
    """A game's totals and its board."""
    totals = yield Call("HGETALL", (board_base(game),))
    scores = yield Call("ZRANGE", (board(game),), (0, -1, "WITHSCORES"))
    return _numbers(totals), _numbers(scores)


def _numbers(flat: list[bytes]) -> dict[bytes, int]:
    return {name: int(text) for name, text in zip(flat[::2], flat[1::2], strict=True)}


def command(name: str, key: bytes, *args: bytes | int | str) -> Plan[Any]:
    """One command: the hand of time, and of an operator with a shell."""
    return (yield Call(name, (key,), args))
