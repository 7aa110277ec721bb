"""Bytes of the bus as text a person can read; hostile until escaped, so never marked safe."""

import unicodedata

from django import template

from echomq_admin.live.page import to_path

register = template.Library()

# Marks that would reorder or hide what stands beside them are shown by their number.
_HIDDEN = {"Cf", "Co", "Cs", "Zl", "Zp"}


def _shown(char: str) -> str:
    code = ord(char)
    if code < 0x20:
        return chr(0x2400 + code)
    if code == 0x7F:
        return "␡"
    if 0xDC80 <= code <= 0xDCFF:
        return f"⟨{code - 0xDC00:02x}⟩"
    if 0x80 <= code < 0xA0 or unicodedata.category(char) in _HIDDEN:
        return f"⟨U+{code:04X}⟩"
    return char


@register.filter
def visible(raw: bytes | str | None) -> str:
    """The whole text: control characters as their symbols, bytes that are no UTF-8 as ⟨ff⟩."""
    if raw is None:
        return ""
    text = raw.decode("utf-8", "surrogateescape") if isinstance(raw, bytes) else raw
    return text if text.isascii() and text.isprintable() else "".join(map(_shown, text))


@register.filter
def preview(raw: bytes | str | None, length: int) -> str:
    """At most `length` characters of `visible`, with an ellipsis where it was cut."""
    if raw is None:
        return ""
    cut = raw[: length * 4 + 4]
    text = visible(cut)
    return text if len(text) <= length and len(cut) == len(raw) else text[: length - 1] + "…"


@register.filter
def ends(raw: bytes | str | None, length: int) -> str:
    """At most `length` characters of `visible`, cut in the middle: workers of one process differ
    in the last of their names."""
    if raw is not None and len(raw) > length * 8:
        raw = raw[: length * 4] + raw[-length * 4 :]
    text = visible(raw)
    head = (length - 1) // 2
    return text if len(text) <= length else text[:head] + "…" + text[head + 1 - length :]


@register.filter
def visible_lines(raw: bytes | str | None, most: int) -> str:
    """`visible` with its line breaks kept, at most so many lines and then how many are left."""
    if raw is None:
        return ""
    text = raw.decode("utf-8", "surrogateescape") if isinstance(raw, bytes) else raw
    lines = text.split("\n")
    shown = [visible(line) for line in lines[:most]]
    if len(lines) > most:
        shown.append(f"… {len(lines) - most:,} more lines")
    return "\n".join(shown)


@register.filter
def path(name: bytes) -> str:
    """A name as it stands in a path: ~ and base64url."""
    return to_path(name)
