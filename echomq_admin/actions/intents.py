"""The audit around an action: an intent before it, its outcome after, and who was first.

An intent is written before anything is sent, so that a crash leaves a trace that says so. The
request id makes a resend find what the first sending did.
"""

from __future__ import annotations

import hashlib
import time
import uuid
from dataclasses import dataclass
from datetime import timedelta
from typing import Any

from django.db import IntegrityError, transaction
from django.utils import timezone

from echomq_admin.actions.action import Action, Subject, Target
from echomq_admin.actions.answers import Answer
from echomq_admin.models import AuditEntry
from queue_core.outcomes import Outcome, Word

WAIT_S, LOOK_S = 3.0, 0.05
"""How long a resend waits for the first sending to be answered, and how often it looks."""

BUS = 64
"""Characters of a bus's name; somebody without the right may name what is none."""

SAME_SIGHT = timedelta(hours=1)
BLIND = timedelta(seconds=60)
"""How long ago another's act may lie to count as the one that was asked for again: long where
both saw the same state of the subject, short where nobody said what was seen."""

DIGITS = 80
"""Of a request id in the audit; a longer one is kept as its digest."""

_SETTLED = {Outcome.done.word, Outcome.already.word}


@dataclass(frozen=True, slots=True)
class Actor:
    """Who acts: a name for the audit, the permissions held, and whoever runs the shell."""

    who: str
    rights: frozenset[str]
    system_user: str = ""


@dataclass(frozen=True, slots=True)
class Asking:
    """One sending of an action, as the audit keeps it."""

    actor: Actor
    action: Action
    target: Target
    expect: str
    params: dict[str, Any]
    request_id: str
    source: str

    @property
    def item(self) -> bytes:
        """What the entry names: the item, or the job that is brought in."""
        if self.action.subject is Subject.new_job:
            return str(self.params.get("job_id", "")).encode()
        return self.target.item

    def row(self) -> dict[str, Any]:
        """The columns of its entry."""
        return {
            "request_id": self.request_id,
            "who": self.actor.who,
            "system_user": self.actor.system_user,
            "source": self.source,
            "action": self.action.name,
            "bus": self.target.bus,
            "queue": self.target.queue,
            "item": self.item,
            "game": self.target.game,
            "expected": self.expect,
            "params": self.params,
        }

    def resends(self, entry: AuditEntry) -> bool:
        """Whether an entry of the same request id asked for the same thing."""
        return (
            entry.action == self.action.name
            and entry.bus == self.target.bus
            and bytes(entry.queue) == self.target.queue
            and (self.action.subject is Subject.new_job or bytes(entry.item) == self.item)
            and bytes(entry.game) == self.target.game
            and entry.expected == self.expect
            and _asked(entry.params) == _asked(self.params)
        )


def kept_request_id(given: str) -> str:
    """A request id as the audit keeps it: another one for another text, however long."""
    return given if len(given) <= DIGITS else hashlib.sha256(given.encode()).hexdigest()


def fresh_request_id() -> str:
    """For a form that is drawn, or a sending that brought none."""
    return uuid.uuid4().hex


def _asked(params: dict[str, Any]) -> dict[str, Any]:
    """What was asked for, without what the console added or a person remarked."""
    return {name: value for name, value in params.items() if name not in {"job_id", "reason"}}


def earlier(asking: Asking) -> AuditEntry | Answer | None:
    """The last attempt of this request: an answer where it settled the matter, or where the same
    request id is another's or asked for something else; an entry where it may be tried again."""
    until = time.monotonic() + WAIT_S
    while True:
        last = AuditEntry.objects.filter(request_id=asking.request_id).order_by("-attempt").first()
        if last is None:
            return None
        if last.who != asking.actor.who:
            return Answer(
                Outcome.invalid, "This request id is of somebody else's request. Take a fresh one."
            )
        if not asking.resends(last):
            return Answer(
                Outcome.invalid,
                "This form was sent already, with other values. Open it again.",
                audit_id=last.pk,
            )
        if last.outcome in _SETTLED:
            return Answer(
                Outcome.already,
                f"{last.who} did this at {last.when}. {last.sentence}",
                Word(last.word) if last.word else None,
                last.pk,
            )
        if last.told != "in hand":
            return last
        if time.monotonic() > until:
            return Answer(
                Outcome.unknown,
                f"{last.who} sent this at {last.when}, and no answer has come yet.",
                audit_id=last.pk,
            )
        time.sleep(LOOK_S)


def open_intent(asking: Asking, attempt: int) -> AuditEntry | None:
    """The intent of an attempt; None where another sending of the request was quicker."""
    try:
        with transaction.atomic():
            return AuditEntry.objects.create(**asking.row(), attempt=attempt)
    except IntegrityError:
        return None


def note_job_id(entry: AuditEntry, job_id: bytes) -> None:
    """Another id for what is created, before it is sent."""
    if bytes(entry.item) == entry.params["job_id"].encode():
        entry.item = job_id
    entry.params["job_id"] = job_id.decode("ascii")
    entry.save(update_fields=["params", "item"])


def close_intent(entry: AuditEntry, outcome: Outcome, word: Word | None, sentence: str) -> None:
    """What became of it."""
    entry.outcome, entry.sentence, entry.closed_at = outcome.word, sentence, timezone.now()
    entry.word = word.value if word else ""
    entry.save(update_fields=["outcome", "word", "sentence", "closed_at"])


def note_refusal(asking: Asking, sentence: str) -> AuditEntry:
    """An action that was not permitted: tried by nobody, kept all the same. It has a request id
    of its own, so that it does not stand in the way once the right is there."""
    row = {**asking.row(), "request_id": fresh_request_id(), "bus": asking.target.bus[:BUS]}
    return AuditEntry.objects.create(
        **row, outcome=Outcome.not_permitted.word, sentence=sentence, closed_at=timezone.now()
    )


def precedent(asking: Asking, entry: AuditEntry) -> AuditEntry | None:
    """The last thing done to the same subject through the console, within `SAME_SIGHT`."""
    return (
        AuditEntry.objects.filter(
            bus=asking.target.bus,
            queue=asking.target.queue,
            item=asking.item,
            game=asking.target.game,
            outcome=Outcome.done.word,
            closed_at__gte=timezone.now() - SAME_SIGHT,
        )
        .exclude(pk=entry.pk)
        .order_by("-id")
        .first()
    )


def was_first(asking: Asking, entry: AuditEntry) -> bool:
    """Whether that entry did what is asked for now, to the same state of the subject."""
    if entry.action != asking.action.name or entry.expected != asking.expect:
        return False
    if _asked(entry.params) != _asked(asking.params):
        return False
    return bool(asking.expect) or (
        entry.closed_at is not None and timezone.now() - entry.closed_at < BLIND
    )
