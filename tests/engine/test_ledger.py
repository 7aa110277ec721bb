"""What a worker has in hand between its turns: handed out while the server works, or given back."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial

import pytest

from queue_core.jobs import Lease
from queue_core.keys import QueueKeys
from queue_core.verbs import claims
from queue_core.work import turns
from queue_core.work.backoff import fixed
from queue_core.work.hands import InHand, ThreadHands
from queue_core.work.ledger import Ledger
from queue_core.work.serving import Policy
from queue_core.work.task import Attempt
from tests.builders import HOUR, Builder, Run, command


@pytest.fixture
def held(
    run: Run, q: QueueKeys, make: Builder, monkeypatch: pytest.MonkeyPatch
) -> tuple[Ledger, ThreadHands]:
    """What a worker of two threads has in hand, its handlers known to be quick and not begun:
    after its first turn, half of what it may hold, of ten that wait."""
    monkeypatch.setattr(turns, "MEASURED", 0)
    for _ in range(10):
        make.pending()
    hands = ThreadHands(print, 2, None, lambda: None)
    ledger = Ledger(
        q, b"worker", hands, concurrency=2, lease_ms=HOUR, policy=Policy(fixed(0), 1), ahead=8,
        weighted=False,
    )  # fmt: skip
    assert (taken(run, q, ledger), hands.out, ledger.in_hand) == (5, 0, 5)
    return ledger, hands


def taken(run: Run, q: QueueKeys, ledger: Ledger) -> int:
    """How many jobs a turn brings."""
    count: int = run(ledger.turn(ledger.want(), partial(Attempt, q)))
    return count


def test_what_came_is_handed_out_while_the_server_works_on_the_next_turn(
    run: Run, q: QueueKeys, held: tuple[Ledger, ThreadHands], mint: Callable[[], bytes]
) -> None:
    ledger, hands = held
    ledger.unsettled.append(InHand(Attempt(q, Lease(mint(), b"", 1, 0))))
    assert (taken(run, q, ledger), hands.out, ledger.in_hand) == (5, 5, 10)
    assert ledger.want() is None
    ledger.rest(1.0)
    assert hands.out == 10


def test_what_was_not_handed_out_yet_is_given_back_with_the_rest(
    run: Run, q: QueueKeys, held: tuple[Ledger, ThreadHands]
) -> None:
    ledger, hands = held
    run(ledger.give_back())
    assert (run(command("ZCARD", q.pending)), hands.out, ledger.in_hand) == (10, 0, 0)


def test_where_no_turn_may_follow_all_is_handed_out_at_once(
    run: Run, q: QueueKeys, held: tuple[Ledger, ThreadHands]
) -> None:
    ledger, hands = held
    run(claims.claim(q, HOUR))
    assert (taken(run, q, ledger), hands.out) == (4, 9)


def test_what_may_take_long_is_handed_out_at_once(
    run: Run, q: QueueKeys, held: tuple[Ledger, ThreadHands]
) -> None:
    ledger, hands = held
    run(ledger.give_back())
    for _ in range(40):
        ledger._ahead.ran(500)
    assert (taken(run, q, ledger), hands.out) == (2, 2)
