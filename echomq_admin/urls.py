"""The pages of the console, without a prefix: a project mounts them where it likes."""

from collections.abc import Callable

from django.http import HttpResponse
from django.urls import path
from django.urls.resolvers import URLPattern

from echomq_admin import paths  # noqa: F401  (registers <name:…>)
from echomq_admin.views import (
    act,
    active,
    audit,
    backoff,
    board,
    boards,
    dead,
    dialog,
    health,
    job,
    overview,
    payload,
    pending,
    repeats,
    schedule,
    sign_in,
    trail,
    workers,
)
from echomq_admin.views.access import allowed
from echomq_admin.views.told import drawn

app_name = "echomq_admin"

_QUEUE = "bus/<str:bus>/queue/<name:queue>/"
_JOB = f"{_QUEUE}job/<name:item>"


def _page(name: str, route: str, view: Callable[..., HttpResponse]) -> URLPattern:
    """A route for those who may look; a view may ask for more."""
    return path(route, drawn(allowed("view")(view)), name=name)


urlpatterns = [
    _page("overview", "", overview.overview),
    _page("pending", f"{_QUEUE}pending", pending.pending),
    _page("schedule", f"{_QUEUE}schedule", schedule.schedule),
    _page("active", f"{_QUEUE}active", active.active),
    _page("dead", f"{_QUEUE}dead", dead.dead),
    _page("repeats", f"{_QUEUE}repeats", repeats.repeats),
    _page("backoff", f"{_QUEUE}backoff", backoff.backoff),
    _page("workers", f"{_QUEUE}workers", workers.workers),
    _page("job", _JOB, job.job),
    _page("payload", f"{_JOB}/payload", payload.payload),
    _page("trail", f"{_JOB}/trail", trail.trail),
    _page("boards", "bus/<str:bus>/boards", boards.boards),
    _page("board", "bus/<str:bus>/board/<name:item>", board.board),
    _page("audit", "audit", audit.audit),
    _page("act", "act/<str:action>", act.act),
    _page("dialog", "dialog/<str:action>", dialog.dialog),
    path("health", health.health, name="health"),
    path("health/buses", health.buses_health, name="buses_health"),
    path("login", drawn(sign_in.Password.as_view()), name="login"),
    path("logout", drawn(sign_in.sign_out), name="logout"),
    path("sign-in/<str:token>", drawn(sign_in.by_link), name="sign_in"),
]
