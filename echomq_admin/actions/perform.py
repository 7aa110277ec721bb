"""The one door: may it be, was it asked well, do it, and keep what became of it.

Pages, sockets, commands and programs all come through here, so a right, the read-only switch and
the audit hold for each of them alike.
"""

from __future__ import annotations

import logging
from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from django.contrib.auth import get_user_model
from django.contrib.auth.base_user import AbstractBaseUser
from django.contrib.auth.models import AnonymousUser
from django.db import DatabaseError

from echomq_admin import config
from echomq_admin.actions import ACTIONS
from echomq_admin.actions.action import Asked, Order, Result, Subject, Target
from echomq_admin.actions.answers import Answer, Undo
from echomq_admin.actions.intents import (
    Actor,
    Asking,
    close_intent,
    earlier,
    fresh_request_id,
    kept_request_id,
    note_job_id,
    note_refusal,
    open_intent,
    precedent,
    was_first,
)
from echomq_admin.actions.known import on_known
from echomq_admin.buses import GuardedBus, UnknownBus, bus_for, mint
from echomq_admin.live.page import to_path
from echomq_admin.models import AuditEntry
from echomq_admin.permissions import read_only, rights_of
from queue_core.errors import (
    EchoMQError,
    FenceError,
    ForbiddenFault,
    InvalidError,
    UnavailableError,
    WrongTypeFault,
)
from queue_core.outcomes import Outcome, Word

log = logging.getLogger(__name__)

TRIES = 5
"""Sendings of one request that race for its next attempt, or ids minted in vain."""


def actor_of(user: AbstractBaseUser | AnonymousUser, system_user: str = "") -> Actor:
    """A user as the one who acts, with the rights held now: read anew, since a socket holds its
    user for hours."""
    now = get_user_model()._default_manager.filter(pk=user.pk).first() or AnonymousUser()
    return Actor(now.get_username(), rights_of(now), system_user)


def perform(
    actor: Actor | AbstractBaseUser | AnonymousUser,
    action_name: str,
    target: Target,
    params: Mapping[str, Any],
    *,
    request_id: str | None = None,
    source: str = "page",
) -> Answer:
    """Carry out one action, and answer. Never raises for what a bus, a right or a value refuses.

    `params` are raw values of the action's form; `request_id` makes a resend answer already.
    Blocking: the plan runs on the bus's blocking connection, the audit on the database.
    """
    action = ACTIONS.get(action_name)
    if action is None:
        return Answer(Outcome.invalid, "There is no action of that name.")
    form = action.form(params)
    well = form.is_valid()
    where = {"lane": to_path(target.lane)} if target.lane else {}
    asking = Asking(
        actor if isinstance(actor, Actor) else actor_of(actor),
        action,
        target,
        form.expected(),
        {**form.recorded(), **where} if well else {},
        kept_request_id(request_id or fresh_request_id()),
        source,
    )
    try:
        refused = _refused(asking) if well else _ill(asking, form)
        return refused or _carry_out(asking, form, bus_for(target.bus))
    except UnknownBus:
        return Answer(Outcome.gone, "There is no bus of that name.")
    except DatabaseError:
        log.exception("the audit cannot be written")
        return Answer(Outcome.unavailable, "The audit cannot be written, so nothing was done.")


def _refused(asking: Asking) -> Answer | None:
    """Why nothing is tried at all."""
    action, target = asking.action, asking.target
    why = ""
    if read_only():
        why = "Writing is switched off: the console is read-only."
    elif action.permission not in asking.actor.rights:
        why = f"{action.title} needs the permission {action.permission}."
    if why:
        return Answer(Outcome.not_permitted, why, audit_id=note_refusal(asking, why).pk)
    if why := config.only_looked_at(target.bus):
        return Answer(Outcome.invalid, why)
    wanted = {Subject.player: target.game}.get(action.subject, target.item)
    if action.subject not in (Subject.queue, Subject.new_job) and not wanted:
        return Answer(Outcome.invalid, f"It names no {action.subject.value}.")
    return None


def _ill(asking: Asking, form: Asked) -> Answer:
    """What was asked wrongly. Somebody without the right learns of that first."""
    refused = _refused(asking)
    if refused is not None and refused.outcome is Outcome.not_permitted:
        return refused
    errors = {name: [str(text) for text in texts] for name, texts in form.errors.items()}
    sentence = " ".join(text for texts in errors.values() for text in texts)
    return Answer(Outcome.invalid, sentence, errors=errors)


