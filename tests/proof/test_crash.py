"""Workers, a pump, producers and the server killed at random moments: nothing is lost."""

import logging
import secrets
from pathlib import Path

import pytest

from tests.proof.crash import crash
from tests.proof.hands import PUMPS, WORKERS

FIXED_SEED = 20_240_109
"""It brings on every kind of worker and pump, and kills a pump and the server among others."""
KILLS = 6

_log = logging.getLogger(__name__)


@pytest.mark.parametrize("number", [FIXED_SEED, secrets.randbits(32)], ids=["fixed", "fresh"])
def test_no_kill_loses_or_doubles_a_job(tmp_path: Path, number: int) -> None:
    _log.warning("kills are drawn with seed %d", number)
    found = crash(tmp_path, KILLS, str(number))
    assert found.completed > 20
    assert number != FIXED_SEED or found.kinds.keys() == {*WORKERS, *PUMPS}
