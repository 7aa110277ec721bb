"""Actions that change what a job is while it waits: its payload, and the lane it waits in."""

from __future__ import annotations

import unicodedata
from typing import Any

from django import forms

from echomq_admin.actions.action import (
    MOST_EXPECTED,
    Action,
    Asked,
    Order,
    Result,
    Shown,
    Subject,
    Target,
)
from echomq_admin.actions.admission import Payload, gate, mark
from echomq_admin.actions.whereabouts import a_job, facts_of, look, state_of, whereabouts
from echomq_admin.live.page import BadParameter, from_path, to_path
from echomq_admin.payload_view import veiled_by
from echomq_admin.templatetags.payload import preview
from queue_core import ids
from queue_core.errors import EchoMQError
from queue_core.outcomes import Word
from queue_core.plans import Plan
from queue_core.reads.ring import ring
from queue_core.reads.snapshot import Snapshot
from queue_core.reads.standing import Standing
from queue_core.states import State
from queue_core.verbs import jobs, lanes

# ---- another payload -------------------------------------------------------------------------


class NewPayload(Asked):
    """The payload in full. One that is not given at all is no empty one."""

    payload = Payload(
        required=False,
        label="Payload",
        widget=forms.Textarea(attrs={"class": "tall", "spellcheck": "false", "wrap": "soft"}),
    )
    field_order = ["payload", "reason"]
    unrecorded = frozenset({"payload"})
    derived = frozenset({"size", "mark"})

    def clean(self) -> dict[str, Any]:
        """The bytes, how many, and a mark that tells another text of that length apart."""
        checked: dict[str, Any] = super().clean()
        if "payload" not in self.data:
            self.add_error("payload", "Give the payload, also where it is to be empty.")
        raw = checked.get("payload") or b""
        checked["size"], checked["mark"] = len(raw), mark(raw)
        return checked

    def expected(self) -> str:
        """A mark of the payload that was seen, and nothing by which it could be guessed."""
        seen = super().expected()
        return mark(seen.encode()) if seen else ""


def _edit(order: Order) -> Plan[Result]:
    target, payload, expect = order.target, order.values["payload"], order.expect
    word = yield from jobs.update_data(target.keys, target.item, payload, expect)
    if word is Word.invalid:
        why = "A payload of more than 1 MiB is not compared: leave the expected state out."
        return Result(word, f"{why} Nothing written.")
    return Result(word, facts={"size": f"{len(payload):,}"})


def _as_text(raw: bytes) -> str | None:
    """The payload as a form can hold it and give it back byte by byte; None for any other. A form
    keeps no carriage return and no control character, and sends no byte that is not UTF-8."""
    try:
        text = raw.decode()
    except UnicodeDecodeError:
        return None
    kept = all(char in "\n\t" or unicodedata.category(char) != "Cc" for char in text)
    return text if kept else None


_BY_COMMAND = "give the bytes to manage.py echomq edit --payload-file."


def _describe_edit(_target: Target, seen: Snapshot[Standing]) -> Shown:
    job = seen.value
    if job.found != "row":
        refusal = "Its data is gone: there is no payload to edit."
        return Shown(facts_of(job), refusal=refusal, at_ms=seen.at_ms)
    field = job.fields.get(b"payload")
    raw = b"" if field is None else field.value
    text = None if raw is None else _as_text(raw)
    if raw is None:
        refusal = f"It has more bytes than a form shows whole: {_BY_COMMAND}"
    elif text is None:
        refusal = f"It is no plain text, and a form would change it: {_BY_COMMAND}"
    else:
        refusal = ""
    notes = ["The audit keeps its size and not its text, so there is no undo."]
    if state_of(job) is State.active:
        notes.append(
            "A worker has the old payload in hand; the new one counts from the next claim."
        )
    return Shown(
        facts=facts_of(job),
        notes=tuple(notes),
        refusal=refusal,
        expect="" if raw is None else jobs.digest(raw),
        was={"payload": text or ""},
        veil=veiled_by(raw) if raw else "",
        at_ms=seen.at_ms,
    )


OFFERED = 50
"""Lanes of the queue that a dialog names; any other may be typed."""

# ---- another lane ----------------------------------------------------------------------------


