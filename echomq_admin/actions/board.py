"""The action on a board: re-score one player against the score that was seen."""

from __future__ import annotations

from django import forms

from echomq_admin.actions.action import Action, Asked, Order, Result, Shown, Subject, Target
from queue_core import boards
from queue_core.errors import InvalidError
from queue_core.outcomes import Word
from queue_core.plans import Plan
from queue_core.reads.boards import Board, board
from queue_core.reads.snapshot import Snapshot


class Wanted(Asked):
    """A whole number in plain digits. Text, so that nothing reads it on the way and rounds it."""

    score = forms.CharField(required=False, max_length=64, label="New total")
    field_order = ["score", "reason"]

    def clean_score(self) -> str:
        """The canonical text of the score."""
        try:
            return boards.whole_score(self.cleaned_data["score"])
        except InvalidError as error:
            raise forms.ValidationError(f"{str(error)[:1].upper()}{str(error)[1:]}.") from error

    def clean(self) -> dict[str, object]:
        """An expected total is a must: a re-score against nothing would be a blind overwrite."""
        checked: dict[str, object] = super().clean()
        if not checked.get("expect"):
            self.add_error(None, "A re-score says which total it expects to replace.")
        return checked


def _rescore(order: Order) -> Plan[Result]:
    target, wanted = order.target, order.values["score"]
    word, held = yield from boards.rescore(target.game, target.item, wanted, order.expect)
    facts = {"expected": order.expect, "held": held or "", "wanted": wanted}
    if word is Word.ok and held != wanted:
        changed = f"{target.named} holds {held}: the board stored {wanted} as that."
        return Result(word, changed, facts=facts)
    return Result(word, facts=facts)


def _look(target: Target) -> Plan[Snapshot[Board]]:
    return (yield from board(target.game, top=1, player=target.item, around=1))


def _describe(target: Target, seen: Snapshot[Board]) -> Shown:
    place = next((one for one in seen.value.around if one.player == target.item), None)
    if place is None:
        return Shown(
            refusal="This player is on the board no more, and a re-score brings nobody back.",
            at_ms=seen.at_ms,
        )
    return Shown(
        facts=(("Rank", f"{place.rank:,} of {seen.value.players:,}"), ("It holds", place.score)),
        notes=("The new total replaces the best, also by a lower one, which a fold never does.",),
        expect=place.held,
        was={"score": place.score},
        at_ms=seen.at_ms,
    )


RESCORE = Action(
    name="rescore",
    word="Re-score…",
    title="Re-score",
    icon="edit",
    permission="rescore_board",
    subject=Subject.player,
    plan=_rescore,
    says={
        Word.ok: "{item} holds {held} now; it was {expected}.",
        Word.noop: "{item} holds {held} already. Nothing written.",
        Word.moved: "The board holds {held}, not the {expected} you saw. Nothing written.",
        Word.gone: "{item} is on the board no more, and is not brought back.",
    },
    form=Wanted,
    look=_look,
    describe=_describe,
    inverse=lambda order, result: (
        "rescore",
        {"score": boards.shown_score(order.expect.encode()), "expect": result.facts["held"]},
    ),
)

ACTIONS = (RESCORE,)
