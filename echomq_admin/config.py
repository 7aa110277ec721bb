"""Every setting of the console with its default: the one place that reads ECHOMQ_ names.

A host project sets them in its own settings; the console's own `settings.py` fills them from the
environment.
"""

from collections.abc import Mapping
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

from django.conf import settings

from echomq_admin.house.notice import Doubt, Notice

GUESS = "redis://127.0.0.1:6379/0"
"""The bus that is looked at where nobody names one; nothing acts on it."""


def buses() -> Mapping[str, Any]:
    """ECHOMQ_BUSES: name to URL, or to `{"url": …, "queues": […]}`, in the order shown."""
    found: Mapping[str, Any] = getattr(settings, "ECHOMQ_BUSES", {})
    return found or {"main": GUESS}


def guesses() -> bool:
    """Whether nobody has named a bus."""
    return not getattr(settings, "ECHOMQ_BUSES", {})


def only_looked_at(bus: str) -> str:
    """Why nothing is done to a bus: nobody has named it. Empty where somebody has."""
    if not guesses() or bus not in buses():
        return ""
    return "No bus is named, and nothing is done on a guess: set ECHOMQ_BUS_URL."


def house() -> Notice | Doubt | None:
    """ECHOMQ_HOUSE: what a `./dev run` of the same folder says of itself."""
    found: Notice | Doubt | None = getattr(settings, "ECHOMQ_HOUSE", None)
    return found


def queues() -> Mapping[str, Any] | list[str]:
    """ECHOMQ_QUEUES: queues declared on the first bus, or bus name to its queues."""
    found: Mapping[str, Any] | list[str] = getattr(settings, "ECHOMQ_QUEUES", [])
    return found


def handlers() -> Mapping[str, str]:
    """ECHOMQ_HANDLERS: queue to the dotted path of the handler that our workers run."""
    found: Mapping[str, str] = getattr(settings, "ECHOMQ_HANDLERS", {})
    return found


def read_only() -> bool:
    """ECHOMQ_READ_ONLY: nobody acts, whatever they may."""
    return bool(getattr(settings, "ECHOMQ_READ_ONLY", False))


def timeout_ms() -> int:
    """ECHOMQ_TIMEOUT_MS: how long an action or a dialog waits for a bus, in ms."""
    return int(getattr(settings, "ECHOMQ_TIMEOUT_MS", 5000))


def cli_user() -> str:
    """ECHOMQ_CLI_USER: who acts from a shell that names nobody."""
    return str(getattr(settings, "ECHOMQ_CLI_USER", ""))


def var() -> Path:
    """ECHOMQ_VAR: where files of ours go."""
    return Path(getattr(settings, "ECHOMQ_VAR", "var"))


def prefix() -> str:
    """ECHOMQ_PREFIX: the path below which the project of its own mounts the console, no slashes
    at its ends."""
    return str(getattr(settings, "ECHOMQ_PREFIX", "")).strip("/")


def site_url() -> str:
    """ECHOMQ_URL: how the console is reached, for links printed by a shell; the living house's,
    or "" where unsaid."""
    lives = house()
    at = urlsplit(lives.console if isinstance(lives, Notice) else "")
    told = str(getattr(settings, "ECHOMQ_URL", ""))
    return (told or at._replace(path="").geturl()).rstrip("/")


def login_url() -> str:
    """LOGIN_URL: a host's own login serves, ours in a project of its own."""
    return str(settings.LOGIN_URL)


def redact() -> list[str] | None:
    """ECHOMQ_REDACT: words that make a key secret in place of the built-in ones; None unsaid."""
    words: list[str] | None = getattr(settings, "ECHOMQ_REDACT", None)
    return words


def zone() -> str:
    """ECHOMQ_ZONE: the zone in which forms take a local time, by default TIME_ZONE."""
    return str(getattr(settings, "ECHOMQ_ZONE", settings.TIME_ZONE))
