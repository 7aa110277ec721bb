"""The repeat registry: cadences, countdowns, the next runs, drift and misses."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from django.http import HttpRequest, HttpResponse
from django.views.decorators.http import require_safe

from echomq_admin.charts import cadence as chart
from echomq_admin.live.page import Page, Shaped, Watch
from echomq_admin.live.scene import Scene
from echomq_admin.live.walk import Walks
from echomq_admin.redaction import Veil
from echomq_admin.views.listing import read_cursor, spell_cursor, trouble
from echomq_admin.views.show import show
from queue_core import keys
from queue_core.errors import EchoMQError
from queue_core.plans import Plan
from queue_core.reads import repeats as read
from queue_core.reads.schedule import Cursor
from queue_core.reads.snapshot import Snapshot

PREVIEW = 100

FOUND = 200
"""Unarmed records listed."""
DAY_MS = 86_400_000


_walks = Walks()


def _clean(raw: Mapping[str, str]) -> tuple[tuple[str, str], ...]:
    text = raw.get("after", "")
    if not text:
        return ()
    read_cursor(text)
    return (("after", text),)


def _look(watch: Watch, _scene: Scene) -> Sequence[Plan[Any]]:
    q = keys.found(watch.queue)
    after = watch.param("after")
    return (
        read.registry(q, read_cursor(after) if after else None),
        read.unarmed(q, _walks.of(watch.bus, watch.queue).cursor()),
    )


def _row(repeat: read.Repeat, now_ms: int, may_reveal: bool) -> dict[str, Any]:
    whole = len(repeat.template_head) == repeat.template_size
    veil = Veil.over(repeat.template_head, whole=whole, may=may_reveal)
    drifts = [run.drift_ms for run in repeat.runs if run.drift_ms is not None]
    return {
        "repeat": repeat,
        "late": repeat.next_ms is not None and repeat.next_ms <= now_ms,
        "preview": veil.preview(PREVIEW),
        "drift_ms": sum(drifts) / len(drifts) if drifts else None,
        "worst_drift_ms": max(drifts, default=None),
        "runs": repeat.runs[:3],
        # A cadence of whole days keeps its distance in ms, not its hour on a local clock.
        "daily": repeat.every_ms is not None and repeat.every_ms % DAY_MS == 0,
        "bad_cadence": repeat.found == "record" and repeat.every_ms is None,
    }


def _shape(watch: Watch, _scene: Scene, results: Sequence[Any | EchoMQError]) -> Shaped:
    seen, step = results
    walk = _walks.of(watch.bus, watch.queue)
    if isinstance(step, read.Unarmed):
        walk.take(step.cursor, step.names)
    context: dict[str, Any] = {
        "unarmed": walk.names[:FOUND],
        "searched": walk.whole,
        "search_fault": str(step) if isinstance(step, EchoMQError) else "",
    }
    if isinstance(seen, EchoMQError):
        return Shaped({**context, "trouble": trouble(seen)}, complete=False, why=str(seen))
    return _registry(watch, seen, context)


def _registry(watch: Watch, seen: Snapshot[read.Registry], context: dict[str, Any]) -> Shaped:
    registry, may = seen.value, watch.may("reveal_payload")
    rows = [_row(repeat, seen.at_ms, may) for repeat in registry.repeats]
    last = registry.repeats[-1] if registry.repeats else None
    armed = {repeat.name for repeat in registry.repeats}  # since the search met them
    context["unarmed"] = [name for name in context["unarmed"] if name not in armed]
    context |= {
        "registry": registry,
        "rows": rows,
        "overdue": sum(one["late"] for one in rows),
        "daily": any(one["daily"] for one in rows),
        "after": f"?after={spell_cursor(Cursor(last.score, last.name))}"
        if last and registry.more_after
        else "",
        "paged": bool(watch.param("after")),
    }
    data = {"cadence": chart.series(registry.repeats, seen.at_ms)} if registry.repeats else {}
    return Shaped(context, data, at_ms=seen.at_ms, complete=seen.complete, why=seen.why)


REPEATS = Page(
    name="repeats",
    title="Repeats",
    reading="The score is the next run. The pump takes what is due and arms the next slot.",
    panels={
        "cadence-panel": "echomq_admin/repeats/cadence.html",
        "registry": "echomq_admin/repeats/registry.html",
        "unarmed": "echomq_admin/repeats/unarmed.html",
    },
    look=_look,
    shape=_shape,
    clean=_clean,
)


@require_safe
def repeats(request: HttpRequest, bus: str, queue: bytes) -> HttpResponse:
    """The repeat registry of one queue."""
    return show(request, REPEATS, bus, queue)
