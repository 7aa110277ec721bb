"""The action that brings a job in: now, at a time, after a span, flat or in a lane."""

from __future__ import annotations

from typing import Any

from django import forms
from django.utils.crypto import salted_hmac

from echomq_admin import config
from echomq_admin.actions.action import Action, Asked, Order, Result, Shown, Subject, Target
from echomq_admin.actions.moments import NotAMoment, parse_moment, parse_span, shown, zone_named
from queue_core import ids, names
from queue_core.errors import InvalidError
from queue_core.keys import queue
from queue_core.outcomes import Word
from queue_core.plans import Plan
from queue_core.verbs import admission

MOST_BYTES = 16 * 1_048_576
"""The largest payload that a person or a command hands over."""


class Payload(forms.Field):
    """Text as UTF-8, or bytes as they are: a payload is opaque and goes unchanged."""

    widget = forms.Textarea

    def to_python(self, value: Any) -> bytes:
        """The bytes; no payload is the empty one."""
        raw: bytes = value if isinstance(value, bytes) else str(value or "").encode()
        if len(raw) > MOST_BYTES:
            raise forms.ValidationError(f"A payload is at most {MOST_BYTES:,} bytes.")
        return raw


def mark(raw: bytes) -> str:
    """What the audit keeps of a payload to tell it from another: the same for the same bytes, and
    of no use to whoever has not this console's own key."""
    return salted_hmac("echomq_admin.payload", raw).hexdigest()[:16]


def gate(field: str, written: str) -> str:
    """A name that only a branded id may be, or none; `ValidationError` for any other."""
    if written and not ids.is_id(written.encode()):
        raise forms.ValidationError(
            f"An admissible {field} is three capital letters and eleven of 0-9 A-Z a-z."
        )
    return written


class NewJob(Asked):
    """What a new job carries, when it runs and where it waits."""

    payload = Payload(required=False, label="Payload")
    at = forms.CharField(
        required=False,
        max_length=40,
        label="Run at",
        widget=forms.DateTimeInput(attrs={"type": "datetime-local", "step": "1"}),
    )
    after = forms.CharField(
        required=False,
        max_length=40,
        label="or after",
        widget=forms.TextInput(attrs={"placeholder": "90s, 15m, 1h30m, 2d"}),
    )
    meant = forms.CharField(required=False, max_length=40)  # a suggestion that was pressed
    zone = forms.CharField(required=False, max_length=64, label="Zone")
    lane = forms.CharField(required=False, max_length=14, label="Lane")
    id = forms.CharField(required=False, max_length=14, label="Id, else minted")
    field_order = ["payload", "at", "zone", "after", "lane", "id", "reason"]
    unrecorded = frozenset({"payload", "zone", "meant"})
    derived = frozenset({"size", "mark"})

    def clean_lane(self) -> str:
        """A lane's name is a branded id of any namespace."""
        return gate("lane", self.cleaned_data["lane"])

    def clean_id(self) -> str:
        """The caller's own id, for a repeat of the call to find what the first one did."""
        return gate("id", self.cleaned_data["id"])

    def clean(self) -> dict[str, Any]:
        """At most one of a time and a span."""
        checked: dict[str, Any] = super().clean()
        checked["at"] = checked.get("meant") or checked.get("at")
        if checked.get("at") and checked.get("after"):
            raise forms.ValidationError("Give a time or a span, not both.")
        zone = checked["zone"] = checked.get("zone") or config.zone()
        try:
            zone_named(zone)
            if checked.get("at"):
                checked["at_ms"] = parse_moment(checked["at"], zone)
            if checked.get("after"):
                checked["after_ms"] = parse_span(checked["after"])
                if checked["after_ms"] < 0:
                    raise NotAMoment("A job cannot wait less than nothing.")
        except NotAMoment as error:
            self.suggestions = error.suggestions
            self.add_error("after" if checked.get("after") else "at", str(error))
        raw = checked.get("payload") or b""
        checked["size"], checked["mark"] = len(raw), mark(raw)
        return checked


def _enqueue(order: Order) -> Plan[Result]:
    keys, values = queue(order.target.queue), order.values
    payload, lane, job_id = values["payload"], values["lane"], order.job_id
    when = "now"
    if "at_ms" in values:
        when = f"at {shown(values['at_ms'], values['zone'])}"
    elif "after_ms" in values:
        when = f"in {values['after']}"
    if lane and "at_ms" in values:
        word = yield from admission.lane_enqueue_at(keys, lane, job_id, payload, values["at_ms"])
    elif lane and "after_ms" in values:
        word = yield from admission.lane_enqueue_in(keys, lane, job_id, payload, values["after_ms"])
    elif lane:
        word = yield from admission.lane_enqueue(keys, lane, job_id, payload)
    elif "at_ms" in values:
        word = yield from admission.enqueue_at(keys, job_id, payload, values["at_ms"])
    elif "after_ms" in values:
        word = yield from admission.enqueue_in(keys, job_id, payload, values["after_ms"])
    else:
        word = yield from admission.enqueue(keys, job_id, payload)
    facts = {"job": job_id.decode("ascii"), "when": when}
    return Result(word, facts=facts)


def _describe(target: Target, _seen: None) -> Shown:
    try:
        names.check_queue(target.queue)
    except InvalidError:
        return Shown(
            refusal="No job can be created in a queue of this name: names that create are 1 to "
            "128 of A-Z a-z 0-9 . _ -."
        )
    return Shown(was={"zone": config.zone()})


ENQUEUE = Action(
    name="enqueue",
    word="Enqueue…",
    title="Enqueue a job",
    icon="pending",
    permission="enqueue_job",
    subject=Subject.new_job,
    plan=_enqueue,
    says={
        Word.enqueued: "{job} is enqueued in {queue}.",
        Word.scheduled: "{job} is enqueued in {queue}, to run {when}.",
        Word.duplicate: "{job} has a row already. Nothing written.",
    },
    form=NewJob,
    describe=_describe,
    creates=True,
)

ACTIONS = (ENQUEUE,)
