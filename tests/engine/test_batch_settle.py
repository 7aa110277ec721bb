"""Settling a batch on a real server: each member by itself, all in one round trip."""

from collections.abc import Callable
from typing import Any

import pytest

from queue_core.errors import ServerFault
from queue_core.keys import QueueKeys
from queue_core.outcomes import Word
from queue_core.plans import Step
from queue_core.verbs.claims import claim_batch
from queue_core.work.backoff import fixed
from queue_core.work.batches import partition, settle
from queue_core.work.serving import Policy
from queue_core.work.verdicts import Done, Failed, Verdict
from tests.builders import Builder, command
from tests.engine.steps import watched

Run = Callable[[Any], Any]
POLICY = Policy(fixed(60_000), max_attempts=3)


def test_a_batch_is_settled_in_one_round_trip(
    run: Run, q: QueueKeys, make: Builder, loaded: None
) -> None:
    ids = [make.pending().id for _ in range(20)]
    leases = run(claim_batch(q, 20, 60_000))
    steps: list[Step] = []
    verdicts: dict[bytes, Verdict] = dict.fromkeys(ids, Done())
    words = run(watched(settle(q, leases, verdicts, POLICY), steps))
    assert words == dict.fromkeys(ids, Word.ok)
    assert len(steps) == 1


@pytest.mark.planted
def test_row_20_one_members_fault_is_its_own(run: Run, q: QueueKeys, make: Builder) -> None:
    broken, stolen, done = (make.pending().id for _ in range(3))
    leases = run(claim_batch(q, 3, 60_000))
    run(command("DEL", q.row(broken)))
    run(command("SET", q.row(broken), "not a hash"))
    run(command("HSET", q.row(stolen), "attempts", "2"))
    verdicts: dict[bytes, Verdict] = {broken: Done(), stolen: Failed("x"), done: Done()}
    words = run(settle(q, leases, verdicts, POLICY))
    assert isinstance(words.pop(broken), ServerFault)
    assert words == {stolen: Word.stale, done: Word.ok}
    parts = partition(leases, verdicts, words)
    assert (parts.completed, parts.lost) == ((done,), (broken, stolen))


def test_an_empty_batch_asks_nothing(run: Run, q: QueueKeys) -> None:
    assert run(settle(q, [], {}, POLICY)) == {}
