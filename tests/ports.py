"""Loopback ports for servers of tests. They lie below those that a system gives to whoever calls,
or a line that another test opens could take one before its server does, and each process that
runs tests side by side has a range of its own."""

from __future__ import annotations

import itertools
import os
import random
import socket

EACH = 1_500
FIRST = 18_000 + EACH * (int(os.environ.get("PYTEST_XDIST_WORKER", "gw0")[2:]) % 8)

_turn = itertools.cycle(random.sample(range(FIRST, FIRST + EACH), EACH))


def free_ports(count: int) -> list[int]:
    """So many that nobody listens on now."""
    return list(itertools.islice(filter(_is_free, _turn), count))


def free_port() -> int:
    """One of them."""
    return free_ports(1)[0]


def _is_free(port: int) -> bool:
    try:
        socket.create_server(("127.0.0.1", port)).close()
    except OSError:
        return False
    return True
