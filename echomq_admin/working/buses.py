"""The bus that a worker or pump of this project serves."""

from __future__ import annotations

import time
from collections.abc import Callable

from django.core.management.base import CommandError

from echomq_admin import config
from queue_core.bus import Bus, connect
from queue_core.errors import EchoMQError, FenceError, ForbiddenFault, InvalidError
from queue_core.work.trouble import LONGEST_MS


def url_of(name: str | None) -> str:
    """The URL of a configured bus, the first by default."""
    buses = config.buses()
    chosen = name or next(iter(buses))
    if chosen not in buses:
        raise CommandError(f"No bus is called {chosen}; there are {', '.join(buses)}.")
    setting = buses[chosen]
    return str(setting["url"] if isinstance(setting, dict) else setting)


def serving(name: str | None, say: Callable[[str], None]) -> Bus:
    """A bus to act on; waits for one that is not up yet. What waiting cannot mend ends the
    command: a wrong URL, password or wire version."""
    url, said = url_of(name), False
    while True:
        try:
            return connect(url)
        except (InvalidError, FenceError, ForbiddenFault) as error:
            raise CommandError(str(error)) from None
        except EchoMQError as error:
            if not said:
                say(f"Waiting for the bus: {error}")
            said = True
            time.sleep(LONGEST_MS / 5000)
