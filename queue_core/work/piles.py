"""A batch in hand: its members are handled together, and each has its own verdict, settle and
lease (protocol part 6.4; part 10, row 20)."""

from __future__ import annotations

import time
from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, TypeAlias

from queue_core.jobs import Lease
from queue_core.keys import QueueKeys
from queue_core.work.batches import verdicts_of
from queue_core.work.hands import Hands, InHand, must_be_called
from queue_core.work.ledger import Ledger
from queue_core.work.serving import held_by
from queue_core.work.task import AsyncTask, Attempt, Task
from queue_core.work.verdicts import Done, Verdict

Verdicts: TypeAlias = Mapping[bytes, Verdict | None]
BatchHandler: TypeAlias = Callable[[Sequence[Task]], Verdicts]
AsyncBatchHandler: TypeAlias = Callable[[Sequence[AsyncTask]], Awaitable[Verdicts]]


class Batch(Attempt):
    """Attempts that are handled together; to the hands they are one, under the first one's id."""

    def __init__(self, q: QueueKeys, tasks: Sequence[Attempt]) -> None:
        super().__init__(q, tasks[0].lease)
        self.tasks = tasks
        self.verdicts: dict[bytes, Verdict] | None = None

    def answer(self, said: object) -> None:
        """Note what the handler answered; a member that it says nothing fit of has failed."""
        self.verdicts = verdicts_of([task.lease for task in self.tasks], said)

    def lose(self, why: str) -> None:
        """All of them are lost."""
        super().lose(why)
        for task in self.tasks:
            task.lose(why)


def handling(handler: Callable[[Any], Any], awaited: bool) -> Callable[[Any], Any]:
    """A handler of batches as hands call it. `InvalidError` for what cannot be called."""
    must_be_called(handler)

    def call(batch: Batch) -> None:
        batch.answer(handler(batch.tasks))

    async def call_awaited(batch: Batch) -> None:
        batch.answer(await handler(batch.tasks))

    return call_awaited if awaited else call


@dataclass(slots=True, eq=False)
class Pile(InHand):
    """A batch in hand."""

    members: list[InHand] = field(default_factory=list)

    def begin(self) -> float:
        """The handler of all of them begins now (monotonic, s)."""
        self.since = began = time.monotonic()
        for one in self.members:
            one.begin()
        return began

    def decided_members(self) -> list[InHand]:
        """The members, each with its verdict: what the handler said of it, or what became of all:
        an exception, or the end of their time."""
        assert isinstance(self.task, Batch)
        said = self.task.verdicts if isinstance(self.verdict, Done) else None
        for one in self.members:
            one.verdict = self.verdict if said is None else said[one.task.id]
            one.run_ms, one.decided = self.run_ms, True
        return self.members


class BatchHands(Hands):
    """Hands that handle batches, as a ledger of jobs sees them."""

    def __init__(self, hands: Hands, size: int, told: Callable[[], None]) -> None:
        super().__init__(hands.give, size, None, told)
        self._hands = hands

    @property
    def idle(self) -> bool:
        """Whether there is a place for one more batch."""
        return self._hands.out < self._size

    def start(self) -> None:
        """Begin to handle."""
        self._hands.start()

    def end(self) -> None:
        """Begin nothing more, and let go of what runs."""
        self._hands.end()

    @property
    def unbegun(self) -> bool:
        """Whether batches lie ready that no handler has begun."""
        return self._hands.unbegun

    def give(self, one: InHand) -> None:
        """Have a batch handled."""
        self._hands.give(one)

    def take_back(self) -> list[InHand]:
        """The members of what no handler has begun."""
        return [one for pile in self._hands.take_back() for one in _members(pile)]

    def waiting(self) -> bool:
        """Whether something has ended and lies there."""
        return self._hands.waiting()

    def ended(self) -> list[InHand]:
        """The members of what has ended since the last call, in order."""
        piles = self._hands.ended()
        return [one for pile in piles if isinstance(pile, Pile) for one in pile.decided_members()]


def _members(pile: InHand) -> list[InHand]:
    assert isinstance(pile, Pile)
    return pile.members


class BatchLedger(Ledger):
    """What a worker of batches has in hand, member by member."""

    def begin(self, leases: Sequence[Lease], task_of: Callable[[Lease], Attempt]) -> None:
        """Have these handled together."""
        members = [InHand(task_of(lease)) for lease in leases]
        with self._lock:
            self._held.update((held_by(one.task.lease), one) for one in members)
        batch = Batch(self.q, [one.task for one in members])
        self._hands.give(Pile(batch, members=members))
