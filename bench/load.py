"""A queue far larger than any page may look at: rows, sets, lanes, dead, repeats and a board, all
made by the verbs that an application would call."""

import itertools
import random
import time
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from typing import Any

from queue_core import boards
from queue_core.bus import Bus
from queue_core.errors import EchoMQError
from queue_core.ids import EPOCH_MS, encode
from queue_core.keys import queue
from queue_core.plans import Plan
from queue_core.verbs import admission, claims, lanes, repeats, settle

Q = queue("bench")
GAME = b"GAM" + encode("GAM", 1 << 40)[3:]
IN_FLIGHT = 1000
"""Plans of one round trip; more would only grow the buffers on both sides."""

LANES = 5_000
LANE_JOBS = 100_000
DEAD = 20_000
HELD = 2_000
RETRYING = 5_000
REPEATS = 500
PLAYERS = 100_000
HOUR_MS = 3_600_000
ERROR = b"HTTP 502: bad gateway"
SEED = 7


@dataclass(frozen=True)
class Loaded:
    """What was put there, and the ids that pages of one thing show."""

    counts: dict[str, int]
    seconds: float
    job: bytes
    board: bytes


def fresh_ids(namespace: str, until_ms: int, over_ms: int, count: int) -> Iterator[bytes]:
    """Ids minted evenly over a stretch of time that ends at `until_ms`, in mint order."""
    for at in range(count):
        minted = until_ms - over_ms + over_ms * at // count
        yield encode(namespace, (minted - EPOCH_MS) << 22 | at & 0x3FFFFF)


def load(bus: Bus, jobs: int, say: Callable[[str], None]) -> Loaded:
    """Put `jobs` pending and as many scheduled jobs on the bus, and the rest in proportion."""
    began = time.monotonic()
    dice = random.Random(SEED)
    now = int(time.time() * 1000)
    share = jobs / 1_000_000
    _gave_up(bus, now - 40 * HOUR_MS, round(DEAD * share), round(RETRYING * share), dice)
    _held(bus, now - 30 * HOUR_MS, round(HELD * share))
    say("dead, retrying and held jobs are in")
    _pour(bus, _lane_jobs(now - 20 * HOUR_MS, round(LANE_JOBS * share), dice))
    say("lanes are in")
    first = b""
    ids = fresh_ids("JOB", now - 10 * HOUR_MS, 2 * HOUR_MS, jobs)
    for batch in batched(ids, IN_FLIGHT):
        first = first or batch[0]
        bus.run(admission.enqueue_many(Q, [(job, _payload(dice)) for job in batch]))
    say("pending jobs are in")
    _pour(bus, _scheduled(now, jobs, dice))
    say("scheduled jobs are in")
    _pour(bus, (repeats.register(Q, f"r{n}", HOUR_MS, b"{}", n * 1000) for n in range(REPEATS)))
    _pour(
        bus,
        (
            boards.fold(GAME, encode("PLR", n << 22), dice.randrange(600))
            for n in range(round(PLAYERS * share))
        ),
    )
    counts = {
        "pending": jobs, "scheduled": jobs, "in lanes": round(LANE_JOBS * share),
        "dead": round(DEAD * share), "active": round(HELD * share),
        "repeats": REPEATS, "players": round(PLAYERS * share),
    }  # fmt: skip
    return Loaded(counts, time.monotonic() - began, first, GAME)


def _payload(dice: random.Random) -> bytes:
    return b'{"chat":%d,"text":"round %d is open, %d players in"}' % (
        dice.randrange(10**9),
        dice.randrange(10**6),
        dice.randrange(10**3),
    )


def _scheduled(now: int, count: int, dice: random.Random) -> Iterator[Plan[Any]]:
    """Most within a day, some late, a few far out."""
    for job in fresh_ids("JOB", now - HOUR_MS, 6 * HOUR_MS, count):
        kind = dice.random()
        if kind < 0.01:
            at = now - dice.randrange(HOUR_MS)
        elif kind < 0.9:
            at = now + dice.randrange(24 * HOUR_MS)
        else:
            at = now + dice.randrange(30 * 24 * HOUR_MS)
        yield admission.enqueue_at(Q, job, _payload(dice), at)


def _lane_jobs(until_ms: int, count: int, dice: random.Random) -> Iterator[Plan[Any]]:
    """A few lanes are long, most are short."""
    groups = [encode("PRT", n << 22) for n in range(LANES)]
    for job in fresh_ids("JOB", until_ms, HOUR_MS, count):
        group = groups[min(int(dice.paretovariate(0.6)) - 1, LANES - 1)]
        yield admission.lane_enqueue(Q, group, job, _payload(dice))
    for group in groups[:200]:
        yield lanes.limit(Q, group, 3)
        yield lanes.weight(Q, group, 2)


def _gave_up(bus: Bus, until_ms: int, dead: int, retrying: int, dice: random.Random) -> None:
    """Jobs that failed: some for good, some wait on the curve."""
    ids = list(fresh_ids("JOB", until_ms, HOUR_MS, dead + retrying))
    for start in range(0, len(ids), claims.MOST):
        part = ids[start : start + claims.MOST]
        bus.run(admission.enqueue_many(Q, [(job, _payload(dice)) for job in part]))
        leases = bus.run(claims.claim_batch(Q, len(part), HOUR_MS))
        plans = []
        for at, lease in enumerate(leases, start):
            attempts = 1 if at < dead else 9
            wait_ms = dice.randrange(HOUR_MS)
            plans.append(settle.retry(Q, lease.id, lease.token, wait_ms, attempts, ERROR))
        _pour(bus, plans)


def _held(bus: Bus, until_ms: int, count: int) -> None:
    """Jobs that a worker has in hand for a day."""
    for batch in batched(fresh_ids("JOB", until_ms, HOUR_MS, count), claims.MOST):
        bus.run(admission.enqueue_many(Q, [(job, b"{}") for job in batch]))
        bus.run(claims.claim_batch(Q, len(batch), 24 * HOUR_MS, b"bench"))


def _pour(bus: Bus, plans: Iterable[Plan[Any]]) -> None:
    """Run plans `IN_FLIGHT` at a time. Raises the first fault."""
    for batch in batched(plans, IN_FLIGHT):
        for answer in bus.run_all(batch):
            if isinstance(answer, EchoMQError):
                raise answer


def batched(items: Iterable[Any], size: int) -> Iterator[list[Any]]:
    """Lists of at most `size` items, in order."""
    rest = iter(items)
    while batch := list(itertools.islice(rest, size)):
        yield batch
