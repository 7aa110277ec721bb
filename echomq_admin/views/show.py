"""One view for every page: find what is named, ask the observatory, render."""

from __future__ import annotations

from collections.abc import Mapping

from django.http import HttpRequest, HttpResponse
from django.shortcuts import render
from django.utils.translation import get_language

from echomq_admin.buses import bus_urls
from echomq_admin.live.observatory import observatory
from echomq_admin.live.page import BadParameter, Page, Watch
from echomq_admin.live.scene import Scene
from echomq_admin.permissions import rights_of
from echomq_admin.views.frame import frame_context
from echomq_admin.views.told import no_bus, told


def show(
    request: HttpRequest,
    page: Page,
    bus: str = "",
    queue: bytes = b"",
    item: bytes = b"",
    raw: Mapping[str, str] | None = None,
) -> HttpResponse:
    """The first paint of a page. `raw` are the parameters where not the request's. 404 for a bus
    that is not configured or a queue nobody has seen; 400 for parameters outside what the page
    takes."""
    if bus and bus not in bus_urls():
        return no_bus(request, bus)
    try:
        params = page.clean(request.GET.dict() if raw is None else raw)
    except BadParameter as fault:
        return told(request, 400, "That address asks for too much", str(fault))
    watch = Watch(bus, page.name, queue, item, params, rights_of(request.user), get_language())
    context = observatory().first(page, watch)
    if page.of_queue and _unseen(context["scene"], queue):
        return told(request, 404, "No such queue", "Nobody has seen a queue of that name:", queue)
    return render(
        request,
        f"echomq_admin/{page.name}/page.html",
        {**context, **frame_context(request, watch, context["now_ms"])},
    )


def _unseen(scene: Scene, queue: bytes) -> bool:
    return scene.state == "live" and queue not in scene.queues
