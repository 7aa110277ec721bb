"""The time axis around now: how far it reaches and where a moment lies on it.

x = sign(t) * log10(1 + |t| / KNEE_MS), t the distance from now in ms. Around now it is nearly
linear, so a second can be told from two; further out each decade is as wide as the last.
"""

from __future__ import annotations

import math

KNEE_MS = 5_000

REACHES_MS = (
    60_000,
    300_000,
    900_000,
    3_600_000,
    21_600_000,
    86_400_000,
    604_800_000,
    2_592_000_000,
)
"""How far back the axis may reach: 1 m, 5 m, 15 m, 1 h, 6 h, 1 d, 7 d, 30 d."""


def place(t_ms: float) -> float:
    """Where a distance from now lies, in decades; negative behind now."""
    return math.copysign(math.log10(1 + abs(t_ms) / KNEE_MS), t_ms)


def moment(x: float) -> float:
    """The distance from now, in ms, that lies at x."""
    return math.copysign(KNEE_MS * (10 ** abs(x) - 1), x)


def reach_back(lateness_ms: float | None) -> int:
    """The shortest reach with room to spare for a lateness; the shortest where nothing is late."""
    wanted = (lateness_ms or 0) * 1.25
    return next((reach for reach in REACHES_MS if reach >= wanted), REACHES_MS[-1])
