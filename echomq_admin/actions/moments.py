"""When something shall run, as people write it: a local time in a zone, or a span from now.

A local time that the zone's clock skips does not exist and one that it shows twice is not one
moment; both are refused with the two moments that may be meant.
"""

from __future__ import annotations

import re
from datetime import UTC, datetime, timedelta, timezone
from zoneinfo import ZoneInfo, ZoneInfoNotFoundError

_ZERO = datetime(1970, 1, 1, tzinfo=UTC)
_MS = timedelta(milliseconds=1)
_SPAN = re.compile(r"([+-]?)((?:\d+(?:\.\d+)?(?:ms|s|m|h|d|w))+)", re.ASCII)
_PART = re.compile(r"(\d+(?:\.\d+)?)(ms|s|m|h|d|w)", re.ASCII)
_UNIT_MS = {
    "ms": 1,
    "s": 1_000,
    "m": 60_000,
    "h": 3_600_000,
    "d": 86_400_000,
    "w": 604_800_000,
}
LONGEST_MS = 100 * 365 * 86_400_000
"""A century: longer spans are slips of the keyboard."""


class NotAMoment(ValueError):
    """Text that is no time, with up to two moments that may be meant as ISO text."""

    def __init__(self, why: str, suggestions: tuple[str, ...] = ()) -> None:
        self.suggestions = suggestions
        meant = " or ".join(suggestions)
        super().__init__(f"{why} Meant is {meant}." if meant else why)


def to_ms(moment: datetime) -> int:
    """Unix ms of an aware moment, exactly."""
    return (moment - _ZERO) // _MS


def from_ms(ms: int, zone: str = "UTC") -> datetime | None:
    """The moment in a zone; None where calendars end."""
    try:
        return (_ZERO + ms * _MS).astimezone(zone_named(zone))
    except OverflowError:
        return None


def zone_named(name: str) -> timezone | ZoneInfo:
    """A zone by its IANA name. `NotAMoment` where there is none."""
    if name == "UTC":
        return UTC
    try:
        return ZoneInfo(name)
    except (ZoneInfoNotFoundError, ValueError, OSError) as error:
        raise NotAMoment(f"There is no time zone {name!r}.") from error


def parse_moment(text: str, zone: str) -> int:
    """Unix ms of an ISO time. Without an offset it is read on the clock of `zone`."""
    written = text.strip()
    try:
        moment = datetime.fromisoformat(written)
    except ValueError:
        raise NotAMoment("A time is written 2026-11-29T21:30, with or without +01:00.") from None
    if moment.tzinfo is not None:
        return _within(moment)
    place = zone_named(zone)
    early, late = moment.replace(tzinfo=place, fold=0), moment.replace(tzinfo=place, fold=1)
    first, second = _within(early), _within(late)
    if first == second:
        return first
    # Read by the offset before and after the change: twice the moments, or none of them.
    meant = tuple(
        datetime.fromtimestamp(ms / 1000, place).isoformat(timespec=_exactly(moment))
        for ms in sorted((first, second))
    )
    exists = (_ZERO + first * _MS).astimezone(place).replace(tzinfo=None) == moment
    why = (
        f"{written} comes twice on that day in {zone}."
        if exists
        else f"{written} does not exist in {zone}: its clock is put forward over it."
    )
    raise NotAMoment(why, meant)


def _exactly(moment: datetime) -> str:
    """How exactly a time was written, for those that are offered in its place."""
    if moment.microsecond:
        return "milliseconds"
    return "seconds" if moment.second else "minutes"


def same_moment(one: str, other: str) -> bool:
    """Whether two texts are one time on one clock: a browser leaves out seconds that are zero."""
    try:
        return datetime.fromisoformat(one) == datetime.fromisoformat(other)
    except ValueError:
        return one == other


def _within(moment: datetime) -> int:
    try:
        return to_ms(moment)
    except OverflowError as error:
        raise NotAMoment("That lies outside the calendar.") from error


def parse_span(text: str) -> int:
    """A span in ms: 90s, 15m, 1h30m, 2d, -10m; a bare number is refused, since its unit would
    be a guess."""
    written = text.strip().replace(" ", "")
    match = _SPAN.fullmatch(written)
    if match is None:
        raise NotAMoment("A span is written 90s, 15m, 1h30m or 2d.")
    ms = sum(float(number) * _UNIT_MS[unit] for number, unit in _PART.findall(match[2]))
    if ms > LONGEST_MS:
        raise NotAMoment("That is more than a hundred years.")
    return round(-ms if match[1] == "-" else ms)


def shown(ms: int, zone: str = "UTC") -> str:
    """A moment in a sentence, with its zone: 2026-11-29 21:30:00 UTC; its number where calendars
    end."""
    moment = from_ms(ms, zone)
    if moment is None:
        return f"{ms} ms"
    spelled = moment.strftime("%Y-%m-%d %H:%M:%S")
    return f"{spelled} {moment.tzname() or zone}"
