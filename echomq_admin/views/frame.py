"""What stands around every page: navigation, vitals, who looks."""

from __future__ import annotations

import json
from typing import Any

from django.http import HttpRequest
from django.middleware.csrf import get_token
from django.utils.translation import get_language

from echomq_admin.live import surroundings
from echomq_admin.live.observatory import observatory
from echomq_admin.live.page import Page, Shaped, Watch
from echomq_admin.permissions import rights_of, role_of
from echomq_admin.templatetags.freshness import iso

WIRE = "3.0.0"
"""The wire version this console speaks."""

# htmx without eval, without styles of its own, and swapping the answers that carry a sentence:
# a refusal is an answer to read, not a failure of the request.
HTMX_CONFIG = json.dumps({
    "includeIndicatorStyles": False,
    "allowEval": False,
    "allowScriptTags": False,
    "selfRequestsOnly": True,
    "historyCacheSize": 0,
    "defaultSettleDelay": 0,  # a form that opens is bound: an Enter at once stays here
    "responseHandling": [
        {"code": "204", "swap": False},
        {"code": "[23]..", "swap": True},
        {"code": "[45]..", "swap": True, "error": False},
    ],
})  # fmt: skip


def frame_context(request: HttpRequest, watch: Watch, now_ms: int) -> dict[str, Any]:
    """What base.html draws once per page load, outside of every panel."""
    scenes = observatory().scenes
    return {
        "version": WIRE,
        "nav": surroundings.navigation(watch),
        "phone_queue": surroundings.phone_queue(scenes, watch),
        "role": role_of(request.user),
        "clock": iso(now_ms)[11:19],
        "htmx_config": HTMX_CONFIG,
        "hx_headers": json.dumps({"X-CSRFToken": get_token(request)}),
        "tabs": surroundings.TABS,
    }


def framed(request: HttpRequest, title: str, name: str = "", reading: str = "") -> dict[str, Any]:
    """The whole context of base.html for a page that is not live: the audit, a message."""
    page = Page(name, title, reading, {}, _no_look, _no_shape, of_queue=False)
    watch = Watch("", name, rights=rights_of(request.user), language=get_language() or "en")
    shaped = Shaped({})
    scenes = observatory().scenes
    now_ms = next((scene.now_ms for scene in scenes.values()), 0)
    return {
        "watch": watch,
        "page": page,
        "shaped": shaped,
        "now_ms": now_ms,
        "clocks": {},
        "at_ms": None,
        "state": "still",
        **surroundings.context(page, watch, scenes),
        **frame_context(request, watch, now_ms),
    }


def _no_look(_watch: Watch, _scene: Any) -> tuple[()]:
    return ()


def _no_shape(_watch: Watch, _scene: Any, _results: Any) -> Shaped:
    return Shaped({})
