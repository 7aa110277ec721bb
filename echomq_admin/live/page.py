"""What a page is: what it reads, what it shows, and how a socket names it.

A page's first paint and each of its frames come from the same three steps: `look` says which
plans to run, the bus runs them in one round trip, `shape` turns their results into what the
panels' templates draw and the charts' numbers. No page talks to the bus itself.
"""

from __future__ import annotations

from base64 import urlsafe_b64decode, urlsafe_b64encode
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any
from urllib.parse import parse_qsl, urlencode

from queue_core.errors import EchoMQError
from queue_core.plans import Plan

if TYPE_CHECKING:
    from echomq_admin.live.scene import Scene


TOPIC_BYTES = 16_384
"""Room for an id of some 10,000 bytes; a server takes no longer address anyway, and the audit
keeps no longer name."""


class BadParameter(ValueError):
    """A query parameter or topic outside what the page takes; a 400, told in one sentence."""


def to_path(name: bytes) -> str:
    """A name in a path or topic: `~` and unpadded base64url of its bytes, always."""
    return "~" + urlsafe_b64encode(name).rstrip(b"=").decode("ascii")


def from_path(part: str) -> bytes:
    """The bytes behind `to_path`. Raises `BadParameter` where the text is not of that form, or
    longer than `TOPIC_BYTES`."""
    if len(part) > TOPIC_BYTES:
        raise BadParameter(f"a name in a path has at most {TOPIC_BYTES:,} characters")
    digits = part.removeprefix("~")
    try:
        name = urlsafe_b64decode(digits + "=" * (-len(digits) % 4))
    except ValueError:
        raise BadParameter("a name in a path is ~ and base64url") from None
    if to_path(name) != part:
        raise BadParameter("a name in a path is ~ and base64url")
    return name


@dataclass(frozen=True, slots=True)
class Watch:
    """One thing somebody looks at; equal watches are sampled and rendered once.

    `queue` is a queue's raw name, or empty where the page is of the whole bus; `item` is the
    raw name of what is shown in it: a job id, a game. `rights` are permission codenames.
    """

    bus: str
    page: str
    queue: bytes = b""
    item: bytes = b""
    params: tuple[tuple[str, str], ...] = ()
    rights: frozenset[str] = frozenset()
    language: str = "en"

    @property
    def topic(self) -> str:
        """The watch as a socket names it, without rights and language."""
        path = f"{self.bus}/{self.page}/{to_path(self.queue)}/{to_path(self.item)}"
        return f"{path}?{urlencode(self.params)}" if self.params else path

    def param(self, name: str, default: str = "") -> str:
        """The value of one parameter."""
        return dict(self.params).get(name, default)

    def may(self, codename: str) -> bool:
        """Whether the one who looks holds this permission."""
        return codename in self.rights


def parse_topic(topic: str) -> tuple[str, str, bytes, bytes, dict[str, str]]:
    """`(bus, page, queue, item, raw params)` of a topic; `BadParameter` for anything else."""
    path, _, query = topic.partition("?")
    parts = path.split("/")
    if len(parts) != 4 or len(topic) > TOPIC_BYTES:
        raise BadParameter("a topic is bus/page/~queue/~item")
    bus, page, queue, item = parts
    return bus, page, from_path(queue), from_path(item), dict(parse_qsl(query))


@dataclass(frozen=True, slots=True)
class Shaped:
    """What the templates draw (`context`) and the charts' numbers (`data`, JSON-safe, by the
    id of the chart's element). `at_ms` is the server clock of the oldest number, None where
    nothing was read; `complete` and `why` as in `Snapshot`. `parts` are elements inside panels
    that may change alone, as rows do: element id to its template and own context. A part is
    sent by itself, and its panel only when it changed outside of its parts. `ages` are the
    moments of parts that have one of their own (element id to ms of the bus's clock): they
    travel with every frame, so that growing older changes no markup. `state` is how a page that
    is of no bus stands; that of any other is its bus's."""

    context: dict[str, Any]
    data: dict[str, Any] = field(default_factory=dict)
    parts: dict[str, tuple[str, dict[str, Any]]] = field(default_factory=dict)
    ages: dict[str, int] = field(default_factory=dict)
    at_ms: int | None = None
    complete: bool = True
    why: str = ""
    state: str = "live"


@dataclass(frozen=True, slots=True)
class Page:
    """A page of the console.

    `panels` maps the id of each panel's root element to its template; a template draws its
    whole root element, so that a frame replaces it by itself. `clean` validates raw query
    parameters into canonical order, raising `BadParameter`. A plan that fails hands `shape`
    its `EchoMQError` in place of a result, and the panel says so. A page that is of no bus
    (`of_bus` False) has no plans of its own and is handed every scene by name.
    """

    name: str
    title: str
    reading: str
    panels: Mapping[str, str]
    look: Callable[[Watch, Scene], Sequence[Plan[Any]]]
    shape: Callable[[Watch, Scene, Sequence[Any | EchoMQError]], Shaped]
    clean: Callable[[Mapping[str, str]], tuple[tuple[str, str], ...]] = lambda _raw: ()
    of_queue: bool = True
    of_bus: bool = True
