"""Numbers, spans and hostile bytes as words."""

import pytest

from echomq_admin.templatetags.echomq import address, icon, state
from echomq_admin.templatetags.freshness import age, iso, when
from echomq_admin.templatetags.payload import ends, preview, visible
from echomq_admin.templatetags.units import (
    at_least,
    compact,
    count,
    duration,
    rate,
    signed_ms,
    size,
)


@pytest.mark.parametrize(
    ("ms", "words"),
    [(0, "0.0 s"), (400, "0.4 s"), (9_999, "10.0 s"), (41_000, "41 s"), (252_000, "4 m 12 s"),
     (120_000, "2 m"), (2_300_000, "38 m"), (3_600_000, "1 h"), (32_820_000, "9 h 07 m"),
     (274_000_000, "3 d 4 h"), (2_592_000_000, "30 d"), (-5_000, "5.0 s")],
)  # fmt: skip
def test_durations(ms, words):
    assert duration(ms) == words


def test_unknown_is_never_zero():
    for spelled in (count(None), compact(None), duration(None), size(None), rate(None), when(None)):
        assert "unknown" in spelled
        assert "0" not in spelled


def test_counts():
    assert count(1204) == "1,204"
    assert count(0) == '<span class="dim3">0</span>'
    assert compact(3_114_000) == "3.11 M"
    assert compact(60_413) == "60,413"
    assert at_least(10_000, False) == "≥ 10,000"
    assert at_least(10_000, True) == "10,000"
    assert size(7_086_696_038) == "6.6 GiB"
    assert signed_ms(3) == "+3 ms"
    assert signed_ms(-41) == "−41 ms"  # noqa: RUF001


@pytest.mark.parametrize("ms", [-9e15, 9e15, 253_402_300_800_000, -62_135_596_800_001])
def test_case_50_a_moment_beyond_the_calendar_is_its_number(ms):
    assert iso(int(ms)) == str(int(ms))
    assert "<time" in when(ms)


def test_case_22_bytes_that_are_no_text_are_marked():
    assert visible(b"\xff\xfe\x00\xc3(") == "⟨ff⟩⟨fe⟩␀⟨c3⟩("
    assert visible(b"a\nb\t\x1b[31m\x7f") == "a␊b␉␛[31m␡"
    assert visible("‮evil".encode()) == "⟨U+202E⟩evil"
    assert visible("Grüße 🎲".encode()) == "Grüße 🎲"


def test_a_preview_is_cut_and_says_so():
    assert preview(b"abcdef", 6) == "abcdef"
    assert preview(b"abcdefg", 6) == "abcde…"
    assert preview(("ü" * 50).encode(), 10) == "ü" * 9 + "…"
    assert len(preview(b"x" * 10_000_000, 80)) == 80
    assert preview(None, 5) == ""


def test_names_that_differ_at_their_end_are_cut_before_it():
    assert ends(b"abcdef", 6) == "abcdef"
    assert ends(b"node.example.4711.2", 8) == "nod…11.2"
    assert ends(b"node.example.4711.3", 9) == "node…11.3"
    assert ends("ü" * 10_000_000 + "é", 9) == "üüüü…üüüé"
    assert ends(b"\xff" * 10_000_000, 9) == "⟨ff⟩…⟨ff⟩"
    assert ends(None, 5) == ""


def test_hostile_text_never_becomes_markup():
    hostile = "<script>alert(1)</script>"
    assert "<script>" not in state(hostile)
    assert "<script>" not in icon(hostile)
    assert "<script>" not in age(label=hostile)


def test_addresses_name_what_they_are_of():
    assert address("schedule", "main", b"a/b") == "/bus/main/queue/~YS9i/schedule"
    assert address("overview", "main") == "/"
    assert address("job", "main", b"cm", b"007").endswith("/job/~MDA3")
