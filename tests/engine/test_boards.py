"""Boards: best totals, exact text, and re-scores against what was seen."""

import uuid
from collections.abc import Callable
from typing import Any

import pytest

from queue_core import boards
from queue_core.errors import InvalidError, WrongTypeFault
from queue_core.keys import board, board_base
from queue_core.outcomes import Word
from queue_core.plans import Plan, Step
from tests.builders import command, score
from tests.engine.steps import watched

Run = Callable[[Plan[Any]], Any]


@pytest.fixture
def game() -> bytes:
    return uuid.uuid4().hex.encode()


def best(run: Run, game: bytes, player: str) -> bytes | None:
    held: bytes | None = run(command("HGET", board_base(game), player))
    return held


def test_row_51_a_fold_keeps_the_better_total_in_one_script(run: Run, game: bytes) -> None:
    seen: list[Step] = []
    assert run(watched(boards.fold(game, "ann", 300), seen)) == (Word.ok, "300")
    assert len(seen) == 1
    assert run(boards.fold(game, "ann", 100)) == (Word.noop, "300")
    assert run(boards.fold(game, "ann", 600)) == (Word.ok, "600")
    assert best(run, game, "ann") == b"600"
    assert run(score(board(game), b"ann")) == 600


def test_a_fold_does_not_touch_a_total_that_is_no_number(run: Run, game: bytes) -> None:
    run(command("HSET", board_base(game), "ann", "many"))
    assert run(boards.fold(game, "ann", 5)) == (Word.invalid, "many")
    assert run(command("EXISTS", board(game))) == 0


def test_case_134_zero_and_negative_scores_are_ranked(run: Run, game: bytes) -> None:
    run(command("ZADD", board(game), 0, "a", "-0.0", "b", -7, "c", 0, "d"))
    top = run(boards.top(game, 10))
    assert top.value == [(b"d", "0"), (b"b", "0"), (b"a", "0"), (b"c", "-7")]
    assert top.complete


@pytest.mark.parametrize(
    "text",
    ["1e3", "0x10", "1,000", "١٢", "NaN", "inf", "-inf", "", " 7", "0.1+0.2", "1e-320", "1.5",
     "9007199254740993", "-9007199254740993"],
)  # fmt: skip
def test_case_136_what_the_board_cannot_hold_is_refused(run: Run, game: bytes, text: str) -> None:
    run(boards.fold(game, "ann", 5))
    with pytest.raises(InvalidError):
        run(boards.rescore(game, "ann", text, "5"))
    assert run(boards.top(game, 5)).value == [(b"ann", "5")]


@pytest.mark.parametrize(
    ("text", "held"), [("7", "7"), ("-0", "0"), ("+12", "12"), (str(2**53), str(2**53))]
)
def test_case_136_a_whole_number_is_taken_and_read_again(
    run: Run, game: bytes, text: str, held: str
) -> None:
    run(boards.fold(game, "ann", 5))
    assert run(boards.rescore(game, "ann", text, "5")) == (Word.ok, held)
    assert best(run, game, "ann") == held.encode()


def test_case_138_a_player_who_left_is_not_brought_back(run: Run, game: bytes) -> None:
    assert run(boards.rescore(game, "ann", 7, "5")) == (Word.gone, None)
    assert run(command("EXISTS", board(game))) == 0
    assert best(run, game, "ann") is None


def test_a_rescore_needs_the_score_that_was_seen(run: Run, game: bytes) -> None:
    run(boards.fold(game, "ann", 5))
    assert run(boards.rescore(game, "ann", 7, "4")) == (Word.moved, "5")
    assert run(boards.rescore(game, "ann", 7, "5")) == (Word.ok, "7")
    assert run(boards.rescore(game, "ann", 7, "5")) == (Word.noop, "7")
    run(command("ZADD", board(game), "-0.0", "ann"))
    assert run(boards.rescore(game, "ann", 3, "0")) == (Word.ok, "3")


def test_case_140_games_and_players_are_told_apart(run: Run, game: bytes) -> None:
    run(boards.fold(game, "x", 1))
    run(boards.fold(game + b":board", "y", 2))
    long_name = b"\xff\x00" * 5000
    run(boards.fold(game, long_name, 9))
    assert run(boards.top(game, 5)).value == [(long_name, "9"), (b"x", "1")]
    assert run(boards.top(game + b":board", 5)).value == [(b"y", "2")]


def test_a_board_is_read_to_a_bound(run: Run, game: bytes) -> None:
    for at in range(4):
        run(boards.fold(game, f"p{at}", at))
    top = run(boards.top(game, 3))
    assert [player for player, _ in top.value] == [b"p3", b"p2", b"p1"]
    assert not top.complete
    for size in (0, boards.MAX_TOP + 1):
        with pytest.raises(InvalidError):
            run(boards.top(game, size))


def test_a_key_of_another_type_is_a_fault(run: Run, game: bytes) -> None:
    run(command("SET", board(game), "x"))
    with pytest.raises(WrongTypeFault):
        run(boards.top(game, 3))


def test_a_finished_game_goes_after_its_time(run: Run, game: bytes) -> None:
    run(boards.fold(game, "ann", 5))
    run(boards.retire(game, 60_000))
    for key in (board(game), board_base(game)):
        assert 0 < run(command("PTTL", key)) <= 60_000
    with pytest.raises(InvalidError):
        next(boards.retire(game, 0))
