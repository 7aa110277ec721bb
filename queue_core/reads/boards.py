"""Boards of codemojex: which there are, who leads, who stands beside a player."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise

from queue_core import keys
from queue_core.boards import MAX_TOP, shown_score
from queue_core.errors import EchoMQError, UnavailableError, UnknownOutcomeError
from queue_core.numbers import whole
from queue_core.plans import Batch, Call, Plan
from queue_core.reads.snapshot import Snapshot
from queue_core.scripts import script

TOP = 100
AROUND = 4
SCAN_PAGE = 4_000
"""Keys walked by one step of the search for games: about a millisecond."""

_BOARD = script("reads/board")
_PAGE = script("reads/board_page")
_SCAN = script("reads/board_scan")


@dataclass(frozen=True, slots=True)
class Standing:
    """A player's place. Players of one score share a rank; `score` is its text as the server
    prints it, minus zero as 0; `held` is the text that a re-score has to expect."""

    rank: int
    player: bytes
    held: str

    @property
    def score(self) -> str:
        """The score to the digit; minus zero reads 0."""
        return shown_score(self.held.encode("ascii"))


@dataclass(frozen=True, slots=True)
class Board:
    """`there` is False where no such board exists; a set without members cannot exist. `rank` is
    that of the player asked for, None where it has none; `around` are its neighbours. `refused`
    are the writing commands that our login may not use on the board."""

    there: bool
    players: int
    top: tuple[Standing, ...]
    rank: int | None
    around: tuple[Standing, ...]
    refused: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Game:
    """What the game's own keys say; None where one could not be read."""

    started: bool | None
    closed: bool | None
    players: int | None

    @property
    def heard_of(self) -> bool:
        """Whether any key of the game is there, so that no board means nobody scored yet."""
        return bool(self.started or self.closed or self.players)


@dataclass(frozen=True, slots=True)
class Games:
    """One step of a scan: where to go on (b"0" when a pass is over) and the games it met."""

    cursor: bytes
    games: tuple[bytes, ...]


def standings(flat: Sequence[bytes], first_rank: int, first_place: int) -> tuple[Standing, ...]:
    """Players in board order as ranks: equal scores share one, and the next counts everybody
    above it. `first_place` counts from 0, `first_rank` is the rank of the first."""
    held = [
        (player, text.decode("ascii")) for player, text in zip(flat[::2], flat[1::2], strict=True)
    ]
    if not held:
        return ()
    ranks = [first_rank]
    for at, ((_, above), (_, below)) in enumerate(pairwise(held), first_place + 2):
        ranks.append(ranks[-1] if float(above) == float(below) else at)
    return tuple(Standing(rank, *one) for rank, one in zip(ranks, held, strict=True))


def board(
    game: bytes, top: int = TOP, player: bytes = b"", around: int = AROUND
) -> Plan[Snapshot[Board]]:
    """The head of a board and the neighbours of one player. One round trip."""
    reply = yield _BOARD.call((keys.board(game),), top, player, around)
    if reply[0] == b"absent":
        return Snapshot(Board(False, 0, (), None, ()), reply[1])
    _, now, players, first, rank, place, opening, beside, refused = reply
    complete = players * 2 <= len(first)
    value = Board(
        there=True,
        players=players,
        top=standings(first, 1, 0),
        rank=None if rank is None else int(rank),
        around=standings(beside, int(opening), int(place)),
        refused=tuple(name.decode("ascii") for name in refused),
    )
    why = "" if complete else f"The first {len(first) // 2} of {players} players."
    return Snapshot(value, now, complete, why)


def page(game: bytes, first: int, size: int = TOP) -> Plan[Snapshot[tuple[Standing, ...]]]:
    """Up to `size` (1 to 1000) players in board order from the place `first` on, counted from 0.
    Incomplete where the board goes on behind them. One round trip. Raises `InvalidError` for a
    number out of range."""
    whole(first, "a place", 0)
    whole(size, "a page of players", most=MAX_TOP)
    at_ms, players, rank, flat = yield _PAGE.call((keys.board(game),), first, size)
    found = standings(flat, rank, first)
    left = players - first - len(found)
    why = f"{left} players stand behind these" if left > 0 else ""
    return Snapshot(found, at_ms, left <= 0, why)


def game_facts(game: bytes) -> Plan[Game]:
    """Whether a game has started, is closed and has players; what is refused reads None. One
    round trip. Raises the fault of a bus that does not answer."""
    replies = yield Batch(
        (
            Call("EXISTS", (keys.game(game, b"started"),)),
            Call("EXISTS", (keys.game(game, b"closed"),)),
            Call("SCARD", (keys.game(game, b"players"),)),
        )
    )
    for reply in replies:
        if isinstance(reply, (UnavailableError, UnknownOutcomeError)):
            raise reply
    started, closed, players = replies
    return Game(
        None if isinstance(started, EchoMQError) else bool(started),
        None if isinstance(closed, EchoMQError) else bool(closed),
        None if isinstance(players, EchoMQError) else int(players),
    )


def games(cursor: bytes = b"0", node: str | None = None, page: int = SCAN_PAGE) -> Plan[Games]:
    """Walk on from `cursor` on one primary, looking for boards."""
    call = _SCAN.call((), cursor, page)
    reply = yield Call(call.name, (), call.args, call.script, node)
    return Games(reply[0], tuple(reply[1:]))
