"""On which bus a command is: said before it does anything, and never guessed for one that acts.

A bus that is named wins: `--bus` with a name or a URL, then the settings. Where nothing names one
it is that of the `./dev run` that lives over the same folder. What a dead one left behind is not
followed, and the default is only looked at.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field

from echomq_admin import config
from echomq_admin.buses import bus_urls, give
from echomq_admin.house.notice import Doubt, Notice
from queue_core.outcomes import Outcome
from queue_core.servers import Servers, parse

LONGEST_NAME = 64


class NoChoice(Exception):
    """No bus can be taken. The sentence says how to name one, without any secret."""

    def __init__(self, outcome: Outcome, sentence: str) -> None:
        self.outcome = outcome
        super().__init__(sentence)


@dataclass(frozen=True, slots=True)
class Choice:
    """A bus by its name here, its URL with secrets, the one without, and who named it. `guessed`
    where nobody did."""

    name: str
    url: str = field(repr=False)
    safe: str
    how: str
    guessed: bool = False

    def __str__(self) -> str:
        return f"On bus {self.name}, {self.safe}, {self.how}."

    def require_named(self) -> Choice:
        """Raises `NoChoice` for a guess."""
        if self.guessed:
            raise NoChoice(
                Outcome.invalid,
                f"No bus is named, and nothing is done to {self.safe} on a guess: say --bus URL, "
                "or set ECHOMQ_BUS_URL.",
            )
        return self


def choose(asked: str | None) -> Choice:
    """The bus of a command: by name, by URL, or the first there is. `NoChoice` where there is
    none of that name or a dead house left doubt, `InvalidError` for a URL that says nothing."""
    if asked is not None and "://" in asked:
        return _by_url(asked)
    house, urls = config.house(), bus_urls()
    if config.guesses() and isinstance(house, Doubt):
        raise NoChoice(Outcome.unavailable, house.why)
    name = next(iter(urls)) if asked is None else asked
    if name not in urls:
        raise NoChoice(
            Outcome.gone, f"There is no bus {name}; there are {', '.join(urls)}, or give a URL."
        )
    url = urls[name]
    if config.guesses():
        return Choice(name, url, parse(url).safe, "by default: nothing names one", guessed=True)
    lives = isinstance(house, Notice) and house.bus == url
    return Choice(name, url, parse(url).safe, str(house) if lives else "by the settings")


def _by_url(url: str) -> Choice:
    """A bus that is given whole goes by its place, so that the audit tells it from others."""
    servers = parse(url)
    known = {} if config.guesses() else {one: name for name, one in bus_urls().items()}
    name = known.get(url) or _place(servers)
    give(name, url)
    return Choice(name, url, servers.safe, "as given")


def _place(servers: Servers) -> str:
    parts = (servers.seeds[0].name, servers.service, str(servers.db))
    place = "-".join(part for part in parts if part)
    return re.sub(r"[^A-Za-z0-9._]+", "-", place).strip("-")[-LONGEST_NAME:]
