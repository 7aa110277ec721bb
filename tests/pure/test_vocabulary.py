"""Names, keys, verdicts and the contract of a script's header."""

import pytest

from queue_core import keys, names
from queue_core.errors import ContractError, InvalidError
from queue_core.outcomes import OUTCOME_OF, Outcome, Word
from queue_core.scripts import _build, script


@pytest.mark.parametrize("wrong", ["", "emq", "a b", "a:b", "{a}", "a}", "ä", "x" * 129, "a\0"])
def test_row_41_a_queue_we_create_is_named_by_the_rule(wrong: str) -> None:
    with pytest.raises(InvalidError):
        names.check_queue(wrong)


def test_a_found_queue_keeps_its_name() -> None:
    assert keys.found("a b").pending == b"emq:{a b}:pending"
    assert keys.found(b"\xff").row(b"1") == b"emq:{\xff}:job:1"


def test_every_word_has_one_outcome() -> None:
    assert set(OUTCOME_OF) == set(Word)


def test_outcomes_by_status_and_exit_code() -> None:
    assert [(o.word, o.status, o.exit_code) for o in Outcome] == [
        ("done", 200, 0), ("already", 200, 0), ("invalid", 422, 2), ("gone", 404, 4),
        ("wrong-state", 409, 5), ("locked", 423, 6), ("not-permitted", 403, 7),
        ("unavailable", 503, 8), ("unknown", 504, 9),
    ]  # fmt: skip


def test_a_call_must_fit_its_header() -> None:
    enqueue = script("enqueue")
    with pytest.raises(ContractError):
        enqueue.call((b"row",), b"base", b"id", b"payload")
    with pytest.raises(ContractError):
        enqueue.call((b"row", b"pending"), b"base", b"id")


@pytest.mark.parametrize(
    "header",
    [
        "-- args: base\n-- replies: {ok}",
        "-- keys: row\n-- args: row\n-- replies: {ok}",
        "-- keys: row\n-- args: base\n-- replies: {ok}\n-- uses: nowhere",
    ],
)
def test_a_header_that_says_too_little_or_too_much(header: str) -> None:
    with pytest.raises(ContractError):
        _build("broken", header, {})


def test_arguments_become_names_and_the_rest_an_index() -> None:
    built = _build("many", "-- keys: a b\n-- args: base items...\n-- replies: {ok}", {})
    assert b"local b = KEYS[2]\nlocal base = ARGV[1]\nlocal items_at = 2\n" in built.source
    assert built.variadic
