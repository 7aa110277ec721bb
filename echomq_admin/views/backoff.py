"""The backoff lab: a policy's curve, and the real jobs that wait on it. Nothing here writes."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from django.http import HttpRequest, HttpResponse
from django.views.decorators.http import require_safe

from echomq_admin.charts import curve as chart
from echomq_admin.live.page import BadParameter, Page, Shaped, Watch, to_path
from echomq_admin.live.scene import Scene
from echomq_admin.redaction import Veil
from echomq_admin.templatetags.echomq import address
from echomq_admin.views.listing import trouble
from echomq_admin.views.show import show
from queue_core import keys
from queue_core.errors import EchoMQError
from queue_core.plans import Plan
from queue_core.reads import retries as read
from queue_core.reads.snapshot import Snapshot

MOST_MS = 7 * 86_400_000
MOST_TRIES = 100

LISTED = 24
"""Waiting jobs told one by one."""

# What a worker of ours is given when nothing is said, and a plain policy to hold against it.
DEFAULTS = {
    "kind": "exponential", "base": "500", "cap": "30000", "tries": "8", "jitter": "1",
    "kind_b": "exponential", "base_b": "2000", "cap_b": "10000", "tries_b": "6", "jitter_b": "0",
}  # fmt: skip


def _number(raw: Mapping[str, str], name: str, most: int) -> str:
    text = (raw.get(name) or DEFAULTS[name]).replace(",", "")
    if not (text.isascii() and text.isdigit() and len(text) <= 18):
        raise BadParameter(f"{name} is a whole number from 1")
    return str(min(max(int(text), 1), most))


def _clean(raw: Mapping[str, str]) -> tuple[tuple[str, str], ...]:
    found = {}
    # An unticked box sends nothing, so a form says with `form` that it was sent.
    for end in ("", "_b"):
        kind = raw.get(f"kind{end}") or DEFAULTS[f"kind{end}"]
        if kind not in {"fixed", "exponential"}:
            raise BadParameter("a policy is fixed or exponential")
        found[f"kind{end}"] = kind
        found[f"base{end}"] = _number(raw, f"base{end}", MOST_MS)
        found[f"cap{end}"] = _number(raw, f"cap{end}", MOST_MS)
        found[f"tries{end}"] = _number(raw, f"tries{end}", MOST_TRIES)
        default = "0" if "form" in raw else DEFAULTS[f"jitter{end}"]
        found[f"jitter{end}"] = "1" if (raw.get(f"jitter{end}") or default) in {"1", "on"} else "0"
    return tuple(found.items())


def _policy(watch: Watch, end: str) -> chart.Policy:
    def value(name: str) -> str:
        return watch.param(name + end, DEFAULTS[name + end])

    base, cap = int(value("base")), int(value("cap"))
    tries, drawn = int(value("tries")), value("jitter") == "1"
    return chart.Policy(value("kind"), base, cap, tries, drawn)


def _look(watch: Watch, _scene: Scene) -> Sequence[Plan[Any]]:
    return (read.retries(keys.found(watch.queue)),)


def _nearest(seen: Snapshot[read.Retries], policy: chart.Policy, watch: Watch) -> dict[str, Any]:
    """The waiting job that has failed most, with what is known of its wait."""
    job = max(seen.value.waiting, key=lambda one: (one.failures, one.left_ms))
    veil = Veil.over(None, whole=False, may=watch.may("reveal_payload"))
    return {
        "job": job,
        "run_ms": round(float(job.score)),
        "left": max(0, policy.tries - job.failures),
        "top_ms": policy.top(job.failures),
        "error": veil.text(job.job.last_error),
    }


def _listed(waiting: Sequence[read.Waiting], policy: chart.Policy) -> list[dict[str, Any]]:
    """The exact rows beside the chart, nearest to dead first."""
    jobs = sorted(waiting, key=lambda one: (-one.failures, float(one.score)))[:LISTED]
    return [
        {
            "job": job,
            "run_ms": round(float(job.score)),
            "top_ms": policy.top(job.failures),
            "off": chart.misfit(policy, job),
        }
        for job in jobs
    ]


def _swapped(watch: Watch) -> str:
    given = dict(watch.params) or DEFAULTS
    turned = {
        name: given[name.removesuffix("_b") if name.endswith("_b") else f"{name}_b"]
        for name in DEFAULTS
    }
    return "?form=1&" + "&".join(f"{name}={value}" for name, value in turned.items())


def _shape(watch: Watch, _scene: Scene, results: Sequence[Any | EchoMQError]) -> Shaped:
    seen = results[0]
    ours, other = _policy(watch, ""), _policy(watch, "_b")
    curves = {"a": chart.lines(ours), "b": chart.lines(other)}
    context: dict[str, Any] = {"a": ours, "b": other, "swapped": _swapped(watch)}
    data: dict[str, Any] = {"way": curves}
    if isinstance(seen, EchoMQError):
        context["jobs_trouble"] = trouble(seen)
        data["curve"] = {**curves, "jobs": None}
        return Shaped(context, data, complete=False, why=str(seen))
    waiting = seen.value.waiting
    jobs = chart.points(ours, waiting)
    href = address("job", watch.bus, watch.queue, b"-").removesuffix(to_path(b"-"))
    data["curve"] = {**curves, "jobs": jobs, "job": href}
    context |= {
        "waiting": len(waiting),
        "retries": seen,
        "above": sum(job["off"] == "above" for job in jobs),
        "below": sum(job["off"] == "below" for job in jobs),
        "spent_a": sum(job.failures >= ours.tries for job in waiting),
        "spent_b": sum(job.failures >= other.tries for job in waiting),
        "claims": sum(job.most_ms is not None for job in waiting),
        "listed": _listed(waiting, ours),
        "unlisted": max(0, len(waiting) - LISTED),
        "nearest": _nearest(seen, ours, watch) if waiting else None,
    }
    return Shaped(context, data, at_ms=seen.at_ms, complete=seen.complete, why=seen.why)


BACKOFF = Page(
    name="backoff",
    title="Backoff",
    reading="The score is the moment of failure plus the curve. Nothing here writes; the policy "
    "lives in the worker.",
    panels={
        "curve-panel": "echomq_admin/backoff/curve.html",
        "way-panel": "echomq_admin/backoff/way.html",
        "changes": "echomq_admin/backoff/changes.html",
        "nearest": "echomq_admin/backoff/nearest.html",
        "waiting": "echomq_admin/backoff/waiting.html",
    },
    look=_look,
    shape=_shape,
    clean=_clean,
)


@require_safe
def backoff(request: HttpRequest, bus: str, queue: bytes) -> HttpResponse:
    """The curve of a policy and the jobs of one queue that wait."""
    return show(request, BACKOFF, bus, queue)
