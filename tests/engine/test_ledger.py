"""What a worker has in hand between its turns: handed out while the server works, or given back."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from threading import Event

import pytest

from queue_core import telemetry
from queue_core.errors import UnavailableError
from queue_core.jobs import Lease
from queue_core.keys import QueueKeys
from queue_core.verbs import claims
from queue_core.work import turns
from queue_core.work.backoff import fixed
from queue_core.work.hands import InHand, ThreadHands
from queue_core.work.ledger import Ledger
from queue_core.work.serving import Policy
from queue_core.work.task import Attempt
from queue_core.work.turns import Want
from tests.builders import HOUR, Builder, Run, command
from tests.engine.manned import PATIENCE_S, until


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


def test_what_came_is_handed_out_before_a_claim_that_settles_nothing(
    q: QueueKeys, held: tuple[Ledger, ThreadHands]
) -> None:
    """The server may hang then, and the handlers have nothing else to do."""
    ledger, hands = held
    plan = ledger.turn(ledger.want(), partial(Attempt, q))
    next(plan)
    assert hands.out == 5
    plan.close()


def test_where_a_settle_failed_and_the_claim_did_not_all_is_handed_out(
    q: QueueKeys, held: tuple[Ledger, ThreadHands], mint: Callable[[], bytes]
) -> None:
    ledger, hands = held
    ledger.unsettled.append(InHand(Attempt(q, Lease(mint(), b"", 1, 0))))
    plan = ledger.turn(Want(1, 1, HOUR, b"worker", 1, False), partial(Attempt, q))
    next(plan)
    with pytest.raises(UnavailableError):
        plan.send([UnavailableError("LOST", "gone"), [b"claimed", 1, [mint(), b"", 1]]])
    assert (hands.out, ledger.in_hand) == (6, 6)


def test_what_was_settled_is_told_at_once_where_no_turn_may_follow(
    run: Run, q: QueueKeys, held: tuple[Ledger, ThreadHands], mint: Callable[[], bytes]
) -> None:
    """A metronome asks another queue next, perhaps for as long as that has work."""
    ledger, told = held[0], []
    detach = telemetry.attach("job.lost", lambda _event, values: told.append(values["job_id"]))
    ledger.unsettled.append(InHand(Attempt(q, Lease(lost := mint(), b"", 1, 0))))
    run(ledger.turn(None, partial(Attempt, q)))
    detach()
    assert told == [lost]


def test_threads_begin_nothing_after_their_end(q: QueueKeys, mint: Callable[[], bytes]) -> None:
    begun: list[Attempt] = []
    goes_on, runs = Event(), Event()

    def handler(task: Attempt) -> None:
        begun.append(task)
        runs.set()
        goes_on.wait(PATIENCE_S)

    hands = ThreadHands(handler, 1, None, lambda: None)
    for _ in range(3):
        hands.give(InHand(Attempt(q, Lease(mint(), b"", 1, 0))))
    hands.start()
    runs.wait(PATIENCE_S)
    hands.end()
    goes_on.set()
    until(hands.ended)
    assert (len(begun), hands.out) == (1, 0)