class OtherLane(Asked):
    """The lane to wait in; `expect` is the one it waits in now, as in a path where it begins
    with ~. What any engine named a lane is told whole, and the audit keeps its beginning."""

    expect = forms.CharField(required=False, strip=False, widget=forms.HiddenInput)
    to = forms.CharField(
        max_length=14,
        label="To lane",
        widget=forms.TextInput(attrs={"list": "offered-to", "autocomplete": "off"}),
    )
    field_order = ["to", "reason"]

    def clean_to(self) -> str:
        """A lane's name is a branded id of any namespace."""
        return gate("lane", self.cleaned_data["to"])

    def clean_expect(self) -> str:
        """The text as it is, where it names a lane."""
        expect: str = self.cleaned_data["expect"]
        try:
            _lane_of(expect)
        except BadParameter as fault:
            raise forms.ValidationError(f"The expected lane: {fault}.") from fault
        return expect

    def expected(self) -> str:
        """As much of it as the audit has room for."""
        return super().expected()[:MOST_EXPECTED]


def _lane_of(expect: str) -> bytes:
    return from_path(expect) if expect.startswith("~") else expect.encode()


def _reassign(order: Order) -> Plan[Result]:
    target, to = order.target, order.values["to"]
    source = _lane_of(order.expect)
    if not source:
        seen = yield from look(target)
        source = seen.value.lane.name if seen.value.lane else b""
    word = yield from lanes.reassign(target.keys, target.item, to, source or None)
    facts = {"to": to, "was": source.decode("ascii", "replace")}
    if word in (Word.reassigned, Word.noop):
        return Result(word, facts=facts)
    after = yield from whereabouts(target)
    if after is None:
        return Result(word, "Nothing written, and where it is now could not be read.")
    return Result(word, _elsewhere(word, after.value))


def _elsewhere(word: Word, job: Standing) -> str:
    state = state_of(job)
    if state is State.absent:
        return "It is gone: it completed or was removed. Nothing written."
    if job.lane is None:
        return f"It is {a_job(state)}, and in no lane. Nothing written."
    if word is Word.moved:
        return f"It is of lane {preview(job.lane.name, 60)} now. Nothing written."
    return f"It is {a_job(state)} now, not waiting in its lane. Nothing written."


def _look_around(target: Target) -> Plan[tuple[Snapshot[Standing], tuple[bytes, ...]]]:
    """The job, and the lanes of its queue that are at hand; none where they cannot be read."""
    seen = yield from look(target)
    try:
        known = (yield from ring(target.keys)).value.lanes
    except EchoMQError:
        known = ()
    return seen, tuple(lane.name for lane in known)


def _describe_reassign(
    _target: Target, found: tuple[Snapshot[Standing], tuple[bytes, ...]]
) -> Shown:
    seen, known = found
    job, state = seen.value, state_of(seen.value)
    facts, refusal, expect = facts_of(job), "", ""
    if state is not State.in_lane or job.lane is None or job.found != "row":
        refusal = _elsewhere(Word.not_pending, job)
    else:
        expect = to_path(job.lane.name)
        if job.lane.place is not None:
            facts += (("Place", f"{job.lane.place.rank + 1:,} of {job.lane.place.total:,}"),)
    notes = ("It waits there where the bytes of its id put it: an older id goes first.",)
    here = job.lane.name if job.lane else b""
    others = tuple(name.decode("ascii") for name in known if ids.is_id(name) and name != here)
    offered = {"to": others[:OFFERED]}
    return Shown(facts, notes, refusal, expect=expect, offered=offered, at_ms=seen.at_ms)


def _bring_back(_order: Order, result: Result) -> tuple[str, dict[str, str]] | None:
    was, to = result.facts["was"], result.facts["to"]
    return ("reassign_lane", {"to": was, "expect": to}) if ids.is_id(was.encode()) else None


EDIT = Action(
    name="edit_payload",
    word="Edit…",
    title="Edit the payload",
    icon="edit",
    permission="edit_payload",
    subject=Subject.job,
    plan=_edit,
    says={
        Word.ok: "{item} carries a payload of {size} bytes now.",
        Word.noop: "{item} carries this payload already. Nothing written.",
        Word.gone: "{item} is gone: it completed or was removed. Nothing written.",
        Word.moved: "Its payload was changed meanwhile. Nothing written.",
    },
    form=NewPayload,
    look=look,
    describe=_describe_edit,
    keeps_words=True,
)
REASSIGN = Action(
    name="reassign_lane",
    word="Move…",
    title="Move the job to another lane",
    icon="lanes",
    permission="manage_lanes",
    subject=Subject.job,
    plan=_reassign,
    says={
        Word.reassigned: "{item} waits in lane {to}.",
        Word.noop: "{item} is of lane {to} already. Nothing written.",
    },
    form=OtherLane,
    look=_look_around,
    describe=_describe_reassign,
    inverse=_bring_back,
)

ACTIONS = (EDIT, REASSIGN)
