"""A board's rows: brackets, gaps, bars."""

from echomq_admin.charts.board import BAR, places, series
from queue_core.reads.boards import Standing, standings


def the(*rows: tuple[int, str]) -> list[Standing]:
    return [Standing(rank, b"P%d" % at, held) for at, (rank, held) in enumerate(rows)]


def test_ranks_of_a_flat_reply() -> None:
    flat = [b"a", b"9", b"b", b"9", b"c", b"7", b"d", b"7", b"e", b"1"]
    assert [one.rank for one in standings(flat, 1, 0)] == [1, 1, 3, 3, 5]
    assert [one.rank for one in standings(flat[2:], 1, 1)] == [1, 3, 3, 5]
    assert standings([], 1, 0) == ()


def test_brackets_join_equal_scores() -> None:
    rows = places(the((1, "9"), (2, "7"), (2, "7"), (2, "7"), (5, "1"), (5, "1")))
    assert [one.tie for one in rows] == ["", "a", "m", "z", "a", "z"]


def test_gaps_are_exact() -> None:
    rows = places(the((1, "9007199254740993"), (2, "9007199254740991"), (2, "9007199254740991")))
    assert [one.gap for one in rows] == ["", "−2", "equal"]  # noqa: RUF001
    assert places(the((1, "inf"), (2, "3")))[1].gap == ""


def test_bars_lie_between_nothing_and_full() -> None:
    rows = places(the((1, "600"), (2, "300"), (3, "0"), (4, "-40"), (5, "-inf")))
    assert [one.bar for one in rows] == [BAR, BAR / 2, 0, 0, 0]
    assert places(the((1, "1200"), (2, "600")))[1].bar == BAR / 2


def test_minus_zero_reads_zero_and_is_expected_as_held() -> None:
    zero = Standing(1, b"a", "-0")
    assert (zero.score, zero.held) == ("0", "-0")


def test_the_series_names_players_as_paths() -> None:
    seen = series(the((1, "9")), b"P0")
    assert seen == {"players": [["~UDA", 1, "9", "P0"]], "follow": "~UDA"}
