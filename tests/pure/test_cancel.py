"""A token asks a handler to stop; a handler that looks is told why."""

import threading

import pytest

from queue_core.work.cancel import Cancelled, CancelToken


def test_a_fresh_token_stops_nothing() -> None:
    token = CancelToken()
    assert token.check() is None
    assert not token.wait(0)
    token.raise_if_cancelled()


def test_the_last_reason_stands() -> None:
    token = CancelToken()
    token.cancel("stop")
    assert token.check() == "stop"
    token.cancel()
    assert token.check() == ""
    with pytest.raises(Cancelled) as asked:
        token.raise_if_cancelled()
    assert asked.value.reason == ""


def test_who_waits_is_woken() -> None:
    token = CancelToken()
    woken: list[bool] = []
    waiting = threading.Thread(target=lambda: woken.append(token.wait(30)))
    waiting.start()
    token.cancel("stop")
    waiting.join(10)
    assert woken == [True]
