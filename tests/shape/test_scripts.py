"""The scripts keep what their headers say."""

import re
from pathlib import Path

import pytest

from queue_core.outcomes import Word
from queue_core.scripts import SCRIPTS, Script

LUA = Path(__file__).resolve().parents[2] / "lua"
TRANSITIONS = {name: one for name, one in SCRIPTS.items() if one.writes}

UNRECORDED = {
    "node_release": "who mints under a number is known to the one who mints, and to nobody else",
    "node_renew": "who mints under a number is taken anew within a minute",
    "worker_heartbeat": "presence is said again every few seconds",
    "worker_leave": "presence is said again every few seconds",
    "lock_track": "a marker lives for seconds and is set again by the next beat",
    "lock_untrack": "a marker lives for seconds and is set again by the next beat",
    "stream_group": "consumer groups are the server's own keys, made again at start",
    "stream_hold": "who holds a record is the server's own key, taken over when idle",
    "stream_leave": "who is in a consumer group is the server's own key, made again by a read",
    "stream_read_group": "who holds a record is the server's own key, taken over when idle",
}
"""Transitions that write no record of their own, and why nothing is lost by it."""

CLAIMED_NOTHING = {"empty", "again"}
"""What claims answer in place of jobs; no verdict of a caller's."""


def header(name: str) -> str:
    lines = (LUA / f"{name}.lua").read_text().splitlines()
    end = next(at for at, line in enumerate(lines) if not line.startswith("--"))
    return "\n".join(lines[:end])


def body(name: str) -> str:
    return (LUA / f"{name}.lua").read_text().removeprefix(header(name))


@pytest.mark.parametrize("name", TRANSITIONS)
def test_every_transition_records_or_says_why_not(name: str) -> None:
    calls_it = re.search(r"(?<!function )record\(", SCRIPTS[name].source.decode())
    assert bool(calls_it) != (name in UNRECORDED)


OF_A_QUEUE = {name: one for name, one in TRANSITIONS.items() if not name.startswith("node_")}


@pytest.mark.parametrize("one", OF_A_QUEUE.values(), ids=OF_A_QUEUE)
def test_a_transition_is_told_its_queue_first(one: Script) -> None:
    assert one.args[0] == "base"


@pytest.mark.parametrize("name", TRANSITIONS)
def test_a_transition_answers_words_of_the_wire_that_its_header_lists(name: str) -> None:
    answered = set(re.findall(r"return \{'(\w+)'", body(name)))
    listed = set(re.findall(r"\{(\w+)", header(name).partition("-- replies:")[2]))
    assert answered <= set(Word) | CLAIMED_NOTHING
    assert answered <= listed


@pytest.mark.parametrize("name", SCRIPTS)
def test_every_argument_that_is_declared_is_used(name: str) -> None:
    words = set(re.findall(r"\w+", re.sub(r"--.*", "", body(name))))
    declared = {*SCRIPTS[name].args} - {"base"}
    assert declared <= words
