"""What a handler may answer. None means `done`; an exception means `failed` with its text."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TypeAlias


@dataclass(frozen=True, slots=True)
class Done:
    """It is done. `result` is what a flow's parent is told; without one, the job's own id."""

    result: bytes | None = None


@dataclass(frozen=True, slots=True)
class Failed:
    """The attempt failed: tried again on the policy's curve, or dead at the last attempt."""

    reason: str


@dataclass(frozen=True, slots=True)
class Later:
    """Not now: back to the schedule for `delay_ms`, at no cost of an attempt."""

    delay_ms: int


@dataclass(frozen=True, slots=True)
class Dead:
    """No attempt will help: dead at once."""

    reason: str


Verdict: TypeAlias = Done | Failed | Later | Dead
