"""docs/pictures/README.md: which picture shows what."""

from collections.abc import Iterable
from pathlib import Path

from tests.pictures.shots import THEMES

STANDINGS = {
    "": "full", "-narrow": "390 px", "-empty": "empty", "-stale": "stale",
    "-unreachable": "unreachable",
}  # fmt: skip
"""What a file's name carries between page and theme, and what it shows."""


def text(folder: Path, pages: Iterable[str]) -> str:
    """A table of links: a line for each page, a column for each standing, both themes."""
    lines = [
        "# Pictures",
        "",
        "Every page in both themes, taken by `./dev pictures` from a real console.",
        "",
        f"| page | {' | '.join(STANDINGS.values())} |",
        f"|---|{'---|' * len(STANDINGS)}",
    ]
    for page in pages:
        cells = []
        for mark in STANDINGS:
            files = {theme: f"{page}{mark}-{theme}.png" for theme in THEMES}
            links = [
                f"[{theme}]({file})" for theme, file in files.items() if (folder / file).exists()
            ]
            cells.append(", ".join(links) or "reads no bus")
        lines.append(f"| {page} | {' | '.join(cells)} |")
    return "\n".join(lines) + "\n"
