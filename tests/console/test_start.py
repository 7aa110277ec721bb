"""A console draws with the templates that it was started with."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from django.template.loader import render_to_string

from echomq_admin.start import read_all

TREE = Path(__file__).resolve().parents[2]
NAMES = sorted(
    file.relative_to(TREE / "templates").as_posix() for file in (TREE / "templates").rglob("*.html")
)

ASK = """
from echomq_admin.asgi import application
from django.template import engines
from django.urls import resolvers
(backend,) = engines.all()
kept = backend.engine.template_loaders[0].get_template_cache
print(*sorted(name for name, template in kept.items() if not isinstance(template, type)), sep="\\n")
print("pages" if "urlconf_module" in vars(resolvers.get_resolver()) else "no pages")
"""


def started(tmp_path: Path, **environment: str) -> list[str]:
    """What a fresh process of the console has read once it can serve."""
    asked = subprocess.run(
        [sys.executable, "-c", ASK],
        cwd=TREE,
        env={**os.environ, "ECHOMQ_VAR": str(tmp_path), **environment},
        capture_output=True,
        text=True,
        check=True,
    )
    return asked.stdout.split("\n")[:-1]


def test_a_console_has_read_every_template_and_page_when_it_starts(tmp_path: Path) -> None:
    *templates, pages = started(tmp_path)
    assert pages == "pages"
    assert set(NAMES) <= set(templates)


@pytest.fixture
def tree(settings: Any, tmp_path: Path) -> Path:
    """The templates of a console, which an upgrade may replace."""
    shutil.copytree(TREE / "templates", tmp_path / "templates")
    (one,) = settings.TEMPLATES
    settings.TEMPLATES = [{**one, "DIRS": [tmp_path / "templates"]}]
    return tmp_path / "templates"


def upgraded(tree: Path) -> None:
    for name in NAMES:
        (tree / name).write_text("of another version")


def test_an_upgrade_changes_no_template_of_a_running_console(tree: Path) -> None:
    read_all()
    upgraded(tree)
    drawn = render_to_string("echomq_admin/pieces/empty.html", {"title": "Nothing waits"})
    assert "Nothing waits" in drawn


def test_an_edit_shows_where_one_develops(tree: Path, settings: Any) -> None:
    settings.DEBUG = True
    read_all()
    upgraded(tree)
    drawn = render_to_string("echomq_admin/pieces/empty.html", {"title": "Nothing waits"})
    assert drawn == "of another version"
