"""Numbers and spans of time as words: counts, durations, bytes."""

import json
import math

from django import template
from django.utils.html import format_html
from django.utils.safestring import SafeString

register = template.Library()

_SECOND, _MINUTE, _HOUR, _DAY = 1_000, 60_000, 3_600_000, 86_400_000
_BINARY = ("B", "KiB", "MiB", "GiB", "TiB", "PiB")

UNKNOWN = SafeString('<span class="unknown">unknown</span>')


@register.filter
def count(number: int | None) -> SafeString:
    """1,204; a zero in grey; None as unknown, never as zero."""
    if number is None:
        return UNKNOWN
    if number == 0:
        return SafeString('<span class="dim3">0</span>')
    return SafeString(f"{number:,}")


@register.filter
def compact(number: int | None, complete: bool = True) -> SafeString:
    """A total in few figures: 60,413 as it is, 3.11 M from a million on; with the sign of "at
    least" where a part of it is not known."""
    if number is not None and not complete:
        return format_html("≥ {}", compact(number))
    if number is None or abs(number) < 1_000_000:
        return count(number)
    for size, unit in ((10**12, "T"), (10**9, "G"), (10**6, "M")):
        if abs(number) >= size:
            return SafeString(f"{number / size:.3g} {unit}")
    raise AssertionError(number)


def spell_duration(ms: int | float) -> str:
    """0.4 s, 41 s, 4 m 12 s, 38 m, 9 h 07 m, 3 d 4 h; the sign is the caller's to show.
    An infinite span, as a score of the bus may make, is endless."""
    if not math.isfinite(ms):
        return "endless"
    ms = abs(int(ms))
    if ms < 10 * _SECOND:
        return f"{ms / _SECOND:.1f} s"
    if ms < _MINUTE:
        return f"{ms // _SECOND} s"
    if 10 * _MINUTE <= ms < _HOUR:
        return f"{ms // _MINUTE} m"
    if ms < _HOUR:
        minutes, seconds = divmod(ms // _SECOND, 60)
        return f"{minutes} m {seconds:02} s" if seconds else f"{minutes} m"
    if ms < _DAY:
        hours, minutes = divmod(ms // _MINUTE, 60)
        return f"{hours} h {minutes:02} m" if minutes else f"{hours} h"
    days, hours = divmod(ms // _HOUR, 24)
    return f"{days:,} d {hours} h" if hours else f"{days:,} d"


@register.filter
def duration(ms: int | float | None) -> str:
    """A span in ms as words; None as unknown."""
    return UNKNOWN if ms is None else spell_duration(ms)


@register.filter
def short(ms: int | None) -> str:
    """A span that may be very short: 64 ms, else as `duration`."""
    return f"{ms} ms" if ms is not None and -math.inf < ms < _SECOND else duration(ms)


@register.filter
def signed_ms(ms: int | float | None) -> str:
    """A clock difference: +3 ms, -41 ms, +1 m 30 s."""
    if ms is None:
        return UNKNOWN
    sign = "+" if ms >= 0 else "−"  # noqa: RUF001
    return f"{sign}{abs(round(ms))} ms" if abs(ms) < _SECOND else f"{sign}{spell_duration(ms)}"


@register.filter
def rate(per_second: float | None) -> str:
    """A rate with one figure after the point, 42.1; None as unknown."""
    return UNKNOWN if per_second is None else f"{per_second:,.1f}"


@register.filter
def size(number: int | None) -> str:
    """Bytes in binary units: 912 B, 6.6 GiB; None as unknown."""
    if number is None:
        return UNKNOWN
    scaled, unit = float(number), 0
    while scaled >= 1024 and unit < len(_BINARY) - 1:
        scaled, unit = scaled / 1024, unit + 1
    return f"{number:,} B" if unit == 0 else f"{scaled:.1f} {_BINARY[unit]}"


@register.filter(name="json")
def as_json(value: object) -> str:
    """A small value as JSON for a data attribute; escaped like any text."""
    return json.dumps(value)


@register.filter
def at_least(number: int | None, complete: bool) -> SafeString:
    """A count that may have stopped at its bound: with the sign of "at least" where it did."""
    return count(number) if complete or number is None else format_html("≥ {}", f"{number:,}")
