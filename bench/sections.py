"""docs/benchmarks.md holds a section of each benchmark; a run replaces its own."""

from pathlib import Path

TITLE = "# Benchmarks"
ORDER = ("engine", "pages")


def put(page: Path, name: str, text: str) -> None:
    """Replace one section and leave the others."""
    known = _read(page)
    known[name] = text.strip()
    parts = [TITLE]
    parts += [
        f"<!-- {section} -->\n\n{known[section]}\n\n<!-- end of {section} -->"
        for section in ORDER
        if section in known
    ]
    page.write_text("\n\n".join(parts) + "\n")


def _read(page: Path) -> dict[str, str]:
    if not page.exists():
        return {}
    text = page.read_text()
    found = {}
    for section in ORDER:
        _, begun, rest = text.partition(f"<!-- {section} -->\n")
        inside, ended, _ = rest.partition(f"<!-- end of {section} -->")
        if begun and ended:
            found[section] = inside.strip()
    return found
