"""What a queue needs a person for, as flags: a glyph, a word, and since when.

Each is drawn from facts that this process saw and never from silence alone: a queue nobody has
watched for a while carries no flag that time must prove.
"""

from __future__ import annotations

from dataclasses import dataclass

from echomq_admin.live.scene import Scene
from queue_core.reads.sample import Sample

PROOF_MS = 5_000
"""How long a late job must stay the latest before nothing is said to be promoting."""

FLAT_PROOF_MS = 15_000
"""How long the head of flat pending must stand, while others finish, before no flat consumer."""


@dataclass(frozen=True, slots=True)
class Flag:
    """A sign beside a queue. `rank` orders the wall worst first, 1 the worst. `since_ms` is drawn
    behind the word as `form` of `when` has it: as an age for `span`, else as a moment."""

    icon: str
    word: str
    rank: int
    since_ms: int | None = None
    form: str = "clock"

    @property
    def joint(self) -> str:
        """The word between the sign and its time."""
        return "for" if self.form == "span" else "since"


NO_FLAT_CONSUMER = Flag("noworker", "no flat consumer", 3)


def _missing(sample: Sample) -> Flag | None:
    """Who should work and does not. Silence is told by the last heartbeat alone: what a killed
    worker still holds, or that nothing waits just now, hides nothing. Where none ever signed in,
    one of the Elixir bus may work unseen: that needs jobs that wait and nobody who holds any."""
    heard = sample.last_heard_ms
    if sample.workers == 0 and heard is not None:
        return Flag("noworker", "no worker heard", 2, heard, "span")
    if sample.workers == 0 and sample.active == 0 and sample.waiting:
        return Flag("noworker", "no workers", 2)
    if sample.workers and sample.silent:
        word = f"{sample.silent:,} of {sample.workers + sample.silent:,} workers silent"
        return Flag("noworker", word, 4, heard, "span")
    return None


def _nothing_promotes(scene: Scene, queue: bytes, at_ms: int) -> bool:
    stand = scene.standing_due(queue)
    if stand is None or not isinstance(stand.value, float):
        return False
    return at_ms - stand.since_ms >= PROOF_MS and at_ms - stand.value >= PROOF_MS


def _no_flat_consumer(scene: Scene, queue: bytes, sample: Sample, at_ms: int) -> bool:
    stand = scene.standing_head(queue)
    if stand is None or at_ms - stand.since_ms < FLAT_PROOF_MS:
        return False
    return stand.completed is not None and (sample.completed or 0) > stand.completed


def unserved(scene: Scene, queue: bytes, *, flat: bool) -> Flag | None:
    """The one sign of why nobody claims what waits, flat or in lanes: no worker is heard of, or,
    of flat pending, none of those that are takes it. None where neither is known, or it is paused.
    """
    snapshot = scene.sample(queue)
    if snapshot is None or snapshot.value.paused:
        return None
    if not snapshot.value.workers:
        return _missing(snapshot.value)
    alone = flat and _no_flat_consumer(scene, queue, snapshot.value, snapshot.at_ms)
    return NO_FLAT_CONSUMER if alone else None


def flags(scene: Scene, queue: bytes) -> tuple[Flag, ...]:
    """The signs of one queue by its last sample, worst first."""
    snapshot = scene.sample(queue)
    if snapshot is None:
        return ()
    sample = snapshot.value
    found = []
    if sample.paused:
        since, who = scene.paused_since(queue), scene.paused_by(queue)
        found.append(Flag("pause", f"paused by {who}" if who else "paused", 3, since))
    missing = _missing(sample)
    if missing is not None and (missing.since_ms is not None or not sample.paused):
        found.append(missing)
    served = sample.workers != 0 and not sample.paused
    if served and _no_flat_consumer(scene, queue, sample, snapshot.at_ms):
        found.append(NO_FLAT_CONSUMER)
    if _nothing_promotes(scene, queue, snapshot.at_ms):
        found.append(Flag("stuck", "nothing promoting", 2))
    if any(fault.kind == "forbidden" for fault in sample.faults):
        found.append(Flag("lock", "not all permitted", 4))
    if any(fault.kind == "wrong-type" for fault in sample.faults):
        found.append(Flag("warn", "wrong type", 1))
    return tuple(sorted(found, key=lambda flag: flag.rank))
