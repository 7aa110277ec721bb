"""An outcome for whoever asked: status and exit code, a sentence, and how it looks."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from queue_core.outcomes import Outcome, Word


@dataclass(frozen=True, slots=True)
class Undo:
    """What takes a done action back: an action and its parameters, on the same target."""

    action: str
    params: Mapping[str, str]


@dataclass(frozen=True, slots=True)
class Answer:
    """What became of an action. `word` is the wire's, empty where it was not asked; `audit_id`
    the entry that keeps it, None where nothing was tried. `facts` are for whoever draws more
    than the sentence; `errors` tells by field what was asked wrongly."""

    outcome: Outcome
    sentence: str
    word: Word | None = None
    audit_id: int | None = None
    facts: Mapping[str, str] = field(default_factory=dict)
    errors: Mapping[str, list[str]] = field(default_factory=dict)
    undo: Undo | None = None

    @property
    def title(self) -> str:
        """The outcome as a heading."""
        return self.outcome.word.replace("-", " ").capitalize()

    @property
    def icon(self) -> str:
        """The glyph beside the heading."""
        return _LOOK[self.outcome][0]

    @property
    def tone(self) -> str:
        """The colour's class; a refusal is no alarm and takes none of a state's colours."""
        return _LOOK[self.outcome][1]

    def as_json(self) -> dict[str, Any]:
        """For programs."""
        told: dict[str, Any] = {
            "outcome": self.outcome.word,
            "word": self.word.value if self.word else None,
            "sentence": self.sentence,
            "audit_id": self.audit_id,
        }
        if self.facts:
            told["facts"] = dict(self.facts)
        if self.errors:
            told["errors"] = dict(self.errors)
        return told


_LOOK: Mapping[Outcome, tuple[str, str]] = {
    Outcome.done: ("completed", "s-completed"),
    Outcome.already: ("same", "s-zero"),
    Outcome.invalid: ("warn", "s-unknown"),
    Outcome.gone: ("gone", "s-unknown"),
    Outcome.wrong_state: ("warn", "s-unknown"),
    Outcome.locked: ("lock", "s-unknown"),
    Outcome.not_permitted: ("shield", "s-unknown"),
    Outcome.unavailable: ("plug", "s-unknown"),
    Outcome.unknown: ("unknown", "s-unknown"),
}
