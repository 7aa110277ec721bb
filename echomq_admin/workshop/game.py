"""The rules of codemojex, pure: a secret of six emoji, a guess, its score (protocol part 8.3)."""

import hashlib
import random

POSITIONS = 6
CODES = 24
FULL = 100 * POSITIONS
STEP = 20


def secret_of(game: bytes) -> list[int]:
    """The six codes of a game, all different, the same wherever they are asked for."""
    seed = int.from_bytes(hashlib.sha256(game).digest()[:8], "big")
    return random.Random(seed).sample(range(CODES), POSITIONS)  # noqa: S311 (a game's dice)


def score(secret: list[int], guess: list[int]) -> int:
    """Each code that the secret holds is worth 100 less 20 for every place it is off; 0 to 600."""
    return sum(
        100 - STEP * abs(place - secret.index(code))
        for place, code in enumerate(guess)
        if code in secret
    )


def guess_near(secret: list[int], luck: random.Random) -> list[int]:
    """A guess as a player makes it: some codes right, some out of place, some wrong."""
    guess = list(secret)
    for place in range(POSITIONS):
        if luck.random() < 0.6:
            guess[place] = luck.choice([code for code in range(CODES) if code not in guess])
    if luck.random() < 0.7:
        one, other = luck.sample(range(POSITIONS), 2)
        guess[one], guess[other] = guess[other], guess[one]
    return guess
