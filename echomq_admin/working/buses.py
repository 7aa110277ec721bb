"""The bus that a worker or pump of this project serves."""

from __future__ import annotations

import time
from collections.abc import Callable

from django.core.management.base import CommandError

from echomq_admin.choice import NoChoice, choose
from queue_core.bus import Bus, connect
from queue_core.errors import EchoMQError, FenceError, ForbiddenFault, InvalidError
from queue_core.work.trouble import LONGEST_MS


def serving(name: str | None, say: Callable[[str], None]) -> Bus:
    """A bus to act on, which `say` is told by its name and masked URL; waits for one that is not
    up yet. What waiting cannot mend ends the command: no bus that is named, a wrong URL, password
    or wire version."""
    try:
        choice = choose(name).require_named()
    except (NoChoice, InvalidError) as error:
        raise CommandError(str(error)) from None
    say(str(choice))
    said = False
    while True:
        try:
            return connect(choice.url)
        except (InvalidError, FenceError, ForbiddenFault) as error:
            raise CommandError(str(error)) from None
        except EchoMQError as error:
            if not said:
                say(f"Waiting for the bus: {error}")
            said = True
            time.sleep(LONGEST_MS / 5000)
