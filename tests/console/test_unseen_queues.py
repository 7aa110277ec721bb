"""A queue that nobody knows: gone for whoever looks or acts, made only where that is asked for."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from queue_core import keys
from queue_core.bus import Bus
from queue_core.keys import QueueKeys
from tests.builders import command

Said = tuple[int, str, str]


@pytest.mark.parametrize(
    "words",
    [
        ("show",), ("repeats",), ("pause",), ("resume",), ("repeats", "run", "x"),
        ("pause", "--lane", "LNE00000000000"), ("resume", "--lane", "LNE00000000000"),
        ("limit", "3", "--lane", "LNE00000000000"), ("weight", "3", "--lane", "LNE00000000000"),
        ("show", "JOB00000000000"), ("run-now", "JOB00000000000"), ("retry", "JOB00000000000"),
        ("remove", "JOB00000000000", "--yes"), ("edit", "JOB00000000000", "--payload", "x"),
        ("reschedule", "JOB00000000000", "--by", "5m"),
        ("reassign", "JOB00000000000", "--to", "LNE00000000000"),
    ],
    ids=" ".join,
)  # fmt: skip
def test_a_queue_that_nobody_knows_is_gone_for_every_command(
    shell: Callable[..., Said], bus: Bus, q: QueueKeys, words: tuple[str, ...]
) -> None:
    verb, *rest = words
    typo = keys.found(q.name + b".typo")
    code, out, err = shell(verb, typo.name.decode(), *rest)
    assert code == 4, out + err
    assert out + err.partition("\n")[2], "and says so"
    assert not bus.run(command("EXISTS", typo.meta))


def test_an_unseen_queue_is_paused_in_so_many_words_and_a_job_makes_one(
    shell: Callable[..., Said], bus: Bus, q: QueueKeys
) -> None:
    typo = keys.found(q.name + b".next")
    name = typo.name.decode()
    assert shell("pause", name, "--unseen")[0] == 0
    assert shell("show", name)[0] == 0
    assert shell("repeats", name)[0] == 0
    assert shell("resume", name)[0] == 0
    assert shell("enqueue", name, "--payload", "x")[0] == 0
    assert shell("pause", name)[0] == 0
    assert shell("show", q.name.decode())[0] == 0, "the settings name it"
