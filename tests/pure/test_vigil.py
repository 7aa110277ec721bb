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
    assert time.monotonic() >= vigil._sleep_until


def test_after_one_in_vain_none_is_kept_for_a_while(
    pair: tuple[select.poll, socket.socket], monkeypatch: pytest.MonkeyPatch
) -> None:
    poll, _ = pair
    vigil = Vigil()
    vigil.keep(poll)
    assert vigil._sleep_until > time.monotonic() - links.ASLEEP_S
    vigil._sleep_until = time.monotonic() + 60
    monkeypatch.setattr(links, "AWAKE_S", 60.0)
    vigil.keep(poll)  # else it would last a minute


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
    monkeypatch.setattr(links, "ASLEEP_S", 60.0)
    vigil.keep(poll)
    first.join(10)
    assert not first.is_alive()
    assert not vigil._lock.locked()
