"""The schedule: the fence, and the exact list in score order beside it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from django.http import HttpRequest, HttpResponse
from django.urls import reverse
from django.views.decorators.http import require_safe

from echomq_admin.charts import fence as chart
from echomq_admin.live.page import BadParameter, Page, Shaped, Watch, to_path
from echomq_admin.live.scene import Scene
from echomq_admin.live.signs import PROOF_MS
from echomq_admin.templatetags.echomq import address
from echomq_admin.views.listing import clean_cursor, row, side_of, spell_cursor, trouble
from echomq_admin.views.show import show
from queue_core import keys
from queue_core.errors import EchoMQError
from queue_core.plans import Plan
from queue_core.reads import repeats as repeat_read
from queue_core.reads import schedule as read
from queue_core.reads.snapshot import Snapshot
from queue_core.reads.window import Member

RANGES_MS = {"15m": 900_000, "1h": 3_600_000, "24h": 86_400_000, "7d": 604_800_000, "all": 0}
RANGE_WORDS = {"15m": "15 m", "1h": "1 h", "24h": "24 h", "7d": "7 d", "all": "All"}
SCALES = {"log": "Log", "linear": "Linear"}
KINDS = ("delayed", "retry", "repeat")

ROWS, LATE_ROWS = 16, 6
"""Rows of a page of the list, and how many late ones stand above the fence: with their verbs some
33 KB of markup, so that the whole list fits a frame."""

_ROW = "echomq_admin/schedule/row.html"


def _clean(raw: Mapping[str, str]) -> tuple[tuple[str, str], ...]:
    span, scale = raw.get("range") or "7d", raw.get("scale") or "log"
    hidden = [kind for kind in KINDS if kind in (raw.get("hide") or "").split(".")]
    if span not in RANGES_MS:
        raise BadParameter("range is one of 15m, 1h, 24h, 7d, all")
    if scale not in SCALES:
        raise BadParameter("scale is log or linear")
    view = (("range", span), ("scale", scale), *((("hide", ".".join(hidden)),) if hidden else ()))
    return view + clean_cursor(raw)


def _look(watch: Watch, _scene: Scene) -> Sequence[Plan[Any]]:
    q = keys.found(watch.queue)
    side, cursor = side_of(watch)
    span, scale = RANGES_MS[watch.param("range", "7d")], watch.param("scale", "log")
    return (
        read.fence(q, span, "linear" if scale == "linear" else "log"),
        repeat_read.registry(q, size=chart.REPEAT_MARKS, runs=0),
        read.page(q, "fence" if side == "first" else side, cursor, ROWS, LATE_ROWS),
    )


def _switches(watch: Watch) -> dict[str, Any]:
    """The head's switches as links: each keeps what the others say."""
    now = {name: watch.param(name) for name in ("range", "scale", "hide") if watch.param(name)}

    def link(**change: str) -> str:
        wanted = {name: value for name, value in {**now, **change}.items() if value}
        return "?" + "&".join(f"{name}={value}" for name, value in wanted.items())

    hidden = now.get("hide", "").split(".")

    def toggled(kind: str) -> str:
        left = [one for one in KINDS if (one in hidden) != (one == kind)]
        return link(hide=".".join(left))

    return {
        "kinds": [(kind, kind not in hidden, toggled(kind)) for kind in KINDS],
        "ranges": [
            (word, now.get("range") == name, link(range=name)) for name, word in RANGE_WORDS.items()
        ],
        "scales": [
            (word, now.get("scale") == name, link(scale=name)) for name, word in SCALES.items()
        ],
        "view": link(),
    }


def _fence(seen: Snapshot[read.Fence]) -> dict[str, Any]:
    fence = seen.value
    worst = fence.late_marks[0] if fence.late_marks else None
    odd = worst is not None and (fence.oldest_ms is None or fence.oldest_ms != worst.run_at_ms)
    lateness = seen.at_ms - (fence.oldest_ms or seen.at_ms)
    return {
        "total": fence.total,
        "late": fence.late,
        "worst_ms": fence.oldest_ms,
        "worst_odd": odd,
        "next_ms": fence.next_due_ms,
        "keeps_up": not odd and lateness < PROOF_MS,
    }


