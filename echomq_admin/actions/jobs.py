"""Actions on one job: retry a dead one, give a scheduled one another time, run it, remove it."""

from __future__ import annotations

import math
from typing import Any, Literal

from django import forms

from echomq_admin import config
from echomq_admin.actions.action import (
    Action,
    Asked,
    Confirmed,
    Order,
    Result,
    Shown,
    Subject,
    Target,
)
from echomq_admin.actions.moments import (
    NotAMoment,
    from_ms,
    parse_moment,
    parse_span,
    same_moment,
    shown,
    zone_named,
)
from echomq_admin.actions.whereabouts import PLACES, a_job, facts_of, look, state_of, whereabouts
from queue_core.numbers import EXACT, digits
from queue_core.outcomes import Outcome, Word
from queue_core.plans import Plan
from queue_core.reads.snapshot import Snapshot
from queue_core.reads.standing import Standing, standing
from queue_core.states import State, step
from queue_core.verbs import jobs

WAITING = frozenset({State.pending, State.in_lane, State.active})


# ---- retry a dead job ------------------------------------------------------------------------


def _retry(order: Order) -> Plan[Result]:
    target = order.target
    word = yield from jobs.reprocess_job(target.keys, target.item)
    if word is Word.ok:
        return Result(word)
    seen = yield from whereabouts(target)
    if seen is None:
        return Result(word, "It is not dead, and where it is now could not be read.")
    state = state_of(seen.value)
    if word is Word.gone and seen.value.dead is not None:
        return Result(word, "Its data is gone; only its id is left among the dead.")
    if word is Word.gone:
        return Result(word)
    if state in WAITING:
        return Result(word, f"It needs no retry: it is {a_job(state)}.", Outcome.already)
    return Result(word, f"It is {a_job(state)} now, not dead. Nothing written.")


def _describe_retry(_target: Target, seen: Snapshot[Standing]) -> Shown:
    job, state = seen.value, state_of(seen.value)
    tries = job.number(b"attempts")
    refusal = ""
    if job.found != "row":
        refusal = "Its data is gone: there is nothing left to run."
    elif not step("reprocess_job", state).allowed:
        refusal = f"It is {a_job(state)}, not dead."
    counted = "unknown" if tries is None else str(tries)
    effect = (
        f"Attempts stay at {counted}, so that no old holder can settle the new run: under the "
        "same cap it gets one more try, and its next failure kills it again."
    )
    return Shown(
        facts=facts_of(job),
        notes=(effect, *_without_children(job)),
        refusal=refusal,
        expect=f"dead {counted}",
        at_ms=seen.at_ms,
    )


def _without_children(job: Standing) -> tuple[str, ...]:
    """A flow's parent that is made to run although children are outstanding (protocol part 10,
    row 38)."""
    left = digits(job.children_left)
    if not left:
        return ()
    those = "Its last child is" if left == 1 else f"{left:,} of its children are"
    return (f"{those} not done: it runs without waiting, and without what they would answer.",)


# ---- another time ----------------------------------------------------------------------------


class When(Asked):
    """A time to run at: a local time in a zone, a span to postpone by, or exact ms."""

    at = forms.CharField(
        required=False,
        max_length=40,
        label="Run at",
        widget=forms.DateTimeInput(attrs={"type": "datetime-local", "step": "1"}),
    )
    zone = forms.CharField(required=False, max_length=64, label="Zone")
    by = forms.CharField(
        required=False,
        max_length=40,
        label="or postpone by",
        widget=forms.TextInput(attrs={"placeholder": "90s, 15m, 1h30m, 2d"}),
    )
    at_ms = forms.IntegerField(
        required=False, min_value=-EXACT, max_value=EXACT, widget=forms.HiddenInput
    )
    at_was = forms.CharField(required=False, max_length=40, widget=forms.HiddenInput)
    meant = forms.CharField(required=False, max_length=40)  # a suggestion that was pressed
    field_order = ["at", "zone", "by", "reason"]
    unrecorded = frozenset({"at_was", "zone", "meant"})

    def clean(self) -> dict[str, Any]:
        """Exactly one of the three, as Unix ms or as a span. The time that the dialog was drawn
        with is none that was asked for."""
        checked: dict[str, Any] = super().clean()
        if checked.get("at") and same_moment(checked["at"], checked.get("at_was") or ""):
            checked["at"] = ""
        checked["at"] = checked.get("meant") or checked.get("at")
        asked = [name for name in ("at", "by", "at_ms") if checked.get(name) not in (None, "")]
        if len(asked) != 1 and not self.errors:
            raise forms.ValidationError(
                "Give another time, or a span to postpone by."
                if not asked
                else "Give one of them only."
            )
        zone = checked.get("zone") or config.zone()
        try:
            zone_named(zone)
            if checked.get("at"):
                checked["at_ms"] = parse_moment(checked["at"], zone)
            if checked.get("by"):
                checked["by_ms"] = parse_span(checked["by"])
        except NotAMoment as error:
            field = "by" if "by" in asked else "at"
            self.suggestions = error.suggestions
            self.add_error(field, str(error))
        checked["zone"] = zone
        return checked


