"""The private houses whose pages are taken: one with the demo at play, one on an empty bus."""

import os
import tempfile
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

from echomq_admin.house.house import House
from queue_core.bus import connect
from queue_core.embedded import Embedded
from tests.addresses import every_address
from tests.pictures.scenes import NOTHING, Shown, chosen, set_trouble
from tests.ports import free_port

Say = Callable[[str], None]


@contextmanager
def playing(say: Say) -> Iterator[House]:
    """A house with worker, pump and demo load, and queues in trouble beside the demo's."""
    with tempfile.TemporaryDirectory(prefix="emq-pictures-") as name:
        house = House(Path(name), free_port(), None, say)
        try:
            house.start()
            bus = connect(house.bus_url)
            set_trouble(bus)
            bus.close()
            yield house
        finally:
            house.stop()


def paths_of(house: House) -> dict[str, str]:
    """The pages of a house that has played for a while."""
    bus = connect(house.bus_url)
    try:
        return _paths(chosen(bus))
    finally:
        bus.close()


@contextmanager
def idle(say: Say) -> Iterator[tuple[House, dict[str, str]]]:
    """A house attached to a bus that nobody has used, where the settings name one queue."""
    with tempfile.TemporaryDirectory(prefix="emq-pictures-") as name:
        server = Embedded(Path(name) / "valkey")
        server.start()
        os.environ["ECHOMQ_QUEUES"] = NOTHING.queue.decode()
        house = House(Path(name), free_port(), server.url, say)
        try:
            house.start()
            yield house, _paths(NOTHING)
        finally:
            del os.environ["ECHOMQ_QUEUES"]
            house.stop()
            server.kill()


def _paths(shown: Shown) -> dict[str, str]:
    return every_address("main", shown.queue, shown.items)
