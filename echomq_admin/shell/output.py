"""What a command prints: text that cannot command a terminal, or JSON lines that lose no byte."""

from __future__ import annotations

import json
import sys
from collections.abc import Iterable, Mapping, Sequence
from datetime import UTC, datetime, timedelta
from typing import Any, TextIO

from echomq_admin.live.page import BadParameter, from_path
from echomq_admin.templatetags.payload import visible
from queue_core.outcomes import Outcome

_ZERO = datetime(1970, 1, 1, tzinfo=UTC)


class Refused(Exception):
    """A command that ends here: an outcome for its exit code, and a sentence."""

    def __init__(self, outcome: Outcome, sentence: str) -> None:
        self.outcome = outcome
        super().__init__(sentence)


def iso(ms: int | None) -> str | None:
    """A moment as ISO-8601 in the local zone with its offset; its number where calendars end."""
    if ms is None:
        return None
    try:
        moment = (_ZERO + timedelta(milliseconds=ms)).astimezone()
    except (OverflowError, ValueError, OSError):
        return str(ms)
    return moment.isoformat(timespec="milliseconds")


def plain(value: Any) -> Any:
    """A value for JSON: bytes as text where they are UTF-8, else `{"b64": …}`."""
    if isinstance(value, bytes):
        from base64 import b64encode

        try:
            return value.decode("utf-8")
        except UnicodeDecodeError:
            return {"b64": b64encode(value).decode("ascii")}
    if isinstance(value, Mapping):
        return {str(name): plain(part) for name, part in value.items()}
    if isinstance(value, list | tuple):
        return [plain(part) for part in value]
    return value


def name_of(word: str, encoded: bool) -> bytes:
    """A name as the shell gave it: its very bytes, or ~base64url where it was asked to be so."""
    if not encoded:
        return word.encode("utf-8", "surrogateescape")
    try:
        return from_path(word)
    except BadParameter as fault:
        raise Refused(Outcome.invalid, f"{fault}.") from fault


class Printer:
    """Prints records as they come: aligned text, or one JSON object a line."""

    def __init__(self, as_json: bool, out: TextIO | None = None) -> None:
        self.as_json = as_json
        self._out = out or sys.stdout
        reconfigure = getattr(self._out, "reconfigure", None)
        if reconfigure is not None:
            # A terminal or pipe of another encoding shows what it lacks by number.
            reconfigure(errors="backslashreplace")

    def record(self, record: Mapping[str, Any], text: str) -> None:
        """One thing: `record` for programs, `text` for people."""
        self.line(json.dumps(plain(record), ensure_ascii=True) if self.as_json else text)

    def table(
        self, heads: Sequence[str], rows: Iterable[tuple[Mapping[str, Any], Sequence[Any]]]
    ) -> None:
        """Records with their cells. The width of a column is that of its head or of the first
        page of cells, so that a long list streams."""
        if self.as_json:
            for record, _ in rows:
                self.record(record, "")
            return
        page: list[list[str]] = [list(heads)]
        widths: list[int] = []
        for _, cells in rows:
            page.append([shown(cell) for cell in cells])
            if len(page) == 200:
                widths = self._page(page, widths)
                page = []
        self._page(page, widths)

    def _page(self, page: list[list[str]], widths: list[int]) -> list[int]:
        if not widths and page:
            widths = [max(map(len, column)) for column in zip(*page, strict=True)]
        for cells in page:
            padded = (cell.ljust(width) for cell, width in zip(cells, widths, strict=True))
            self.line("  ".join(padded).rstrip())
        return widths

    def line(self, text: str) -> None:
        """A line as it is; whoever builds it has made it safe."""
        self._out.write(f"{text}\n")


def shown(value: Any) -> str:
    """A value in a cell: nothing of the bus reaches the terminal as a command."""
    if value is None:
        return "unknown"
    if isinstance(value, bytes):
        return visible(value) or "(empty)"
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, int):
        return f"{value:,}"
    return visible(str(value))
