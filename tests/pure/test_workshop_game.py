"""The rules of the guessing game."""

import random

import pytest

from echomq_admin.workshop import cast, game

SECRET = [1, 2, 3, 4, 5, 6]


@pytest.mark.parametrize(
    ("guess", "points"),
    [
        ([1, 2, 3, 4, 5, 6], 600),
        ([7, 8, 9, 10, 11, 12], 0),
        ([6, 8, 9, 10, 11, 12], 0),  # five places off is worth nothing
        ([2, 1, 9, 10, 11, 12], 160),
        ([1, 8, 9, 10, 11, 12], 100),
    ],
)
def test_a_code_is_worth_less_the_further_it_is_off(guess: list[int], points: int) -> None:
    assert game.score(SECRET, guess) == points


def test_a_game_has_one_secret() -> None:
    secret = game.secret_of(b"GAM0STVEae63fv")
    assert secret == game.secret_of(b"GAM0STVEae63fv")
    assert len(set(secret)) == game.POSITIONS


def test_guesses_hold_six_different_codes() -> None:
    luck = random.Random(3)
    for _ in range(200):
        assert len(set(game.guess_near(SECRET, luck))) == game.POSITIONS


def test_rooms_change_their_game_half_a_round_apart() -> None:
    now = 2_500_000 * cast.ROUND_MS
    games = [cast.round_of(now + minute * 60_000, room) for minute in range(24) for room in (0, 1)]
    assert len(set(games)) == 5
    assert cast.round_of(now, 0) != cast.round_of(now, 1)
