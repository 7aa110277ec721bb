"""Events that a host publishes: flat, escaped, gated."""

import json
from collections.abc import Callable
from typing import Any

import pytest

from queue_core.bus import Bus
from queue_core.errors import InvalidError
from queue_core.keys import QueueKeys
from queue_core.verbs.events import publish

Run = Callable[[Any], Any]


def test_row_46_whatever_an_event_says_is_valid_json(
    run: Run, bus: Bus, q: QueueKeys, mint: Callable[[], bytes]
) -> None:
    job_id, text = mint(), 'a"b\\c\n\x00\x1b[2J é 🐙'
    messages = bus.listen([q.events])
    assert run(publish(q, "scored", job_id, {"player": text})) == 1
    channel, message = next(messages)
    messages.close()  # type: ignore[attr-defined]
    assert channel == q.events
    assert message.isascii()
    assert b"\x1b" not in message
    told = {"event": "scored", "job": job_id.decode(), "player": text}
    assert json.loads(message) == told


def test_nobody_listens(run: Run, q: QueueKeys, mint: Callable[[], bytes]) -> None:
    assert run(publish(q, "completed", mint())) == 0


@pytest.mark.parametrize("extras", [{"event": "x"}, {"job": "x"}, {"n": 1}])
def test_extras_are_texts_beside_event_and_job(
    q: QueueKeys, mint: Callable[[], bytes], extras: Any
) -> None:
    with pytest.raises(InvalidError):
        next(publish(q, "completed", mint(), extras))


def test_an_ill_formed_id_is_refused(q: QueueKeys) -> None:
    with pytest.raises(InvalidError):
        next(publish(q, "completed", b"nope"))
