"""A payload as somebody may see it: as a tree, as text, or as bytes."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from echomq_admin.exact_json import walk
from echomq_admin.redaction import Line, Veil, is_secret

VIEWS = ("tree", "text", "hex")

TREE_LINES = 200
TEXT_CHARS = 65_536
HEX_BYTES = 2_048
BESIDE_BYTES = 256
"""Bytes shown in hex below a text that is no plain text."""


@dataclass(frozen=True, slots=True)
class HexLine:
    """Sixteen bytes: their offset, their hex, and their text with marks."""

    offset: str
    digits: str
    text: bytes


@dataclass(frozen=True, slots=True)
class PayloadView:
    """One view of a payload of `size` bytes. `hidden` says why nothing is shown, `note` what one
    must know about what is; `masked` whether something in it is."""

    size: int
    view: str
    lines: tuple[Line, ...] = ()
    text: str = ""
    rows: tuple[HexLine, ...] = ()
    left_out: int = 0
    hidden: str = ""
    note: str = ""
    masked: bool = False


def _masks(veil: Veil) -> bool:
    """Whether the tree holds anything that its views mask."""
    keys = [key for _d, key, _n in walk(veil.tree) if key is not None]
    if any(is_secret(key, veil.words) or veil.key(key) != key for key in keys):
        return True
    leaves = (node for _d, _k, node in walk(veil.tree) if isinstance(node, str))
    return any(veil.veiled(str(leaf)) != leaf for leaf in leaves)


def veiled_by(raw: bytes) -> Literal["", "right", "record"]:
    """What a payload asks before it is shown as it is: nothing, the right to reveal where it has
    no tree that could be masked, or a record as well where something in it is masked."""
    veil = Veil.over(raw, whole=True, may=True)
    if not veil.parsed:
        return "right"
    return "record" if _masks(veil) else ""


def _hex(raw: bytes) -> tuple[HexLine, ...]:
    return tuple(
        HexLine(f"{at:06x}", raw[at : at + 16].hex(" "), raw[at : at + 16])
        for at in range(0, len(raw), 16)
    )


def pretty(veil: Veil) -> str:
    """The tree as indented text, masked: a view, never the source."""
    said = []
    for line in veil.lines(TREE_LINES):
        key = f'"{line.key}": ' if line.key is not None else ""
        said.append("  " * line.depth + key + (line.note if line.kind == "masked" else line.text))
    return "\n".join(said)


def payload_view(veil: Veil, size: int, wanted: str) -> PayloadView:
    """The view asked for, or the tree where there is one and the text where there is none."""
    raw = veil.raw
    view = wanted or ("tree" if veil.parsed else "text")
    if raw is None:
        return PayloadView(size, view, hidden="too long for this page")
    if not veil.parsed and not veil.may:
        return PayloadView(size, view, hidden=veil.no_tree)
    masked = veil.parsed and _masks(veil)
    if view == "tree" and veil.parsed:
        return PayloadView(size, view, lines=tuple(veil.lines(TREE_LINES)), masked=masked)
    note = "" if veil.parsed else f"No tree: {veil.no_tree}."
    if view == "hex":
        if masked:
            return PayloadView(size, view, hidden="bytes cannot be masked by name", masked=True)
        rows = _hex(raw[:HEX_BYTES])
        return PayloadView(size, view, rows=rows, left_out=max(0, len(raw) - HEX_BYTES), note=note)
    if masked:
        return PayloadView(
            size, "text", text=pretty(veil), note="Masked, so not the source.", masked=True
        )
    text = raw.decode("utf-8", "surrogateescape")
    return PayloadView(
        size,
        "text",
        text=text[:TEXT_CHARS],
        rows=() if text.isprintable() or veil.parsed else _hex(raw[:BESIDE_BYTES]),
        left_out=max(0, len(text) - TEXT_CHARS),
        note=note,
    )
