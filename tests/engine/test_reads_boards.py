"""Boards as they are shown: shared ranks, scores to the digit, a missing one told apart."""

from collections.abc import Callable

import pytest

from queue_core import keys
from queue_core.errors import InvalidError, WrongTypeFault
from queue_core.reads import boards
from tests.builders import Run, command


@pytest.fixture
def game(mint: Callable[[], bytes]) -> bytes:
    """A game of this test's own."""
    return b"GAM" + mint()[3:]


def test_equal_scores_share_a_rank(run: Run, game: bytes) -> None:
    scores = {b"a": 5, b"b": 5, b"c": 7, b"d": 3, b"e": 3}
    run(command("ZADD", keys.board(game), *(w for p, s in scores.items() for w in (s, p))))
    seen = run(boards.board(game)).value
    assert [(one.rank, one.player, one.score) for one in seen.top] == [
        (1, b"c", "7"), (2, b"b", "5"), (2, b"a", "5"), (4, b"e", "3"), (4, b"d", "3"),
    ]  # fmt: skip


def test_case_134_zeros_negatives_and_minus_zero(run: Run, game: bytes) -> None:
    """Case 134."""
    run(
        command(
            "ZADD", keys.board(game), "-0", b"a", 0, b"b", -4, b"c", "0.30000000000000004", b"d"
        )
    )
    seen = run(boards.board(game)).value
    assert [(one.rank, one.score) for one in seen.top] == [
        (1, "0.30000000000000004"), (2, "0"), (2, "0"), (4, "-4"),
    ]  # fmt: skip


def test_around_a_player_ranks_go_on_from_the_whole_board(run: Run, game: bytes) -> None:
    words = [word for n in range(100) for word in (n // 3, b"p%03d" % n)]
    run(command("ZADD", keys.board(game), *words))
    seen = run(boards.board(game, 5, b"p050", 2)).value
    whole = {one.player: one.rank for one in run(boards.board(game, 100)).value.top}
    assert len(seen.around) == 5
    assert {one.player: one.rank for one in seen.around}.items() <= whole.items()
    assert seen.rank == whole[b"p050"]
    assert seen.players == 100


def test_pages_follow_each_other_with_the_ranks_of_the_whole(run: Run, game: bytes) -> None:
    words = [word for n in range(25) for word in (n // 3, b"p%03d" % n)]
    run(command("ZADD", keys.board(game), *words))
    whole = run(boards.board(game, 25)).value.top
    pages = [run(boards.page(game, first, 10)) for first in (0, 10, 20, 30)]
    assert [one for seen in pages for one in seen.value] == list(whole)
    assert [seen.complete for seen in pages] == [False, False, True, True]
    assert pages[0].why == "15 players stand behind these"
    for wrong in ((-1, 5), (0, 0), (0, 1001)):
        with pytest.raises(InvalidError):
            next(boards.page(game, *wrong))


def test_case_140_missing_differs_from_known_without_scores(run: Run, game: bytes) -> None:
    """Case 140."""
    assert not run(boards.board(game)).value.there
    assert not run(boards.game_facts(game)).heard_of
    run(command("SET", keys.game(game, b"started"), "1"))
    assert not run(boards.board(game)).value.there
    assert run(boards.game_facts(game)).heard_of


def test_games_whose_names_hold_colons_are_told_apart(run: Run, game: bytes) -> None:
    names = {game, game + b":board"}
    for name in names:
        run(command("ZADD", keys.board(name), 1, b"a"))
    run(command("SET", keys.board(game + b"x"), "no board"))
    met: set[bytes] = set()
    cursor = b"0"
    while True:
        step = run(boards.games(cursor))
        met.update(step.games)
        cursor = step.cursor
        if cursor == b"0":
            break
    assert names <= met
    assert game + b"x" not in met


def test_a_board_of_another_type_is_told(run: Run, game: bytes) -> None:
    run(command("SET", keys.board(game), "x"))
    with pytest.raises(WrongTypeFault):
        run(boards.board(game))
