"""On which bus one is: by name, by URL, by what lives here, and never by a guess."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from echomq_admin import buses, config
from echomq_admin.actions.answers import Answer
from echomq_admin.choice import NoChoice, choose
from echomq_admin.house.notice import Doubt, Notice
from echomq_admin.live.scene import Scene
from queue_core.outcomes import Outcome

SECRET = "correct-horse"
MINE = f"redis://ops:{SECRET}@10.0.0.9:6379/2"


def test_nothing_is_done_on_a_bus_that_nobody_named(do: Callable[..., Answer], site: Any) -> None:
    site.ECHOMQ_BUSES = {}
    answer = do("pause_queue")
    assert (answer.outcome, answer.audit_id) == (Outcome.invalid, None)
    assert "No bus is named" in answer.sentence
    assert Scene("main", only_looked_at=config.only_looked_at("main")).no_writes(b"q")
    assert choose(None).guessed
    named = choose(config.GUESS)
    assert (named.name, named.guessed) == ("127.0.0.1-6379-0", False)
    assert not config.only_looked_at(named.name)
    buses.close_all()
    site.ECHOMQ_BUSES = {"main": config.GUESS}
    assert not config.only_looked_at("main")


def test_what_is_named_wins_and_shows_no_secret(site: Any) -> None:
    site.ECHOMQ_BUSES = {"main": MINE, "other": "redis://127.0.0.1:1/0"}
    for asked, name in ((None, "main"), ("other", "other"), (MINE, "main")):
        choice = choose(asked)
        assert choice.name == name
        assert SECRET not in f"{choice} {choice!r}"
    given = choose(MINE.replace("/2", "/3"))
    assert (given.name, given.guessed) == ("10.0.0.9-6379-3", False)
    assert SECRET not in f"{given} {given!r}"
    buses.close_all()
    with pytest.raises(NoChoice):
        choose("moon")


def test_a_doubt_is_no_bus_and_a_living_house_is(site: Any) -> None:
    site.ECHOMQ_BUSES, site.ECHOMQ_HOUSE = {}, Doubt("it was left behind.")
    for asked in (None, "main"):
        with pytest.raises(NoChoice, match="left behind"):
            choose(asked)
    assert choose(MINE).safe == "redis://***@10.0.0.9:6379/2"
    buses.close_all()
    site.ECHOMQ_BUSES = {"main": MINE}
    site.ECHOMQ_HOUSE = Notice(MINE, "http://127.0.0.1:8000/", 7)
    assert str(choose(None)).endswith("of the ./dev run at http://127.0.0.1:8000/ (process 7).")
