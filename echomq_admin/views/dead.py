"""Dead: jobs whose attempts are used up, with their errors, the newest mint first."""

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
    return (window_read.dead(keys.found(watch.queue), *side_of(watch)),)


DEAD = Page(
    name="dead",
    title="Dead",
    reading="The score is 0: newest mint first, by the bytes of the id. No engine claims these.",
    panels={"graves": "echomq_admin/dead/graves.html"},
    look=_look,
    shape=shape,
    clean=clean_cursor,
)


@require_safe
def dead(request: HttpRequest, bus: str, queue: bytes) -> HttpResponse:
    """The dead with their errors."""
    return show(request, DEAD, bus, queue)
