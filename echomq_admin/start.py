"""What a console reads of its own tree when it starts, rather than when it is first asked.

A console goes on with what it was started with while an upgrade replaces the files below it. Django
reads a template when it is first drawn, and imports the pages with the first request: a template
that nobody had looked at would then be of another version than the code that draws it. Static files
have a module of their own.
"""

from __future__ import annotations

from pathlib import Path

from django.conf import settings
from django.template import engines
from django.template.backends.django import DjangoTemplates
from django.urls import get_resolver

FOLDER = "echomq_admin"
"""Where the console's templates lie, below each folder of templates; what a host project puts there
stands before them."""


def read_all() -> None:
    """Import the pages, and load every template of the console. With `ECHOMQ_DEBUG` none is kept,
    so that an edit shows."""
    assert get_resolver().url_patterns
    if settings.DEBUG:
        return
    for backend in engines.all():
        if isinstance(backend, DjangoTemplates):
            for name in _names(backend):
                backend.get_template(name)


def _names(backend: DjangoTemplates) -> set[str]:
    found = set()
    for loader in backend.engine.template_loaders:
        for folder in map(Path, loader.get_dirs()):
            files = (folder / FOLDER).rglob("*.html")
            found |= {file.relative_to(folder).as_posix() for file in files}
    return found
