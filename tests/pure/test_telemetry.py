"""What happens in the process reaches those who listen, and costs nothing without them."""

import logging
from collections.abc import Mapping
from typing import Any

import pytest

from queue_core import telemetry


def test_nobody_listens() -> None:
    telemetry.emit("test.nobody", job_id=b"x")


def test_each_listener_is_told_until_it_detaches() -> None:
    seen: list[tuple[int, str, Mapping[str, Any]]] = []
    first = telemetry.attach("test.told", lambda *told: seen.append((1, *told)))
    second = telemetry.attach("test.told", lambda *told: seen.append((2, *told)))
    telemetry.emit("test.told", duration_ms=5)
    telemetry.emit("test.other")
    first()
    first()
    telemetry.emit("test.told")
    second()
    telemetry.emit("test.told")
    assert seen == [
        (1, "test.told", {"duration_ms": 5}),
        (2, "test.told", {"duration_ms": 5}),
        (2, "test.told", {}),
    ]


@pytest.mark.parametrize("fault", [ValueError("broken"), SystemExit(1)])
def test_a_listener_that_raises_stops_nobody(
    caplog: pytest.LogCaptureFixture, fault: BaseException
) -> None:
    seen: list[str] = []

    def broken(_event: str, _values: Mapping[str, Any]) -> None:
        raise fault

    detach = [
        telemetry.attach("test.broken", broken),
        telemetry.attach("test.broken", lambda event, _values: seen.append(event)),
    ]
    with caplog.at_level(logging.ERROR):
        telemetry.emit("test.broken")
    for leave in detach:
        leave()
    assert seen == ["test.broken"]
    assert "a listener of test.broken failed" in caplog.text
