"""What Django checks of our settings before it serves: each bus has a name and a URL that say
something."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Any

from django.core.checks import CheckMessage, Error, register

from echomq_admin.buses import bus_urls, declared
from queue_core.errors import InvalidError
from queue_core.servers import parse

_NAME = re.compile(r"[A-Za-z0-9._-]{1,64}")


@register("echomq")
def check_buses(app_configs: Sequence[Any] | None = None, **_: Any) -> list[CheckMessage]:
    """E001 a bus's name that does not fit a path, E002 a URL that says nothing, E003 settings of
    another shape."""
    del app_configs
    try:
        urls = bus_urls()
        for name in urls:
            declared(name)
    except (AttributeError, KeyError, TypeError):
        return [
            Error(
                "ECHOMQ_BUSES is a mapping of name to URL, or to {'url': …, 'queues': […]}.",
                id="echomq.E003",
            )
        ]
    found: list[CheckMessage] = []
    for name, url in urls.items():
        if not _NAME.fullmatch(name):
            found.append(
                Error(
                    f"The bus name {name!r} is not 1 to 64 of A-Z a-z 0-9 . _ -.",
                    id="echomq.E001",
                )
            )
        try:
            parse(url)
        except InvalidError as error:
            found.append(Error(f"The URL of bus {name} says nothing: {error}.", id="echomq.E002"))
    return found
