"""The page for whoever runs a console says what is so."""

import re
from pathlib import Path

import pytest

from queue_core.rights import LEAST

ROOT = Path(__file__).resolve().parents[2]
PAGE = (ROOT / "docs" / "operations.md").read_text()
BETWEEN_PROCESSES = {"ECHOMQ_HOUSE"}
"""Set by the settings themselves, for nobody to set."""


def test_it_gives_the_least_rights_of_an_engine() -> None:
    (words,) = re.findall(r"^ACL SETUSER worker on >secret (.*)$", PAGE, re.MULTILINE)
    wanted = " ".join(LEAST)
    assert words == wanted, f"docs/operations.md should say: ACL SETUSER worker on >secret {wanted}"


def test_it_names_every_setting() -> None:
    read = {
        name
        for file in ("settings.py", "config.py", "house/__main__.py")
        for name in re.findall(r"ECHOMQ_[A-Z_]+", (ROOT / "echomq_admin" / file).read_text())
        if not name.endswith("_")
    }
    assert read - BETWEEN_PROCESSES <= set(re.findall(r"ECHOMQ_[A-Z_]+", PAGE))


@pytest.mark.parametrize(
    "page", sorted(["README.md", *(f"docs/{p.name}" for p in (ROOT / "docs").glob("*.md"))])
)
def test_every_link_of_a_page_leads_somewhere(page: str) -> None:
    text = (ROOT / page).read_text()
    for target in re.findall(r"\]\(([^)\s]+)\)", text):
        file, _, anchor = target.partition("#")
        if file.startswith("http"):
            continue
        there = (ROOT / page).parent / file if file else ROOT / page
        assert there.exists(), target
        if anchor:
            titles = re.findall(r"^#+ (.*)$", there.read_text(), re.MULTILINE)
            anchors = {re.sub(r"[^\w -]", "", one.lower()).replace(" ", "-") for one in titles}
            assert anchor in anchors, target


def test_every_command_it_gives_is_one() -> None:
    """`./dev verb`, `./manage.py command`: each word is known to the program that gets it."""
    dev = (ROOT / "dev").read_text()
    commands = {p.stem for p in (ROOT / "echomq_admin" / "management" / "commands").glob("*.py")}
    theirs = {"migrate", "createsuperuser", "changepassword", "clearsessions"}
    pages = [ROOT / "README.md", *(ROOT / "docs").glob("*.md")]
    for page in pages:
        for verb in re.findall(r"\./dev (\w+)", page.read_text()):
            assert f'verb == "{verb}"' in dev, (page.name, verb)
        for name in re.findall(r"manage\.py (\w+)", page.read_text()):
            assert name in commands | theirs, (page.name, name)
