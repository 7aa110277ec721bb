"""What the log says of refusals: nothing of each, one line at each turn of a bus."""

from __future__ import annotations

import logging
from collections.abc import Callable, Iterator
from typing import Any

import pytest
from django.test import Client

from echomq_admin import buses
from echomq_admin.live.page import to_path
from queue_core.bus import Bus
from queue_core.embedded import Embedded
from queue_core.keys import QueueKeys
from tests.builders import Builder, command

JSON = {"Accept": "application/json"}
DEAD = "redis://127.0.0.1:1/0"


@pytest.fixture
def said(
    site: Any, caplog: pytest.LogCaptureFixture, monkeypatch: pytest.MonkeyPatch
) -> Iterator[Callable[[], list[str]]]:
    """Lines of the console's and of Django's log since the last look. Every bus is tried again
    at once, so that its turns can be seen."""
    buses.close_all()
    monkeypatch.setattr(buses, "FIRST_WAIT_S", 0.0)
    monkeypatch.setattr(buses, "LONGEST_WAIT_S", 0.0)
    caplog.set_level(logging.INFO)
    logging.getLogger("django.request").setLevel(logging.INFO)

    def taken() -> list[str]:
        lines = [
            record.getMessage()
            for record in caplog.records
            if record.name.startswith(("echomq_admin", "django.request"))
        ]
        caplog.clear()
        return lines

    yield taken
    logging.getLogger("django.request").setLevel(logging.ERROR)
    buses.close_all()


@pytest.fixture
def act(client_of: Callable[[Any], Client], ada: Any, q: QueueKeys) -> Callable[..., int]:
    """The status that Ada's press of a button is answered with."""
    browser = client_of(ada)

    def pressed(action: str = "pause_queue", **more: str) -> int:
        asked = {"bus": "main", "queue": to_path(q.name), **more}
        return browser.post(f"/act/{action}", asked, headers=JSON).status_code

    return pressed


def test_a_bus_that_does_not_answer_is_told_at_each_turn(
    said: Callable[[], list[str]], site: Any, act: Callable[..., int], server: Embedded
) -> None:
    site.ECHOMQ_BUSES = {"main": DEAD}
    assert [act() for _ in range(5)] == [503] * 5
    (line,) = said()
    assert line.startswith("bus main does not serve: ")

    # The same bus, there again: by the breaker's own name and address.
    breaker = buses._breakers[("main", DEAD)]
    breaker.worked()
    breaker.worked()
    assert said() == ["bus main serves again"]
    assert act() == 503
    assert len(said()) == 1


def test_a_refusal_is_no_line(
    said: Callable[[], list[str]], act: Callable[..., int], make: Builder, bus: Bus, site: Any
) -> None:
    held = make.active().id
    bus.run(command("SET", make.q.lock(held), "x"))
    dead = to_path(make.dead().id)
    assert act("run_now", item=to_path(make.absent().id)) == 404
    assert act("run_now", item=dead) == 409
    assert act("remove_job", item=to_path(held), confirm="remove", expect="active") == 423
    assert act("reschedule", item=dead, at_ms="soon") == 422
    site.ECHOMQ_READ_ONLY = True
    assert act() == 403
    assert said() == []


def test_probes_and_payloads_too(
    said: Callable[[], list[str]],
    site: Any,
    ada: Any,
    client_of: Callable[[Any], Client],
    q: QueueKeys,
) -> None:
    site.ECHOMQ_BUSES = {"main": DEAD}
    browser = client_of(ada)
    where = f"/bus/main/queue/{to_path(q.name)}/job/~YQ/payload"
    for _ in range(3):
        assert browser.get("/health/buses").status_code == 503
        assert browser.get(where).status_code == 503
    assert not [line for line in said() if line.startswith("Service Unavailable")]
