"""Active: who holds what, and for how long still."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from django.http import HttpRequest, HttpResponse
from django.views.decorators.http import require_safe

from echomq_admin.live.page import Page, Watch
from echomq_admin.live.scene import Scene
from echomq_admin.views.listing import clean_cursor, shape, side_of
from echomq_admin.views.show import show
from queue_core import keys
from queue_core.plans import Plan
from queue_core.reads import window as window_read


def _look(watch: Watch, _scene: Scene) -> Sequence[Plan[Any]]:
    return (window_read.active(keys.found(watch.queue), *side_of(watch)),)


ACTIVE = Page(
    name="active",
    title="Active",
    reading="The score is when the lease ends: until then the job belongs to its holder.",
    panels={"held": "echomq_admin/active/held.html"},
    look=_look,
    shape=shape,
    clean=clean_cursor,
)


@require_safe
def active(request: HttpRequest, bus: str, queue: bytes) -> HttpResponse:
    """Held jobs, the lease that ends first on top."""
    return show(request, ACTIVE, bus, queue)
