"""How a metronome deals its idle hands out, without a server."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import count
from typing import cast

import pytest

from queue_core.errors import InvalidError
from queue_core.work.rounds import Station, deal, named


class Asking:
    """A station as far as hands are dealt to it."""

    def __init__(self, room: int, served: int = 0) -> None:
        self.room = room
        self.served = served


def dealt(idle: int, *stations: Asking, places: Iterator[int] | None = None) -> list[int]:
    found = deal(idle, cast("list[Station]", stations), places or count(1))
    return [found.get(cast("Station", one), 0) for one in stations]


@pytest.mark.parametrize(
    ("idle", "rooms", "shares"),
    [
        (0, [9, 9], [0, 0]),
        (1, [9, 9], [1, 0]),
        (5, [9, 9], [3, 2]),
        (5, [1, 9], [1, 4]),
        (5, [1, 2], [1, 2]),
        (3, [9, 9, 9, 9], [1, 1, 1, 0]),
    ],
)
def test_one_by_one_as_long_as_there_is_room(
    idle: int, rooms: list[int], shares: list[int]
) -> None:
    assert dealt(idle, *map(Asking, rooms)) == shares


def test_who_waited_longest_is_first() -> None:
    stations = [Asking(9) for _ in range(5)]
    places = count(1)
    turns = [dealt(2, *stations, places=places) for _ in range(5)]
    assert [sum(of_one) for of_one in zip(*turns, strict=True)] == [2] * 5
    assert turns[0] == [1, 1, 0, 0, 0]
    assert turns[1] == [0, 0, 1, 1, 0]


def test_handlers_are_of_one_kind_and_of_good_names() -> None:
    async def awaited(_task: object) -> None: ...

    def plain(_task: object) -> None: ...

    assert named({"a": plain, b"b": plain}) == ({b"a": plain, b"b": plain}, False)
    assert named({"a": awaited}) == ({b"a": awaited}, True)
    for wrong in ({}, {"a": plain, "b": awaited}, {"a}": plain}):
        with pytest.raises(InvalidError):
            named(wrong)
