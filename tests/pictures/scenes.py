"""What the pictures show: the demo at play, and beside it queues in trouble."""

import random
from dataclasses import dataclass

from echomq_admin.workshop import cast
from queue_core import ids
from queue_core.bus import Bus
from queue_core.ids import Minter
from queue_core.keys import queue
from queue_core.reads.window import dead
from queue_core.verbs import admission, queues

INVOICES = queue("billing.invoices")
THUMBNAILS = queue("media.thumbnails")
PLAYED_S = 75.0
"""So long that messages have failed, waited on the curve and died, and rates have a history."""

_minter = Minter(700)


@dataclass(frozen=True)
class Shown:
    """What the pages of one thing show."""

    queue: bytes
    items: dict[str, bytes]


def set_trouble(bus: Bus) -> None:
    """A queue that somebody paused, and one whose jobs fall due with nothing promoting them."""
    dice = random.Random(11)
    for number in range(240):
        payload = b'{"invoice":"2026-%05d","customer":%d}' % (number, dice.randrange(10_000))
        bus.run(admission.enqueue(INVOICES, _minter.mint(), payload))
    for number in range(90):
        payload = b'{"image":"photo-%04d.jpg","sizes":[320,640,1280]}' % number
        wait_ms = dice.choice((1_000, 20_000, 3_600_000)) + dice.randrange(60_000)
        bus.run(admission.enqueue_in(THUMBNAILS, _minter.mint(), payload, wait_ms))
    bus.run(queues.pause(INVOICES))


def chosen(bus: Bus) -> Shown:
    """What the pages of one job and one board show, once the demo has played."""
    q = queue(cast.NOTIFY)
    graves = bus.run(dead(q)).value.rows
    job = graves[0].member if graves else b"JOB00000000000"
    game = cast.round_of(ids.host_ms(), 0)
    return Shown(cast.NOTIFY, {"job": job, "board": game})


NOTHING = Shown(cast.NOTIFY, {"job": b"JOB0NgWEfqGvjk", "board": b"GAM0NgWEfqGvjk"})
"""What the pages show where there is nothing."""