def _list(page: Snapshot[read.DuePage], watch: Watch, view: str) -> dict[str, Any]:
    value, may = page.value, watch.may("reveal_payload")
    rows = [
        {
            "row": row(
                Member(one.rank, one.due.member, one.due.score, one.due.job, None), may, page.at_ms
            ),
            "due": one.due,
            "late": one.rank < value.late,
        }
        for one in value.rows
    ]
    around = side_of(watch)[0] == "first"
    shown_late = sum(one["late"] for one in rows)
    first, last = value.cursor("first"), value.cursor("last")
    edge = next((one.due for one in reversed(value.rows) if one.rank < value.late), None)
    return {
        "rows": rows,
        "total": value.total,
        "late": value.late,
        # The fence lies down between the last late row and the first that waits.
        "fence_here": 0 < shown_late < len(rows) or around,
        "shown_late": shown_late,
        "hidden_late": value.late - shown_late if around else 0,
        "late_link": f"{view}&after={spell_cursor(read.Cursor(edge.score, edge.member))}"
        if edge
        else "",
        "before": f"{view}&before={spell_cursor(first)}" if value.more_before else "",
        "after": f"{view}&after={spell_cursor(last)}" if value.more_after else "",
        "first": value.rows[0].rank + 1 if rows else 0,
        "last": value.rows[-1].rank + 1 if rows else 0,
        "whole": view,
    }


def _shape(watch: Watch, scene: Scene, results: Sequence[Any | EchoMQError]) -> Shaped:
    seen, registry, page = results
    switches = _switches(watch)
    context: dict[str, Any] = {"switches": switches}
    data: dict[str, Any] = {}
    parts: dict[str, tuple[str, dict[str, Any]]] = {}
    at_ms = None
    if isinstance(seen, EchoMQError):
        context["fence_trouble"] = trouble(seen)
    else:
        known = None if isinstance(registry, EchoMQError) else registry
        job = address("job", watch.bus, watch.queue, b"-").removesuffix(to_path(b"-"))
        hide = watch.param("hide").split(".")
        series = chart.series(seen, watch.param("scale", "log"), known)
        data["fence"] = {**series, "job": job, "hide": hide}
        context["fence"], at_ms = _fence(seen), seen.at_ms
        may = watch.may("reschedule_job") and not scene.no_writes(watch.queue)
        context["drag"] = may and _dialog(watch)
    if isinstance(page, EchoMQError):
        context["list_trouble"] = trouble(page)
    else:
        context["list"] = _list(page, watch, switches["view"])
        parts = {f"due-{to_path(one['row'].id)}": (_ROW, one) for one in context["list"]["rows"]}
    faults = [one for one in results if isinstance(one, EchoMQError)]
    why = str(faults[0]) if faults else ""
    return Shaped(context, data, parts, at_ms=at_ms, complete=not faults, why=why)


def _dialog(watch: Watch) -> str:
    """Where the chart's hand asks for the reschedule dialog of a dropped mark."""
    path = reverse("echomq_admin:dialog", kwargs={"action": "reschedule"})
    return f"{path}?bus={watch.bus}&queue={to_path(watch.queue)}"


SCHEDULE = Page(
    name="schedule",
    title="Schedule",
    reading="The score is the run-at time. Left of the fence is late, right of it waits.",
    panels={
        "fence-panel": "echomq_admin/schedule/fence.html",
        "schedule-list": "echomq_admin/schedule/list.html",
    },
    look=_look,
    shape=_shape,
    clean=_clean,
)


@require_safe
def schedule(request: HttpRequest, bus: str, queue: bytes) -> HttpResponse:
    """The fence and the list of one queue's schedule."""
    return show(request, SCHEDULE, bus, queue)
