"""Every row of the wire's page, part 10, has a test named after it, and every such test a row."""

from __future__ import annotations

import re
from pathlib import Path

from tests.wire.better import BETTER

ROOT = Path(__file__).resolve().parents[2]
PART = re.search(r"## 10\..*?(?=\n## )", (ROOT / "docs" / "wire.md").read_text(), re.DOTALL)
ROWS = range(1, 56)
"""All rows that the wire's description counts."""


def _numbers(text: str) -> set[int]:
    return {int(number) for number in re.findall(r"\d+", text)}


def _better() -> set[int]:
    assert PART
    cells = re.findall(r"^\| ([\d, ]+) \|", PART[0], re.MULTILINE)
    return set().union(*map(_numbers, cells))


def _stated() -> set[int]:
    """Rows that are followed, or are told in another place."""
    assert PART
    _, _, rest = PART[0].partition("Followed as they are: ")
    return _numbers(re.sub(r"\(.*?\)|part \d[\d.]*", "", rest))


def _tested() -> dict[int, list[str]]:
    found: dict[int, list[str]] = {}
    for path in sorted((ROOT / "tests").rglob("test_*.py")):
        for name in re.findall(r"^(?:async )?def (test_\w+)", path.read_text(), re.MULTILINE):
            if (row := re.search(r"_row_0*(\d+)(?:_|$)", name)) is not None:
                found.setdefault(int(row[1]), []).append(f"{path.name}: {name}")
    return found


def test_every_row_that_is_done_better_has_a_test_named_after_it() -> None:
    assert not _better() - _tested().keys()


def test_every_test_of_a_row_is_of_one_that_the_page_tells() -> None:
    unknown = {row: names for row, names in _tested().items() if row not in _better() | _stated()}
    assert not unknown


def test_every_recorded_step_that_differs_is_of_such_a_row() -> None:
    assert {step.row for step in BETTER} <= _better()


def test_no_row_is_left_out_and_none_is_told_twice() -> None:
    assert _better() | _stated() == set(ROWS)
    assert not _better() & _stated()
