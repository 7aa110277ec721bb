"""`python -m tests.proof.skewed MS MODULE ...`: a module as its own process, under a wall clock
that is so many ms wrong.

Python reads the wall clock through the module `time`, so what is replaced there before the engine
is loaded is what every line of the engine sees; the monotonic clock stays.
"""

from __future__ import annotations

import runpy
import sys
import time


def skew(ms: int) -> None:
    """Shift the wall clock of this process."""
    true_s, true_ns = time.time, time.time_ns
    time.time = lambda: true_s() + ms / 1000
    time.time_ns = lambda: true_ns() + ms * 1_000_000


if __name__ == "__main__":
    _, shift, module, *words = sys.argv
    skew(int(shift))
    sys.argv = [module, *words]
    runpy.run_module(module, run_name="__main__", alter_sys=True)
