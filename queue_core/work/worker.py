"""What a worker is, whether threads or an event loop run it: its ledgers, and its trouble."""

from __future__ import annotations

from collections.abc import Sequence

from queue_core.errors import EchoMQError, UnavailableError
from queue_core.numbers import seconds
from queue_core.plans import Plan
from queue_core.quoting import WHOLE, quoted
from queue_core.work.flags import Once
from queue_core.work.hands import Hands
from queue_core.work.ledger import Ledger
from queue_core.work.trouble import Trouble, Troubled

HEARTBEAT_S = 4.0


class Worker(Troubled):
    """One worker of some queues."""

    def __init__(
        self,
        hands: Hands,
        ledgers: Sequence[Ledger],
        trouble: Trouble,
        *,
        lease_ms: int,
        drain_s: float,
    ) -> None:
        self._drain_s = seconds(drain_s, "a drain in s")
        self._hands = hands
        self._ledgers = list(ledgers)
        self._trouble = trouble
        self._lease_ms = lease_ms
        self._every_s = min(HEARTBEAT_S, lease_ms / 3000)
        self._once = Once()
        self._quiet = False
        self._fell: UnavailableError | None = None

    @property
    def in_hand(self) -> int:
        """Jobs claimed and not settled yet."""
        return sum(ledger.in_hand for ledger in self._ledgers)

    def _at_work(self) -> Sequence[Ledger]:
        """Those in which something may have ended since they were collected."""
        return self._ledgers

    def _noted(self, ledger: Ledger, answer: object) -> float:
        """What a turn of a queue came to: how many seconds to leave it alone."""
        part = quoted(ledger.q.name, WHOLE) if len(self._ledgers) > 1 else ""
        if isinstance(answer, EchoMQError):
            return self._trouble.met(answer, part)
        self._trouble.over(part)
        return 0.0

    def _stand(self) -> None:
        """Raise the fault of a bus that was closed, where the beat has met it: a loop that is quiet
        asks for nothing."""
        if self._fell is not None:
            raise self._fell

    def _beats(self, stopping: bool) -> list[Plan[None]]:
        """What it says of itself now, for each queue."""
        return [ledger.beat(self._quiet or stopping) for ledger in self._ledgers]

    def _beaten(self, answers: Sequence[object]) -> float:
        """What that came to: how many seconds until the next. Raises the fault of a bus that was
        closed."""
        faults = [answer for answer in answers if isinstance(answer, EchoMQError)]
        if faults:
            return min(self._every_s, self._trouble.met(faults[0], "beat"))
        self._trouble.over("beat")
        return self._every_s

    def _farewells(self) -> list[Plan[None]]:
        """Its words taken back, for each queue."""
        return [ledger.presence.leave() for ledger in self._ledgers]