def _reschedule(order: Order) -> Plan[Result]:
    target, values = order.target, order.values
    run_at, expect = values.get("at_ms"), order.expect
    if run_at is None:
        seen = yield from standing(target.keys, target.item)
        if seen.value.schedule is None:
            return _not_scheduled(seen.value)
        # From the later of its time and now: 15 minutes more for a job that is an hour late
        # would still lie behind.
        planned = seen.value.schedule.at_ms
        expect = expect or seen.value.schedule.score
        run_at = max(seen.at_ms, planned if planned is not None else seen.at_ms) + values["by_ms"]
    word = yield from jobs.reschedule(target.keys, target.item, run_at, expect or None)
    facts = {"run_at": shown(run_at, values["zone"]), "was": expect, "run_at_ms": str(run_at)}
    if word in (Word.ok, Word.noop):
        return Result(word, facts=facts)
    seen_after = yield from whereabouts(target)
    if seen_after is None:
        return Result(word, "It changed, and what it is now could not be read.", facts=facts)
    if word is Word.moved and seen_after.value.schedule is not None:
        held = seen_after.value.schedule.at_ms
        now_at = "another time" if held is None else shown(held, values["zone"])
        return Result(word, f"It was moved to {now_at} meanwhile. Nothing written.", facts=facts)
    return _not_scheduled(seen_after.value, word)


def _not_scheduled(job: Standing, word: Word = Word.not_scheduled) -> Result:
    state = state_of(job)
    if state is State.absent:
        orphan = job.schedule is not None
        return Result(
            Word.gone,
            "Its data is gone; only its id is left in the schedule."
            if orphan
            else "It is gone: it completed or was removed. Nothing written.",
        )
    return Result(word, f"It is {a_job(state)} now, not scheduled. Nothing written.")


def _describe_reschedule(_target: Target, seen: Snapshot[Standing]) -> Shown:
    job = seen.value
    place = job.schedule
    if place is None:
        return Shown(facts_of(job), refusal=_not_scheduled(job).sentence, at_ms=seen.at_ms)
    held = None if place.at_ms is None else from_ms(place.at_ms, config.zone())
    local = held.replace(tzinfo=None).isoformat(timespec="seconds") if held else ""
    return Shown(
        facts=facts_of(job),
        refusal="" if job.found == "row" else "Its data is gone: there is nothing left to run.",
        expect=place.score,
        was={"at": local, "at_was": local, "zone": config.zone()},
        at_ms=seen.at_ms,
    )


def _put_back(_order: Order, result: Result) -> tuple[str, dict[str, str]] | None:
    was = float(result.facts["was"] or "inf")
    if not math.isfinite(was):
        return None
    return "reschedule", {"at_ms": f"{was:.0f}", "expect": result.facts["run_at_ms"]}


def _run_now(order: Order) -> Plan[Result]:
    target = order.target
    word = yield from jobs.run_now(target.keys, target.item)
    if word is Word.ok:
        return Result(word)
    seen = yield from whereabouts(target)
    if seen is None:
        return Result(word)
    if word is Word.noop:
        return Result(word, f"It is {a_job(state_of(seen.value))} already. Nothing written.")
    return _not_scheduled(seen.value, word)


# ---- remove ----------------------------------------------------------------------------------


class Removed(Confirmed):
    """Which set is expected to hold it, in `expect`; a word typed."""


def _astray(target: Target, job: Standing) -> bool:
    """Whether its row names another lane than the one it was seen in."""
    return bool(target.lane) and job.lane is not None and job.lane.name != target.lane


def _state(target: Target, job: Standing) -> State:
    """Where it is; in the lane it was seen in, as long as nothing says that it left."""
    stands = target.lane and job.lane is not None and job.lane.place is not None
    return State.in_lane if stands or _astray(target, job) else state_of(job)


