"""JSON that a client sent, which may be anything."""

from __future__ import annotations

import json
from typing import Any

from echomq_admin.live.page import BadParameter


def texts(found: dict[str, Any]) -> dict[str, str]:
    """What it says by name, as a form would: text as it is, other values as JSON, null left out."""
    return {
        name: value if isinstance(value, str) else json.dumps(value)
        for name, value in found.items()
        if value is not None
    }


def json_object(text: str | bytes) -> dict[str, Any]:
    """The one JSON object that a client sent. `BadParameter` for what is no JSON or no object,
    for nesting that Python does not follow, and for text that has no bytes (a lone surrogate),
    which neither the bus nor the audit could hold."""
    try:
        found = json.loads(text)
        json.dumps(found, ensure_ascii=False).encode()
    except (ValueError, RecursionError):
        found = None
    if not isinstance(found, dict):
        raise BadParameter("the body is one JSON object")
    return found
