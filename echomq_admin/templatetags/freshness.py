"""Moments and ages: every number can say how old it is, and unknown is never zero.

Times go out as `<time>` with the ISO moment; `js/times.js` writes them against the clock of the
bus, so that a frame carries no text that depends on the browser.
"""

import math
from datetime import UTC, datetime, timedelta

from django import template
from django.utils.html import format_html
from django.utils.safestring import SafeString

from echomq_admin.templatetags.units import UNKNOWN
from queue_core.numbers import DIGITS

register = template.Library()

_ZERO = datetime(1970, 1, 1, tzinfo=UTC)
_FORMATS = frozenset({"clock", "due", "date", "in", "ago", "late", "since", "span", "iso"})
_EDGE_MS = 253_402_300_799_999  # the last moment of year 9999, where calendars end

_BEYOND = (
    SafeString('<span title="The score is -inf.">before all time</span>'),
    SafeString('<span title="The score is inf.">never</span>'),
)
"""For an infinite score, which is a moment that no calendar has."""


def iso(ms: int) -> str:
    """A moment of the bus as ISO-8601 in UTC with milliseconds; beyond year 9999 its number, as
    the server would print it."""
    if not -62_135_596_800_000 <= ms <= _EDGE_MS:
        return str(ms) if abs(ms) < 10**DIGITS else f"{ms:.6g}"
    return (_ZERO + timedelta(milliseconds=ms)).isoformat(timespec="milliseconds")[:23] + "Z"


@register.simple_tag
def when(ms: int | float | None, form: str = "clock") -> SafeString:
    """A moment in ms of the bus's clock. `clock` 20:52:14, on another day with that, `due` to the
    ms or as `date` with its day, `in` how far ahead and then how late, `ago` how long since,
    `late` by how much it is overdue, `since` an age, which says so where the moment lies ahead,
    `span` the distance alone, `iso` in full."""
    if form not in _FORMATS:
        raise template.TemplateSyntaxError(f"when has no form {form!r}")
    if ms is None:
        return UNKNOWN
    if not math.isfinite(ms):
        return _BEYOND[ms > 0]
    text = iso(int(ms))
    number = int(ms) if abs(ms) < 10**DIGITS else text
    shown = text[11:19] if form == "clock" and text.endswith("Z") else text
    return format_html(
        '<time datetime="{}" data-ms="{}" data-format="{}">{}</time>', text, number, form, shown
    )


_DIAL = SafeString(
    '<svg class="dial" viewBox="0 0 12 12" aria-hidden="true">'
    '<circle class="dial-bg" cx="6" cy="6" r="4.5"/>'
    '<circle class="dial-fg" cx="6" cy="6" r="4.5" pathLength="100" stroke-dasharray="0 100"'
    ' transform="rotate(-90 6 6)"/></svg>'
)


@register.simple_tag
def dial() -> SafeString:
    """The small dial that fills over a tick; `js/times.js` turns it."""
    return _DIAL


@register.simple_tag
def age(at_ms: int | str | None = None, label: str = "") -> SafeString:
    """Dial and age of a number read at `at_ms`. Without a moment it is the age of the page's
    own reading, with `row` that of the part it stands in (`Shaped.ages`); both follow each
    frame, so that a panel does not change by growing older."""
    at = "page" if at_ms is None else str(at_ms)
    return format_html(
        '<span class="age" data-at="{}">{}{}<span class="age-n">…</span></span>',
        at,
        _DIAL,
        f"{label} " if label else "",
    )


@register.simple_tag
def unknown(why: str = "") -> SafeString:
    """The word over its dashed line, with the reason for whoever asks."""
    return format_html('<span class="unknown" title="{}">unknown</span>', why) if why else UNKNOWN
