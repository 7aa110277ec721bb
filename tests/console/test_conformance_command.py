"""`manage.py echomq conformance`: the engine's own suite, on a configured bus."""

from __future__ import annotations

import json
from typing import Any

import pytest
from django.core.management import call_command


def exit_code(*words: str) -> int:
    """What the command leaves with."""
    try:
        call_command("echomq", "conformance", *words)
    except SystemExit as left:
        return int(left.code or 0)
    return 0


def test_it_plays_the_scenarios_on_the_console_s_bus(
    site: Any, capfd: pytest.CaptureFixture[str]
) -> None:
    assert exit_code() == 0
    out, err = capfd.readouterr()
    assert out.splitlines()[-1] == "79 passed, 0 failed"
    assert err.startswith("On bus main, ")
    assert err.count("\n") == 1
    assert exit_code("--json", "--only", "fence") == 0
    record, total = map(json.loads, capfd.readouterr().out.splitlines())
    assert (record["name"], record["passed"], total["passed"]) == ("fence", True, 1)


def test_what_it_refuses(site: Any, capfd: pytest.CaptureFixture[str]) -> None:
    assert exit_code("--only", "nope") == 2
    assert "there is no scenario 'nope'" in capfd.readouterr().err
    assert exit_code("--bus", "nowhere") == 4


def test_a_console_that_only_looks_plays_nothing(site: Any) -> None:
    site.ECHOMQ_READ_ONLY = True
    assert exit_code("--only", "fence") == 7
    assert exit_code("--list") == 0
