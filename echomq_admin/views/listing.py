"""What the pages that list jobs share: cursors in addresses, and a member as a row of a table."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any
from urllib.parse import quote

from echomq_admin.live.page import BadParameter, Shaped, Watch, from_path, to_path
from echomq_admin.live.scene import Scene
from echomq_admin.redaction import Shown, Veil
from echomq_admin.templatetags.freshness import iso
from queue_core import ids
from queue_core.errors import EchoMQError, ForbiddenFault, WrongTypeFault
from queue_core.reads.sample import WORKER_ALIVE_MS
from queue_core.reads.schedule import Cursor
from queue_core.reads.snapshot import Snapshot
from queue_core.reads.window import Member, Side, Window

PREVIEW = 160
"""Characters of a payload in a row."""

_SCORE = re.compile(r"-?(inf|[0-9]{1,25}(\.[0-9]{1,25})?(e[+-]?[0-9]{1,3})?)")


def spell_cursor(cursor: Cursor | None) -> str:
    """A cursor in an address: the member's name as in a path, a dot, the score; quoted, since a
    large score is printed with a plus."""
    return "" if cursor is None else quote(f"{to_path(cursor.member)}.{cursor.score}")


def read_cursor(text: str) -> Cursor:
    """The cursor behind `spell_cursor`; `BadParameter` for anything else."""
    name, _, score = text.partition(".")
    if not _SCORE.fullmatch(score):
        raise BadParameter("a place in a list is a name, a dot and a score")
    return Cursor(score, from_path(name))


def clean_cursor(raw: Mapping[str, str]) -> tuple[tuple[str, str], ...]:
    """The parameters `after` or `before`, the first of them that is there, checked."""
    for side in ("after", "before"):
        if text := raw.get(side, ""):
            read_cursor(text)
            return ((side, text),)
    return ()


def side_of(watch: Watch) -> tuple[Side, Cursor | None]:
    """Which page of the list a watch is of."""
    if text := watch.param("after"):
        return "after", read_cursor(text)
    if text := watch.param("before"):
        return "before", read_cursor(text)
    return "first", None


@dataclass(frozen=True, slots=True)
class Row:
    """A member as a table shows it: `position` counts from 1, `identity` is None for an id that
    is not branded, `preview` and `error` are what may be shown of both. `over` says of a held
    job that its lease has ended, `silent` that its holder was last heard of too long ago."""

    position: int
    seen: Member
    identity: ids.Identity | None
    preview: Shown
    error: Shown
    over: bool
    silent: bool

    @property
    def id(self) -> bytes:
        """The member's bytes."""
        return self.seen.member

    @property
    def minted_iso(self) -> str:
        """When its id was minted, in full; empty where the id tells no time."""
        return iso(self.identity.unix_ms) if self.identity else ""

    @property
    def minted(self) -> str:
        """The clock of that moment with milliseconds, which decide the order."""
        return self.minted_iso[11:23]

    @property
    def orphan(self) -> bool:
        """Whether the set names it and no row is there."""
        return self.seen.job.found == "orphan"

    @property
    def broken(self) -> bool:
        """Whether another type stands where its row belongs."""
        return self.seen.job.found == "wrongtype"


def _error(member: Member, veil: Veil) -> Shown:
    job = member.job
    if job.last_error is None and job.error_size:
        return Shown("", f"{job.error_size:,} bytes, too long for a list")
    return veil.text(job.last_error)


def row(member: Member, may_reveal: bool, now_ms: int) -> Row:
    """A member with what the one who looks may read of it."""
    job = member.job
    whole = job.found == "row" and len(job.payload_head) == job.payload_size
    heard = member.holder.heard_ms if member.holder else None
    veil = Veil.over(job.payload_head or b"", whole=whole, may=may_reveal)
    return Row(
        position=member.rank + 1,
        seen=member,
        identity=ids.decode(member.member) if ids.is_id(member.member) else None,
        preview=veil.preview(PREVIEW),
        error=_error(member, veil),
        over=member.at_ms is not None and member.at_ms <= now_ms,
        silent=heard is not None and now_ms - heard > WORKER_ALIVE_MS,
    )


@dataclass(frozen=True, slots=True)
class Pager:
    """Where a list goes on, as query strings; empty where it does not."""

    before: str
    after: str
    first: bool


def pager(window: Window, kept: tuple[tuple[str, str], ...] = ()) -> Pager:
    """The ways on from a page of a list, with the parameters that stay."""
    stays = "".join(f"&{name}={value}" for name, value in kept)
    before = f"?before={spell_cursor(window.cursor('first'))}{stays}" if window.more_before else ""
    after = f"?after={spell_cursor(window.cursor('last'))}{stays}" if window.more_after else ""
    if not window.rows and window.total:
        before, after = "", ""
    return Pager(before, after, not window.more_before)


def trouble(fault: EchoMQError) -> dict[str, str]:
    """What a panel shows in place of its numbers: which piece, and why in one sentence."""
    if isinstance(fault, ForbiddenFault):
        return {"piece": "echomq_admin/pieces/forbidden.html", "why": str(fault)}
    if isinstance(fault, WrongTypeFault):
        why = "A key of it holds another type than the wire says."
        return {"piece": "echomq_admin/pieces/unknown.html", "why": why}
    return {"piece": "echomq_admin/pieces/unknown.html", "why": str(fault)}


def listed(
    result: Snapshot[Window] | EchoMQError,
    watch: Watch,
    kept: tuple[tuple[str, str], ...] = (),
) -> dict[str, Any]:
    """The context of a list: its rows and pager, or its trouble."""
    if isinstance(result, EchoMQError):
        return {"trouble": trouble(result)}
    window = result.value
    may = watch.may("reveal_payload")
    rows = [row(member, may, result.at_ms) for member in window.rows]
    return {
        "window": window,
        "rows": rows,
        "pager": pager(window, kept),
        "orphans": sum(one.orphan for one in rows),
        "over": sum(one.over for one in rows),
        "last": window.first + len(rows),
        "at_ms": result.at_ms,
    }


def shape(watch: Watch, _scene: Scene, results: Sequence[Any | EchoMQError]) -> Shaped:
    """A page that is one list and nothing else."""
    page = results[0]
    context = {"list": listed(page, watch)}
    if isinstance(page, EchoMQError):
        return Shaped(context, complete=False, why=str(page))
    return Shaped(context, at_ms=page.at_ms)
