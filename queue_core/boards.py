"""Ranked sets of codemojex: a board and the best totals beside it (protocol part 8.3).

Scores travel as text, exactly as the server prints them. The two keys of a game have no hash
tag. Where they share a node, fold and re-score are one script each; a Cluster refuses that
(CROSSSLOT, nothing was done), and the two keys then change one after the other, each by a
script of its own: a fold stays right whatever runs between, since both halves only ever raise;
a fold that runs between the halves of a re-score may put its higher total back on the board.
"""

import re

from queue_core.errors import InvalidError, ServerFault
from queue_core.keys import board, board_base, board_prefix
from queue_core.names import as_bytes
from queue_core.numbers import whole
from queue_core.outcomes import Word
from queue_core.plans import Batch, Call, Plan, Reply
from queue_core.quoting import quoted
from queue_core.reads.snapshot import Snapshot
from queue_core.replies import word
from queue_core.scripts import Script, script

MAX_SCORE = 2**53
"""Beyond this a score, being a double, no longer holds every whole number."""

MAX_TOP = 1000

_FOLD = script("board_fold")
_BEST = script("board_best")
_RESCORE = script("board_rescore")
_RESCORE_ALONE = script("board_rescore_alone")
_TOP = script("reads/board_top")
_WHOLE = re.compile(r"[+-]?[0-9]{1,17}", re.ASCII)


def whole_score(text: str | int) -> str:
    """A score as its canonical text: a whole number of plain digits, minus zero as zero.

    Raises `InvalidError` for anything else: fractions, exponents, separators, other scripts'
    digits, NaN and infinities, which codemojex cannot read back, and numbers beyond 2**53,
    which the board would change when it stores them.
    """
    written = str(text)
    if not _WHOLE.fullmatch(written):
        raise InvalidError(f"a score is a whole number in plain digits, got {quoted(text)}")
    if abs(number := int(written)) > MAX_SCORE:
        raise InvalidError(f"a score beyond 2**53 would not be stored exactly, got {quoted(text)}")
    return str(number)


def shown_score(held: bytes) -> str:
    """The text of a score as the server printed it, minus zero as zero."""
    text = held.decode("ascii", "replace")
    return "0" if text == "-0" else text


def fold(game: bytes | str, player: bytes | str, score: int) -> Plan[tuple[Word, str]]:
    """Keep the better of a player's best total and `score`.

    Answers the verdict and the total held afterwards: `ok` (it rose, or is new), `noop`, or
    `invalid` (what is held is no number; nothing changed). A new player's negative score counts
    as 0, as on the wire.
    """
    name, member, wanted = as_bytes(game), as_bytes(player), whole_score(score)
    keys = (board_base(name), board(name))
    args = (board_prefix(name), member, wanted)
    reply, split = yield from _either(_FOLD.call(keys, *args), _BEST, keys[:1], args)
    verdict = word(reply)
    if split and verdict is not Word.invalid:
        yield Call("ZADD", (board(name),), ("GT", reply[1], member))
    return verdict, shown_score(reply[1])


def rescore(
    game: bytes | str, player: bytes | str, wanted: str | int, expected: bytes | str
) -> Plan[tuple[Word, str | None]]:
    """Set a player's total if the board still holds `expected`, the score as it was shown.

    Answers the verdict and the score that the board holds afterwards, read again: `ok`, `noop`
    (it was so already), `moved` (it holds another score; nothing changed) or `gone` (not on the
    board; None; not brought back). Raises `InvalidError` for a `wanted` that is no whole score.
    """
    name, member = as_bytes(game), as_bytes(player)
    args = (board_prefix(name), member, whole_score(wanted), as_bytes(expected))
    keys = (board(name), board_base(name))
    reply, split = yield from _either(_RESCORE.call(keys, *args), _RESCORE_ALONE, keys[:1], args)
    verdict = word(reply)
    if verdict is Word.gone:
        return verdict, None
    if split and verdict is not Word.moved:
        yield Call("HSET", (board_base(name),), (member, reply[1]))
    return verdict, shown_score(reply[1])


def top(game: bytes | str, size: int) -> Plan[Snapshot[list[tuple[bytes, str]]]]:
    """The first `size` (1 to 1000) players with their scores, best first, equal scores in the
    server's order (reverse byte order of the player). Incomplete where the board has more."""
    whole(size, "a board's depth", most=MAX_TOP)
    name = as_bytes(game)
    reply = yield _TOP.call((board(name),), board_prefix(name), size)
    players = [
        (player, shown_score(score)) for player, score in zip(reply[2::2], reply[3::2], strict=True)
    ]
    cut = len(players) < reply[1]
    why = f"the first {size} of {reply[1]} players" if cut else ""
    return Snapshot(players, reply[0], not cut, why)


def retire(game: bytes | str, keep_ms: int) -> Plan[None]:
    """Let a finished game's board and totals go after `keep_ms`. Upstream keeps them for ever;
    a reader finds the board missing then."""
    name = as_bytes(game)
    whole(keep_ms, "a board's time to be kept, in ms")
    yield Batch(
        (
            Call("PEXPIRE", (board(name),), (keep_ms,)),
            Call("PEXPIRE", (board_base(name),), (keep_ms,)),
        )
    )


def _either(
    together: Call, alone: Script, keys: tuple[bytes, ...], args: tuple[bytes | str, ...]
) -> Plan[tuple[Reply, bool]]:
    """The reply of the script over both keys, or of the one over the first where a Cluster
    keeps them apart; and whether the other key is still to be changed."""
    try:
        return (yield together), False
    except ServerFault as fault:
        if fault.code != "CROSSSLOT":
            raise
    return (yield alone.call(keys, *args)), True
