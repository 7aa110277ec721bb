"""Boards as a browser gets them."""

import pytest

from echomq_admin.live import observatory
from echomq_admin.live.page import to_path
from echomq_admin.live.walk import Walks
from echomq_admin.templatetags.echomq import address
from echomq_admin.views import boards
from queue_core import keys
from queue_core.verbs import queues
from tests.builders import command


@pytest.fixture
def game(mint):
    """A game of this test's own."""
    return b"GAM" + mint()[3:]


@pytest.fixture
def see(site, ada, client_of):
    """`see(game, who=vera, player="~…")`: a board, or all of them without a game."""
    observatory.shut()

    def seen(game=None, who=ada, **params):
        page = "boards" if game is None else "board"
        return client_of(who).get(address(page, "main", None, game), params)

    yield seen
    observatory.shut()


def fill(bus, game, scores):
    for player, score in scores.items():
        bus.run(command("ZADD", keys.board(game), score, player))


def test_case_134_ranks_brackets_and_scores_to_the_digit(see, bus, game):
    """Case 134."""
    fill(bus, game, {b"ann": 9, b"bob": 9, b"cyd": "-0", b"dan": 0, b"eve": -3})
    answer = see(game)
    text = answer.content.decode()
    ranks = [place.standing.rank for place in answer.context["places"]]
    assert ranks == [1, 1, 3, 3, 5]
    assert "tie-a" in text
    assert "tie-z" in text
    assert ">-0<" not in text
    assert ">-3<" in text
    assert text.count('data-action="rescore"') == 5
    assert f"game={to_path(game)}" in text


def test_a_followed_player_and_those_around(see, bus, game):
    fill(bus, game, {b"p%02d" % n: n for n in range(40)})
    answer = see(game, player=to_path(b"p05"))
    assert answer.context["board"].rank == 35
    assert b"p05" in [place.standing.player for place in answer.context["around"]]
    assert see(game, find="p05").context["follow"] == b"p05"
    assert "not on the board" in see(game, find="nobody").content.decode()


def test_case_140_missing_differs_from_empty(see, bus, game):
    """Case 140."""
    assert "No such board" in see(game).content.decode()
    bus.run(command("SET", keys.game(game, b"started"), "1"))
    text = see(game).content.decode()
    assert "Nobody has scored yet" in text
    assert "game open" in text


def test_case_38_140_hostile_players_and_games(see, bus, game):
    """Cases 38 and 140: raw bytes, 10 KB, markup; a game named like another's board."""
    players = [b"\xff\x00<b>", b"x" * 10_240]
    fill(bus, game, dict.fromkeys(players, 1))
    text = see(game).content.decode()
    assert "⟨ff⟩␀&lt;b&gt;" in text
    assert "x" * 300 not in text
    fill(bus, game + b":board", {b"other": 2})
    assert see(game + b":board").context["board"].players == 1
    assert see(game).context["board"].players == 2
    assert "&lt;i&gt;" in see(b"<i>" + game).content.decode()


def test_a_board_of_another_type(see, bus, game):
    bus.run(command("SET", keys.board(game), "x"))
    answer = see(game)
    assert answer.status_code == 200
    assert "another type" in answer.content.decode()


def test_the_list_walks_until_it_has_met_them(see, bus, q, game):
    bus.run(queues.pause(q))
    fill(bus, game, {b"ann": 9})
    for _ in range(200):
        answer = see()
        if any(one["game"] == game for one in answer.context["rows"]):
            break
    text = answer.content.decode()
    assert f"game-{to_path(game)}" in text
    assert "ann" in text


def test_games_that_were_met_just_now_are_not_none(see, bus, game, monkeypatch):
    monkeypatch.setattr(boards, "_walks", Walks())
    fill(bus, game, {b"ann": 1})
    first = see()
    assert first.context["known"]
    assert "No game has a board" not in first.content.decode()


@pytest.mark.parametrize("top", ["0", "101", "1e9", "-1"])
def test_case_8_rows_are_bounded(see, game, top):
    """Case 8."""
    assert see(game, top=top).status_code == 400


def test_forbidden_wrong_method_and_outage(see, game, bus, person, client_of, ada, site):
    fill(bus, game, {b"ann": 9})
    assert see(game, who=person("nemo")).status_code == 403
    assert see(who=person("nemi")).status_code == 403
    viewer = see(game, who=person("vera", "view")).content.decode()
    assert 'data-action="rescore"' not in viewer
    assert client_of(ada).post(address("board", "main", None, game)).status_code == 405
    site.ECHOMQ_BUSES = {"main": "redis://127.0.0.1:1/0"}
    observatory.shut()
    for answer in (see(game), see()):
        text = answer.content.decode()
        assert "Not zero: not known." in text
        assert 'data-piece="empty"' not in text
