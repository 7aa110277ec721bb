"""Staying awake for an answer: for a moment, alone, and not again at once where it was in vain."""

import select
import socket
import threading
import time
from collections.abc import Iterator

import pytest

from queue_core import links
from queue_core.links import Vigil


@pytest.fixture
def pair() -> Iterator[tuple[select.poll, socket.socket]]:
    """A poll of one end, and the other end."""
    here, there = socket.socketpair()
    poll = select.poll()
    poll.register(here, select.POLLIN)
    with here, there:
        yield poll, there


def test_it_ends_when_the_answer_is_there(
    pair: tuple[select.poll, socket.socket], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(links, "AWAKE_S", 60.0)
    poll, there = pair
    threading.Timer(0.02, there.send, (b"x",)).start()
    vigil = Vigil()
    vigil.keep(poll)
    assert poll.poll(0)
    assert not vigil._sleep_until
    assert not vigil._lock.locked()


def test_after_one_in_vain_none_is_kept_for_a_while(
    pair: tuple[select.poll, socket.socket], monkeypatch: pytest.MonkeyPatch
) -> None:
    poll, _ = pair
    vigil = Vigil()
    monkeypatch.setattr(links, "ASLEEP_S", (60.0, 240.0))
    vigil._sleep_s = 60.0
    vigil.keep(poll)
    first = vigil._sleep_until
    assert first > time.monotonic() + 50
    monkeypatch.setattr(links, "AWAKE_S", 600.0)
    vigil.keep(poll)  # else it would last ten minutes
    monkeypatch.setattr(links, "AWAKE_S", 0.001)
    for _ in range(3):
        vigil._sleep_until = 0.0
        vigil.keep(poll)
    assert vigil._sleep_until - first > 170  # doubled each time, to four minutes at most
    assert vigil._sleep_s == 240.0


def test_the_first_of_two_gives_up_when_another_asks(
    pair: tuple[select.poll, socket.socket], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(links, "AWAKE_S", 60.0)
    poll, _ = pair
    vigil = Vigil()
    first = threading.Thread(target=vigil.keep, args=(poll,), daemon=True)
    first.start()
    while not vigil._lock.locked():
        time.sleep(0.001)
    monkeypatch.setattr(links, "ASLEEP_S", (60.0, 60.0))
    vigil.keep(poll)
    first.join(10)
    assert not first.is_alive()
    assert not vigil._lock.locked()
