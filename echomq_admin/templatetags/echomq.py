"""The console's own tags: icons, states, numbers, moments, hostile text and page addresses."""

from typing import Any

from django import template
from django.template.loader import render_to_string
from django.urls import reverse
from django.utils.html import format_html, json_script
from django.utils.safestring import SafeString

from echomq_admin.templatetags import freshness, payload, units

register = template.Library()
for _part in (freshness, payload, units):
    register.filters.update(_part.register.filters)
    register.tags.update(_part.register.tags)

LONG = 256
"""A name of more bytes is carried as addresses spell it, so that no page shows it whole."""

_OF_NO_BUS = frozenset({"overview", "audit"})
_KINDS = frozenset({"delayed", "retry"})
_STATE_COLOUR = {
    "pending": "pending",
    "active": "active",
    "schedule": "scheduled",
    "scheduled": "scheduled",
    "dead": "dead",
    "completed": "completed",
    "delayed": "scheduled",
    "retry": "scheduled",
    "repeat": "scheduled",
    "zero": "zero",
}


@register.simple_tag
def icon(name: str, extra: str = "") -> SafeString:
    """A glyph of the sprite, `pause` or `k-repeat`; `extra` are more classes (`s` is 12 px)."""
    symbol = name if name.startswith("k-") else f"i-{name}"
    symbol = f"k-{name}" if name in _KINDS else symbol
    return format_html(
        '<svg class="i{}" aria-hidden="true"><use href="#{}"/></svg>',
        f" {extra}" if extra else "",
        symbol,
    )


@register.simple_tag
def copy(value: bytes | str, what: str) -> SafeString:
    """A button that copies a text: `what` names it. Bytes that are no text are copied as a path
    spells them, which every field and command that takes a name understands."""
    text, also = value, ""
    if isinstance(value, bytes) and len(value) > LONG:
        return _copying("data-copy-name", payload.path(value), f"Copy {what}")
    if isinstance(value, bytes):
        try:
            text = value.decode()
        except UnicodeDecodeError:
            text, also = payload.path(value), ", as an address spells it"
    return _copying("data-copy", str(text), f"Copy {what}{also}")


@register.simple_tag
def copy_from(where: str, what: str) -> SafeString:
    """A button that copies what the console answers at an address."""
    return _copying("data-copy-from", where, f"Copy {what}")


def _copying(attribute: str, value: str, label: str) -> SafeString:
    return format_html(
        '<button class="icon-btn copy" type="button" data-command="copy" {}="{}"'
        ' aria-label="{}" title="{}">{}</button>',
        SafeString(attribute), value, label, label, icon("copy"),
    )  # fmt: skip


@register.simple_tag
def state(name: str, word: str = "") -> SafeString:
    """A state or kind as glyph and word in its colour; one unheard of is shown as unknown."""
    colour = _STATE_COLOUR.get(name, "unknown")
    glyph = {"schedule": "scheduled", "repeat": "k-repeat"}.get(name, name)
    if colour == "unknown":
        glyph = "unknown"
    shown = word or {"schedule": "scheduled"}.get(name, name)
    return format_html(
        '<span class="badge s-{}">{}{}</span>', colour, icon(glyph), payload.visible(shown)
    )


def address(page: str, bus: str = "", queue: bytes | None = None, item: bytes | None = None) -> str:
    """The path of a page. A queue or item given makes the path that names it."""
    named: dict[str, Any] = {}
    if bus and page not in _OF_NO_BUS:
        named["bus"] = bus
    if queue is not None:
        named["queue"] = queue
    if item is not None:
        named["item"] = item
    return reverse(f"echomq_admin:{page}", kwargs=named)


@register.simple_tag(takes_context=True)
def page_url(
    context: template.Context,
    page: str,
    queue: bytes | None = None,
    item: bytes | None = None,
    bus: str = "",
) -> str:
    """The path of a page on the current bus: `{% page_url "schedule" queue=name %}`."""
    return address(page, bus or context["watch"].bus, queue, item)


@register.simple_tag(takes_context=True)
def part(context: template.Context, element: str) -> SafeString:
    """A part of a panel (`Shaped.parts`) in its place; drawn once, also where it is sent alone."""
    drawn = context.get("drawn_parts", {})
    if element in drawn:
        return SafeString(drawn[element])
    file, own = context["shaped"].parts[element]
    return SafeString(render_to_string(file, {**context.flatten(), **own}))


@register.simple_tag(takes_context=True)
def chart_data(context: template.Context, element: str) -> SafeString:
    """A chart's numbers for its first drawing, as JSON beside its element."""
    return json_script(context["shaped"].data.get(element), f"{element}-data")
