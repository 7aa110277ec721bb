"""The warden ends what it holds when its own parent is gone, on every system."""

import os
import signal
import subprocess
import sys
import time

from tests.house.running import WITHIN_S, lives

_PARENT = """
import os, subprocess, sys
from echomq_admin.house.warden import Warden
warden = Warden()
warden.start()
ward, freed = (subprocess.Popen(["sleep", "60"]) for _ in range(2))
warden.hold(ward.pid)
warden.hold(freed.pid)
warden.release(freed.pid)
print(ward.pid, freed.pid, flush=True)
os.kill(os.getpid(), 9)
"""


def test_a_ward_dies_with_the_supervisor_and_a_released_one_does_not() -> None:
    parent = subprocess.Popen([sys.executable, "-c", _PARENT], stdout=subprocess.PIPE, text=True)
    assert parent.stdout
    ward, freed = map(int, parent.stdout.readline().split())
    parent.wait()
    deadline = time.monotonic() + WITHIN_S
    while lives(ward) and time.monotonic() < deadline:
        time.sleep(0.01)
    assert not lives(ward)
    assert lives(freed)
    os.kill(freed, signal.SIGKILL)
    parent.stdout.close()
