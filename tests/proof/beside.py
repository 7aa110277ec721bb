"""What stands beside the jobs, told without a server: streams with their groups, and boards."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

from queue_core.outcomes import Word

Place = tuple[int, int]
"""Where a record stands: its ms and its tail."""


def shown(place: Place) -> bytes:
    """As the server prints it."""
    return b"%d-%d" % place


@dataclass
class Crew:
    """A consumer group: how far it has handed out, and who holds what after how many times."""

    last: Place
    held: dict[Place, tuple[bytes, int]] = field(default_factory=dict)

    def of(self, consumer: bytes) -> list[Place]:
        """What one of them holds."""
        return sorted(place for place, (who, _) in self.held.items() if who == consumer)


class Stream:
    """One stream. It is there once something was appended or a group was made."""

    def __init__(self) -> None:
        self.there = False
        self.top: Place = (0, 0)
        self.entries: dict[Place, tuple[bytes, ...]] = {}
        self.groups: dict[bytes, Crew] = {}
        self.parked: list[tuple[bytes, ...]] = []
        self.mark: bytes | None = None

    def append(self, place: Place, fields: tuple[bytes, ...]) -> Word:
        """A record, if it is younger than the top."""
        if place <= self.top:
            return Word.nonmonotonic
        self.there, self.top = True, place
        self.entries[place] = fields
        return Word.ok

    def between(self, low: Place, high: Place, size: int) -> list[Place]:
        """The places of the first records from one to another, both inside."""
        return [place for place in sorted(self.entries) if low <= place <= high][:size]

    def trim(self, kept: list[Place]) -> int:
        """Keep some; how many went."""
        gone = [place for place in self.entries if place not in kept]
        for place in gone:
            del self.entries[place]
        return len(gone)

    def make_group(self, name: bytes, from_start: bool) -> Word:
        """A group."""
        if name in self.groups:
            return Word.exists
        self.there = True
        self.groups[name] = Crew((0, 0) if from_start else self.top)
        return Word.ok

    def hand_out(self, name: bytes, consumer: bytes, size: int) -> list[Place]:
        """New records for one of the group."""
        crew = self.groups[name]
        fresh = [place for place in sorted(self.entries) if place > crew.last][:size]
        for place in fresh:
            crew.last = place
            crew.held[place] = (consumer, 1)
        return fresh

    def hand_again(self, name: bytes, consumer: bytes, size: int, after: Place) -> list[Place]:
        """What it holds already; what was trimmed is not counted as delivered."""
        crew = self.groups[name]
        again = [place for place in crew.of(consumer) if place > after][:size]
        for place in again:
            if place in self.entries:
                crew.held[place] = (consumer, crew.held[place][1] + 1)
        return again

    def take_over(self, name: bytes, consumer: bytes) -> list[Place]:
        """All that anybody holds; what was trimmed is let go."""
        crew = self.groups[name]
        crew.held = {place: one for place, one in crew.held.items() if place in self.entries}
        crew.held = {place: (consumer, times + 1) for place, (_, times) in crew.held.items()}
        return sorted(crew.held)

    def hold(self, name: bytes, consumer: bytes, places: list[Place]) -> list[Place]:
        """Go on holding; answers what is not held. What was trimmed is let go unseen."""
        crew, lost = self.groups[name], []
        for place in places:
            if crew.held.get(place, (b"", 0))[0] != consumer:
                lost.append(place)
            elif place not in self.entries:
                del crew.held[place]
        return lost

    def ack(self, name: bytes, places: list[Place]) -> int:
        """Let go; how many were held."""
        crew = self.groups[name]
        return sum(crew.held.pop(place, None) is not None for place in set(places))

    def park(self, name: bytes, consumer: bytes, place: Place, times: int, why: bytes) -> Word:
        """Give up."""
        crew = self.groups[name]
        if crew.held.get(place, (b"", 0))[0] != consumer:
            return Word.gone
        del crew.held[place]
        note = (b"py_place", shown(place), b"py_group", name, b"py_deliveries", b"%d" % times)
        self.parked.append((*note, b"py_reason", why, *self.entries.get(place, ())))
        return Word.ok

    def keyspace(self, name: bytes) -> dict[bytes, Any]:
        """Its keys, and what they must hold."""
        keys: dict[bytes, Any] = {}
        if self.there:
            entries = [(shown(place), self.entries[place]) for place in sorted(self.entries)]
            groups = {
                group: (shown(crew.last), {shown(p): one for p, one in crew.held.items()})
                for group, crew in self.groups.items()
            }
            keys[b"stream:" + name] = (entries, groups)
        if self.parked:
            keys[b"py:parked:" + name] = list(self.parked)
        if self.mark is not None:
            keys[b"stream:%b:archived" % name] = self.mark
        return keys


class Board:
    """A game's board, and the totals beside it, which decide."""

    def __init__(self) -> None:
        self.totals: dict[bytes, int] = {}
        self.scores: dict[bytes, int] = {}

    def fold(self, player: bytes, score: int) -> tuple[Word, str]:
        """The better one stays; nobody begins below nothing."""
        held = self.totals.get(player)
        rises = held is None or held < score
        if rises:
            self.totals[player] = max(score, 0) if held is None else score
        self.scores[player] = self.totals[player]
        return Word.ok if rises else Word.noop, str(self.totals[player])

    def rescore(self, player: bytes, wanted: int, expected: int) -> tuple[Word, str | None]:
        """Another score, if it is what was seen."""
        held = self.scores.get(player)
        if held is None:
            return Word.gone, None
        if held not in (wanted, expected):
            return Word.moved, str(held)
        self.totals[player] = self.scores[player] = wanted
        return Word.noop if held == wanted else Word.ok, str(wanted)

    def leave(self, player: bytes) -> int:
        """Off the board, by another hand; the total stays."""
        return int(self.scores.pop(player, None) is not None)

    def ranked(self) -> list[tuple[int, bytes, str]]:
        """Rank, player and score in board order; equal scores share a rank and stand in reverse
        order of the players' bytes."""
        order = sorted(self.scores, key=lambda player: (self.scores[player], player), reverse=True)
        above = [sum(other > self.scores[p] for other in self.scores.values()) for p in order]
        return [(1 + n, p, str(self.scores[p])) for n, p in zip(above, order, strict=True)]