def _remove(order: Order) -> Plan[Result]:
    target = order.target
    seen = yield from look(target)
    state = _state(target, seen.value)
    expected = order.expect or state.value
    if expected not in PLACES:
        word = yield from _remove_row(target, expected, state)
        return word
    lane = target.lane or (seen.value.lane.name if seen.value.lane else b"")
    if expected == State.in_lane and not lane:
        return Result(Word.gone, "Its row is gone and says no lane. Name the lane it was seen in.")
    word = yield from jobs.remove_member(target.keys, PLACES[expected], target.item, lane)
    if word is Word.ok:
        return Result(word, (yield from _what_is_left(target, expected, seen.value)))
    if word is not Word.gone:
        return Result(word)
    after = yield from whereabouts(target)
    if after is None:
        return Result(Word.gone, f"It is no more {expected}; where it is could not be read.")
    now = state_of(after.value)
    if now is State.absent and not after.value.sets:
        return Result(Word.gone)
    if _astray(target, after.value):
        return Result(Word.gone, "It is not in that lane any more. Nothing written.")
    return Result(Word.moved, f"It is {a_job(now)} now, not {expected}. Nothing written.")


def _what_is_left(target: Target, expected: str, before: Standing) -> Plan[str]:
    """After a set forgot it: that it had no row, or that its row stays. Empty where it went too."""
    that = "waiting in that lane" if _astray(target, before) else a_job(State(expected))
    out = f"{target.named} is not {that} any more."
    if before.found == "none":
        return f"{out} It had no row."
    after = yield from whereabouts(target)
    if after is None:
        return f"{out} Whether its row is gone as well could not be read."
    if after.value.found == "none":
        return ""
    return f"{out} Its row stays: it is {a_job(state_of(after.value))}."


def _remove_row(target: Target, expected: str, state: State) -> Plan[Result]:
    """A job that no set names: its row alone."""
    if state is State.absent:
        return Result(Word.gone)
    if expected != state.value:
        return Result(Word.moved, f"It is {a_job(state)} now, not {expected}. Nothing written.")
    apart: Literal["awaiting_children", "unknown"] = (
        "awaiting_children" if state is State.awaiting_children else "unknown"
    )
    word = yield from jobs.remove_job(target.keys, target.item, expected=apart)
    if word is not Word.moved:
        return Result(word)
    after = yield from whereabouts(target)
    now = "another" if after is None else a_job(state_of(after.value))
    return Result(word, f"It is {now} now, not {expected}. Nothing written.")


def _describe_remove(target: Target, seen: Snapshot[Standing]) -> Shown:
    job, state = seen.value, _state(target, seen.value)
    facts = facts_of(job)
    notes = ["Its row and its log are deleted. There is no undo: the audit keeps no payload."]
    if state is State.active:
        notes.append("Its worker runs on; its result will be refused.")
    gone = state is State.absent and not job.sets
    refusal = "It is gone: it completed or was removed." if gone else ""
    if job.lock_ms is not None:
        refusal = "A worker marked it as in its hands. Wait until its lock ends."
    if _astray(target, job):
        facts += (("Seen in lane", target.lane),)
        notes = ["Only that lane forgets it. Its row stays where another set or lane names it."]
    return Shown(facts, tuple(notes), refusal, expect=state.value, at_ms=seen.at_ms)


# ---- as data ---------------------------------------------------------------------------------

RETRY_DEAD = Action(
    name="retry_dead",
    word="Retry…",
    title="Retry the dead job",
    icon="repeat",
    permission="retry_job",
    subject=Subject.job,
    plan=_retry,
    says={
        Word.ok: "{item} waits to run again. Its attempts stay as they are.",
        Word.gone: "{item} is gone: its data is no more. Nothing written.",
    },
    look=look,
    describe=_describe_retry,
)
RESCHEDULE = Action(
    name="reschedule",
    word="Reschedule…",
    title="Another time for the job",
    icon="shift",
    permission="reschedule_job",
    subject=Subject.job,
    plan=_reschedule,
    says={
        Word.ok: "{item} runs at {run_at}.",
        Word.noop: "{item} is at {run_at} already. Nothing written.",
    },
    form=When,
    look=look,
    describe=_describe_reschedule,
    inverse=_put_back,
)
RUN_NOW = Action(
    name="run_now",
    word="Run now",
    title="Run the job now",
    icon="play",
    permission="reschedule_job",
    subject=Subject.job,
    plan=_run_now,
    says={
        Word.ok: "{item} moved to where claims find it.",
        Word.noop: "It waits or runs already. Nothing written.",
        Word.not_scheduled: "It is not scheduled any more. Nothing written.",
    },
    look=look,
    dialog=False,
)
REMOVE = Action(
    name="remove_job",
    word="Remove…",
    title="Remove the job",
    icon="trash",
    permission="remove_job",
    subject=Subject.job,
    plan=_remove,
    says={
        Word.ok: "{item} is removed, with its row and its log.",
        Word.gone: "{item} is gone already: it completed or was removed.",
    },
    form=Removed,
    look=look,
    describe=_describe_remove,
    danger=True,
)

ACTIONS = (RETRY_DEAD, RESCHEDULE, RUN_NOW, REMOVE)
