"""A backoff policy as a curve, its jitter as a band, and the jobs that wait as points on it."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

from echomq_admin.live.page import to_path
from echomq_admin.templatetags.payload import preview
from queue_core.reads.retries import Waiting
from queue_core.work.backoff import Backoff, exponential, fixed, jitter

COLUMNS = 16
"""Failures drawn one by one; what follows is the same cap again."""


@dataclass(frozen=True, slots=True)
class Policy:
    """A policy under trial: `kind` is fixed or exponential, `base` and `cap` are ms, `tries` the
    attempts before dead, `jitter` whether a whole number from 0 to the curve is drawn."""

    kind: str
    base: int
    cap: int
    tries: int
    jitter: bool

    @property
    def curve(self) -> Backoff:
        """The curve without jitter."""
        return fixed(self.base) if self.kind == "fixed" else exponential(self.base, self.cap)

    @property
    def backoff(self) -> Backoff:
        """What a worker would be given."""
        return jitter(self.curve) if self.jitter else self.curve

    def top(self, failures: int) -> int:
        """The longest wait after so many failures, in ms."""
        return self.curve.ceiling(failures)

    @property
    def waits(self) -> list[int]:
        """The longest wait after each failure that is not the last."""
        return [self.top(failures) for failures in range(1, self.tries)]

    @property
    def worst_ms(self) -> int:
        """From the first failure to dead, waits alone, at most."""
        return sum(self.waits)

    @property
    def mean_ms(self) -> float:
        """The same on average."""
        return self.worst_ms / 2 if self.jitter else float(self.worst_ms)


def misfit(policy: Policy, job: Waiting) -> str:
    """Why a waiting job cannot have been given its wait by this policy; empty where it can.

    Only what is certain counts: what is left of the wait was given at least; with a known claim
    nothing longer than the time since then was given.
    """
    top = policy.top(job.failures)
    if job.left_ms > top:
        return "above"
    if not policy.jitter and job.most_ms is not None and job.most_ms < top:
        return "below"
    return "spent" if job.failures >= policy.tries else ""


def points(policy: Policy, waiting: Iterable[Waiting]) -> list[dict[str, Any]]:
    """Jobs by the failure they wait after: `run` when they run, `most` the longest they can have
    been given or null, `off` why they do not fit."""
    return [
        {
            "key": to_path(job.member),
            "id": preview(job.member, 40),
            "n": job.failures,
            "run": round(float(job.score)),
            "most": job.most_ms,
            "off": misfit(policy, job),
        }
        for job in waiting
    ]


def column(policy: Policy, failures: int) -> dict[str, int | float]:
    """One step of the curve; the band of full jitter and its middle half follow from `top`."""
    return {"n": failures, "top": policy.top(failures)}


def lines(policy: Policy) -> dict[str, Any]:
    """A policy's steps and its whole way to dead."""
    shown = min(policy.tries - 1, COLUMNS)
    return {
        "steps": [column(policy, failures) for failures in range(1, shown + 1)],
        "more": max(0, policy.tries - 1 - shown),
        "tries": policy.tries,
        "jitter": policy.jitter,
        "waits": policy.waits,
        "worst": policy.worst_ms,
        "mean": policy.mean_ms,
    }