def _carry_out(asking: Asking, form: Asked, bus: GuardedBus) -> Answer:
    action = asking.action
    for _ in range(TRIES):
        before = earlier(asking)
        if isinstance(before, Answer):
            return before
        job_id, fresh, fault = b"", False, None
        if action.creates:
            try:
                job_id, fresh = _job_id(asking, form, before)
            except EchoMQError as error:
                fault = error
        known = {"job_id": job_id.decode("ascii")} if job_id else {}
        this = replace(asking, params={**asking.params, **known})
        entry = open_intent(this, before.attempt + 1 if before else 1)
        if entry is None:
            continue
        if fault is not None:
            return _close(entry, *_of_fault(fault))
        expect = form.cleaned_data.get("expect") or ""
        order = Order(asking.target, form.cleaned_data, asking.actor.who, expect, job_id)
        return _act(this, entry, order, bus, fresh)
    return Answer(Outcome.unknown, "This was sent several times at once. Look before you repeat.")


def _job_id(asking: Asking, form: Asked, before: AuditEntry | None) -> tuple[bytes, bool]:
    """The id under which something is created: the caller's, that of the attempt before, or a
    fresh one; and whether it is fresh, so that nobody can have used it."""
    given = form.cleaned_data.get("id") or (before.params.get("job_id") if before else None)
    return (given.encode(), False) if given else (mint(asking.target.bus), True)


def _act(asking: Asking, entry: AuditEntry, order: Order, bus: GuardedBus, fresh: bool) -> Answer:
    action = asking.action
    try:
        result = bus.run(on_known(action, order))
        for _ in range(TRIES):
            if not (fresh and result.word is Word.duplicate):
                break
            # Nobody can have sent a fresh id before: two nodes mint under one number.
            log.warning("the id %s was minted twice", order.job_id.decode("ascii"))
            order = replace(order, job_id=mint(asking.target.bus))
            note_job_id(entry, order.job_id)
            result = bus.run(on_known(action, order))
    except EchoMQError as fault:
        return _close(entry, *_of_fault(fault))
    except Exception:
        _close(entry, Outcome.unknown, "The console failed while it was being done.")
        raise
    outcome, sentence = result.means, action.sentence(order, result)
    outcome, sentence = _who_was_first(asking, entry, outcome, sentence)
    answer = _close(entry, outcome, sentence, result)
    if outcome is Outcome.done and action.inverse is not None:
        back = action.inverse(order, result)
        return replace(answer, undo=Undo(*back) if back else None)
    return answer


def _who_was_first(
    asking: Asking, entry: AuditEntry, outcome: Outcome, sentence: str
) -> tuple[Outcome, str]:
    """An answer that says nothing was done says also who did it, where the audit knows."""
    if outcome not in (Outcome.already, Outcome.gone, Outcome.wrong_state):
        return outcome, sentence
    first = precedent(asking, entry)
    if first is None:
        return outcome, sentence
    if was_first(asking, first) or (
        outcome is Outcome.already and first.action == asking.action.name
    ):
        return Outcome.already, f"{first.who} did this at {first.when}. {sentence}"
    did = ACTIONS[first.action].title.lower() if first.action in ACTIONS else first.action
    return outcome, f"{sentence} {first.who}: {did}, at {first.when}."


def _of_fault(fault: EchoMQError) -> tuple[Outcome, str]:
    """A fault for people. What was surely not done is told apart from what may have been."""
    text = str(fault).rstrip(".")
    if isinstance(fault, InvalidError):
        return Outcome.invalid, f"{text[:1].upper()}{text[1:]}. Nothing written."
    if isinstance(fault, UnavailableError):
        return Outcome.unavailable, f"The bus cannot take it now: {text}. Nothing written."
    if isinstance(fault, FenceError):
        return Outcome.unavailable, f"The bus has another version: {text}. Nothing written."
    if isinstance(fault, ForbiddenFault):
        return Outcome.not_permitted, f"The bus does not let the console do this: {text}."
    if isinstance(fault, WrongTypeFault):
        return Outcome.wrong_state, f"A key of it holds another type than the wire says: {text}."
    return (
        Outcome.unknown,
        f"No certain answer came ({text}): it may have happened. Look before you repeat.",
    )


def _close(
    entry: AuditEntry,
    outcome: Outcome,
    sentence: str,
    result: Result | None = None,
) -> Answer:
    word = result.word if result else None
    try:
        close_intent(entry, outcome, word, sentence)
    except DatabaseError:
        # The act stands; the entry stays open and will read "outcome unknown".
        log.exception("audit entry %s could not be closed", entry.pk)
        sentence += " The audit could not be brought up to date."
    facts = dict(result.facts) if result else {}
    return Answer(outcome, sentence, word, entry.pk, facts)
