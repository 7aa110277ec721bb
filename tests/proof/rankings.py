"""The verbs of boards, in the same shape as the other verbs."""

from __future__ import annotations

from random import Random

from queue_core import boards, keys
from queue_core.reads import boards as board_reads
from tests.proof.beside import Board
from tests.proof.world import World, command, verb

PLAYERS = [b"ann", b"bob", b"cid", b"d\xff", b"eve"]


def _pick(w: World, hand: Random) -> tuple[bytes, Board, bytes]:
    game = hand.choice(list(w.boards))
    return game, w.boards[game], hand.choice(PLAYERS)


@verb(2)
def board_fold(w: World, hand: Random) -> None:
    game, board, player = _pick(w, hand)
    score = hand.choice([-3, 0, 1, 2, 300, 2**53])
    plan = boards.fold(game, player, score)
    w.do(f"fold {game!r} {player!r} {score}", plan, board.fold(player, score))


@verb(2)
def board_rescore(w: World, hand: Random) -> None:
    game, board, player = _pick(w, hand)
    wanted, expected = (
        hand.choice([-1, 0, 2, 300]),
        hand.choice([0, 1, board.scores.get(player, 7)]),
    )
    plan = boards.rescore(game, player, wanted, str(expected))
    answer = board.rescore(player, wanted, expected)
    w.do(f"rescore {game!r} {player!r} {wanted} {expected}", plan, answer)


@verb(1)
def board_leave(w: World, hand: Random) -> None:
    """Somebody takes a player off the board."""
    game, board, player = _pick(w, hand)
    plan = command("ZREM", keys.board(game), player)
    w.do(f"ZREM {game!r} {player!r}", plan, board.leave(player))


@verb(1)
def board_top(w: World, hand: Random) -> None:
    game, board, _ = _pick(w, hand)
    size = hand.choice([1, 3, 10])
    expected = [(player, score) for _, player, score in board.ranked()[:size]]
    plan = boards.top(game, size)
    w.do(f"top {game!r} {size}", plan, expected, lambda found: found.value)


@verb(1)
def board_standing(w: World, hand: Random) -> None:
    """The head, and who stands around a player."""
    game, board, player = _pick(w, hand)
    ranked = board.ranked()
    at = next((n for n, (_, one, _) in enumerate(ranked) if one == player), None)
    around = [] if at is None else ranked[max(0, at - 1) :][:3]
    expected = (len(ranked), ranked[:3], None if at is None else ranked[at][0], around)
    plan = board_reads.board(game, 3, player, 1)
    w.do(f"board {game!r} {player!r}", plan, expected, lambda found: _told(found.value))


@verb(1)
def board_page(w: World, hand: Random) -> None:
    game, board, _ = _pick(w, hand)
    first, size = hand.randint(0, 5), hand.randint(1, 3)
    expected = board.ranked()[first:][:size]
    plan = board_reads.page(game, first, size)
    w.do(f"page {game!r} {first} {size}", plan, expected, lambda found: _ranks(found.value))


def _ranks(standings: tuple[board_reads.Standing, ...]) -> list[tuple[int, bytes, str]]:
    return [(one.rank, one.player, one.score) for one in standings]


def _told(seen: board_reads.Board) -> object:
    return seen.players, _ranks(seen.top), seen.rank, _ranks(seen.around)
