"""Numbers as a hostile bus may hold them: endless, infinite, beyond every calendar."""

from __future__ import annotations

import math
from dataclasses import replace

import pytest

from echomq_admin.templatetags.freshness import iso, when
from echomq_admin.templatetags.units import duration, short, signed_ms
from queue_core.numbers import DIGITS, digits
from queue_core.reads.glance import Glance
from queue_core.reads.presence import Presence

ENDLESS = b"9" * 5_000
"""More digits than Python reads as a number."""


@pytest.mark.parametrize("raw", [None, b"", b"-1", b"1.5", b"inf", b"\xff", ENDLESS, b"1" * 19])
def test_what_is_no_count_is_none(raw: bytes | None) -> None:
    assert digits(raw) is None


def test_a_count_is_read_to_its_last_digit() -> None:
    assert digits(b"0") == 0
    assert digits(b"9" * DIGITS) == 10**DIGITS - 1


def test_endless_attempts_are_no_number_of_tries() -> None:
    seen = Glance("row", b"1", None, None, None, None, b"w:1:" + ENDLESS, 0, b"")
    assert seen.tries == 1
    assert seen.claimed_ms is None
    assert replace(seen, attempts=ENDLESS).tries is None


def test_an_endless_bucket_is_left_out_of_a_histogram() -> None:
    seen = Presence(b"w", None, {b"wait:3": ENDLESS, b"wait:4": b"7"})
    assert seen.histogram("wait")[4] == 7
    assert seen.histogram("wait")[3] == 0


@pytest.mark.parametrize("form", ["clock", "due", "in", "late", "since", "span", "iso"])
def test_an_infinite_moment_is_said_in_words(form: str) -> None:
    assert "never" in when(math.inf, form)
    assert "before all time" in when(-math.inf, form)
    assert len(when(1e308, form)) < 200


def test_spans_and_moments_without_end_stay_short() -> None:
    assert duration(math.inf) == short(-math.inf) == "endless"
    assert signed_ms(math.inf) == "+endless"
    assert iso(int(1e308)) == "1e+308"
    assert iso(9_007_199_254_740_991) == "9007199254740991"
