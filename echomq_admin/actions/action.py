"""What an action is: a name, who may, what it asks, the plan that does it, and its words.

An action is data. Pages, sockets, commands and programs differ only in how they ask for one;
`perform` is the one door that carries it out.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from enum import Enum
from typing import Any, Literal

from django import forms

from echomq_admin.live.page import Watch
from echomq_admin.templatetags.payload import preview
from queue_core.keys import QueueKeys, found
from queue_core.outcomes import OUTCOME_OF, Outcome, Word
from queue_core.plans import Plan

SHOWN = 60
"""Characters of a name in a sentence."""

MOST_EXPECTED = 200
"""Characters of an expected state that the audit keeps."""


class Subject(Enum):
    """What an action is done to; `item` of its target names it."""

    queue = "queue"
    lane = "lane"
    job = "job"
    repeat = "repeat"
    player = "player"
    new_job = "new job"


@dataclass(frozen=True, slots=True)
class Target:
    """What is acted on, in raw bytes: a queue and an item in it (a job id, a lane, a repeat's
    name), or a game and a player as its item. `lane` is where a job was seen whose row does not
    say so."""

    bus: str
    queue: bytes = b""
    item: bytes = b""
    game: bytes = b""
    lane: bytes = b""

    @property
    def keys(self) -> QueueKeys:
        """The keys of the queue, whatever it is called."""
        return found(self.queue)

    @property
    def named(self) -> str:
        """The item, or else the queue, as a sentence may show it."""
        return preview(self.item or self.game or self.queue, SHOWN) or "(empty name)"


@dataclass(frozen=True, slots=True)
class Order:
    """An action to carry out: its values were checked by the action's form. `expect` is the
    state that the operator saw; `job_id` the id under which something is created."""

    target: Target
    values: Mapping[str, Any]
    by: str
    expect: str = ""
    job_id: bytes = b""


@dataclass(frozen=True, slots=True)
class Result:
    """What a plan found. `sentence` where it knows better than the action's words; `outcome`
    where the word means something else than the table says; `facts` for whoever draws more."""

    word: Word
    sentence: str = ""
    outcome: Outcome | None = None
    facts: Mapping[str, str] = field(default_factory=dict)

    @property
    def means(self) -> Outcome:
        """The outcome that an operator is told."""
        return self.outcome or OUTCOME_OF[self.word]


@dataclass(frozen=True, slots=True)
class Shown:
    """What a dialog says of its subject before the click. `expect` binds the form to the state
    shown; `notes` are effects to know; `refusal` says why the action cannot be done now; `was`
    are first values of the form's fields, `offered` values that a field may take. `veil` says that
    the first values hold what a page does not show to everybody: `right` who may reveal sees them,
    `record` only after that was written down."""

    facts: tuple[tuple[str, Any], ...] = ()
    notes: tuple[str, ...] = ()
    refusal: str = ""
    expect: str = ""
    was: Mapping[str, str] = field(default_factory=dict)
    veil: Literal["", "right", "record"] = ""
    offered: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    at_ms: int | None = None


class Asked(forms.Form):
    """What every action may be asked with."""

    expect = forms.CharField(
        required=False, max_length=MOST_EXPECTED, strip=False, widget=forms.HiddenInput
    )
    reason = forms.CharField(required=False, max_length=500, label="Reason, kept in the audit")
    unrecorded: frozenset[str] = frozenset()
    derived: frozenset[str] = frozenset()

    def expected(self) -> str:
        """The expected state as the audit keeps it."""
        return str(self.cleaned_data.get("expect") or "")

    def recorded(self) -> dict[str, Any]:
        """The checked values as the audit keeps them: as they were asked, without payload,
        without the expected state (it has a column of its own) and without what is empty.
        `derived` names values worth keeping that are no fields."""
        kept = (set(self.fields) | self.derived) - self.unrecorded - {"expect"}
        return {
            name: value if isinstance(value, int | str) else str(value)
            for name, value in self.cleaned_data.items()
            if name in kept and value not in (None, "")
        }


class OnQueue(Asked):
    """Asked of verbs that would make a queue of whatever name they are given."""

    unseen = forms.BooleanField(required=False, widget=forms.HiddenInput)

    def clean_unseen(self) -> bool | None:
        """Whether it is meant for a queue that nobody has seen yet; None, which the audit leaves
        out, where not."""
        return self.cleaned_data["unseen"] or None


class Confirmed(Asked):
    """Asked of verbs without undo: a word has to be typed."""

    word = "remove"

    confirm = forms.CharField(required=False, max_length=40)

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.fields["confirm"].label = f"Type {self.word} to go on"
        self.fields["confirm"].widget.attrs |= {"autocomplete": "off", "autocapitalize": "none"}
        self.order_fields(["confirm"])

    def clean_confirm(self) -> str:
        """The word itself, in whatever case."""
        typed: str = self.cleaned_data["confirm"]
        if typed.strip().lower() != self.word:
            raise forms.ValidationError(f"There is no undo: type {self.word} to go on.")
        return ""


@dataclass(frozen=True, slots=True)
class Action:
    """One verb.

    `word` stands on its button, `title` above its dialog. `says` gives a sentence for each word
    of the wire, with `{item}`, `{queue}`, `{by}` and the result's facts in braces. `look` reads
    what the dialog shows and `describe` shapes it. `inverse` names the action and parameters
    that undo a done one. `creates` wants an id to be minted. `danger` marks verbs without undo.
    `keeps_words` leaves its dialog open where it is refused, for what was typed into it.
    """

    name: str
    word: str
    title: str
    icon: str
    permission: str
    subject: Subject
    plan: Callable[[Order], Plan[Result]]
    says: Mapping[Word, str] = field(default_factory=dict)
    form: type[Asked] = Asked
    look: Callable[[Target], Plan[Any]] | None = None
    describe: Callable[[Target, Any], Shown] | None = None
    inverse: Callable[[Order, Result], tuple[str, dict[str, str]] | None] | None = None
    dialog: bool = True
    danger: bool = False
    creates: bool = False
    keeps_words: bool = False

    def sentence(self, order: Order, result: Result) -> str:
        """What became of it, for people."""
        if result.sentence:
            return result.sentence
        pattern = self.says.get(result.word) or _PLAIN[result.word]
        names = {
            "item": order.target.named,
            "queue": preview(order.target.queue, SHOWN) or "(empty name)",
            "by": order.by,
            "subject": self.subject.value,
        }
        return pattern.format_map({**names, **result.facts})

    @property
    def press(self) -> str:
        """The word on a dialog's own button."""
        return self.word.removesuffix("…")

    def may(self, watch: Watch) -> bool:
        """Whether somebody who looks may press it."""
        return watch.may(self.permission)


_PLAIN: Mapping[Word, str] = {word: f"{word.value.replace('_', ' ')}." for word in Word} | {
    Word.ok: "Done.",
    Word.noop: "It was so already. Nothing written.",
    Word.gone: "There is no such {subject} any more. Nothing written.",
    Word.absent: "There is no such {subject}. Nothing written.",
    Word.locked: "A worker marked it as in its hands. Nothing written.",
    Word.moved: "It changed meanwhile. Nothing written.",
    Word.duplicate: "The id has a row already. Nothing written.",
    Word.kind: "A job's id begins with JOB. Nothing written.",
}
