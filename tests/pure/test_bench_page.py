"""The page of the benchmarks: each run replaces its own section."""

from pathlib import Path

from bench.sections import put


def test_a_section_is_replaced_and_the_other_stays(tmp_path: Path) -> None:
    page = tmp_path / "benchmarks.md"
    put(page, "pages", "## Pages\n\nold\n")
    put(page, "engine", "## Engine\n")
    put(page, "pages", "## Pages\n\nnew\n")
    text = page.read_text()
    assert text.startswith("# Benchmarks\n")
    assert text.index("## Engine") < text.index("## Pages")
    assert "new" in text
    assert "old" not in text
