"""The pages of the console, without a prefix: a project mounts them where it likes."""

from importlib import import_module
from typing import Any

from django.http import HttpRequest, HttpResponse
from django.urls import path
from django.urls.resolvers import URLPattern

from echomq_admin import paths  # noqa: F401  (registers <name:…>)
from echomq_admin.views import sign_in
from echomq_admin.views.access import allowed
from echomq_admin.views.act import act
from echomq_admin.views.dialog import dialog
from echomq_admin.views.health import buses_health, health

app_name = "echomq_admin"

_QUEUE = "bus/<str:bus>/queue/<name:queue>/"


def _page(name: str, route: str) -> URLPattern:
    @allowed("view")
    def view(request: HttpRequest, **named: Any) -> HttpResponse:
        return getattr(import_module(f"echomq_admin.views.{name}"), name)(request, **named)

    return path(route, view, name=name)


urlpatterns = [
    _page("overview", ""),
    *(
        _page(name, f"{_QUEUE}{name}")
        for name in ("pending", "schedule", "active", "dead", "repeats", "backoff", "workers")
    ),
    _page("job", f"{_QUEUE}job/<name:item>"),
    _page("payload", f"{_QUEUE}job/<name:item>/payload"),
    _page("boards", "bus/<str:bus>/boards"),
    _page("board", "bus/<str:bus>/board/<name:item>"),
    _page("audit", "audit"),
    path("health", health, name="health"),
    path("health/buses", buses_health, name="buses_health"),
    path("act/<str:action>", act, name="act"),
    path("dialog/<str:action>", dialog, name="dialog"),
    path("login", sign_in.Password.as_view(), name="login"),
    path("logout", sign_in.sign_out, name="logout"),
    path("sign-in/<str:token>", sign_in.by_link, name="sign_in"),
]
