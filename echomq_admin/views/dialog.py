"""The dialog of an action: what it is about as of now, what it will do, and one form."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from django.http import HttpRequest, HttpResponse
from django.shortcuts import render
from django.views.decorators.http import require_http_methods

from echomq_admin.actions import ACTIONS
from echomq_admin.actions.action import Action, Asked, Shown, Target
from echomq_admin.actions.answers import Answer
from echomq_admin.actions.intents import fresh_request_id
from echomq_admin.buses import UnknownBus, reading_bus
from echomq_admin.live.page import BadParameter
from echomq_admin.permissions import read_only, rights_of
from echomq_admin.views.asked import named, target_of
from echomq_admin.views.payload import record_reveal
from echomq_admin.views.told import told
from queue_core.errors import EchoMQError


@require_http_methods(["GET", "HEAD", "POST"])
def dialog(request: HttpRequest, action: str) -> HttpResponse:
    """Draw the dialog of an action, bound to the subject and the state read now. Writes nothing
    to the bus. A POST asks for what is masked to be shown in it, which is recorded."""
    known = ACTIONS.get(action)
    if known is None:
        text = "No verb of the console is called"
        return told(request, 404, "No such verb", text, action.encode("utf-8", "replace"))
    asked = request.GET.dict()
    try:
        target = target_of(asked)
    except BadParameter as fault:
        return _draw(request, known, Target(""), Shown(refusal=f"{fault}."), known.form(), "")
    shown = _forbidden(request, known) or _lifted(request, target, _look(known, target))
    given = {name: value for name, value in asked.items() if name in known.form.base_fields}
    if "payload" in shown.was:
        given.pop("payload", None)
    # Where the page saw another state than there is now, the fresh one is shown and bound.
    form = known.form(initial={**shown.was, **given, "expect": shown.expect or given.get("expect")})
    return _draw(request, known, target, shown, form, fresh_request_id())


def redraw(
    request: HttpRequest, action: Action, target: Target, answer: Answer, asked: Mapping[str, Any]
) -> HttpResponse:
    """The dialog again in its place: with what was asked wrongly or refused, or with what the
    board holds now, offered as the new value to expect."""
    if answer.errors or action.keeps_words:
        form = action.form(asked)
        if form.is_valid():
            form.add_error(None, f"{answer.sentence} Your words are kept here.")
        # What is shown is of now, what is expected stays what was seen at first.
        shown = replace(_look(action, target), expect=str(asked.get("expect", "")), veil="")
        request_id = str(asked.get("request_id", "")) or fresh_request_id()
    else:
        form = action.form(initial={**asked, "expect": answer.facts["held"]})
        shown = replace(_look(action, target), expect=answer.facts["held"])
        request_id = fresh_request_id()
    drawn = _draw(request, action, target, shown, form, request_id, answer)
    drawn.status_code = answer.outcome.status
    drawn["HX-Retarget"], drawn["HX-Reswap"] = "#dialog", "innerHTML"
    return drawn


def _lifted(request: HttpRequest, target: Target, shown: Shown) -> Shown:
    """What a dialog may show of a payload to the one who asks."""
    if not shown.veil or shown.refusal:
        return shown
    if "reveal_payload" not in rights_of(request.user):
        why = "Not all of its payload is shown to everybody: this needs the permission"
        return replace(shown, was={}, refusal=f"{why} reveal_payload as well.")
    if shown.veil == "record" and request.method != "POST":
        return replace(shown, was={})
    if shown.veil == "record":
        record_reveal(request, target.bus, target.queue, target.item)
    return replace(shown, veil="")


def _forbidden(request: HttpRequest, action: Action) -> Shown | None:
    if read_only():
        return Shown(refusal="Writing is switched off: the console is read-only.")
    if action.permission not in rights_of(request.user):
        return Shown(refusal=f"This needs the permission {action.permission}.")
    return None


def _look(action: Action, target: Target) -> Shown:
    """What the subject is like now; where it cannot be read, why not."""
    if action.describe is None:
        return Shown()
    if action.look is None:
        return action.describe(target, None)
    try:
        return action.describe(target, reading_bus(target.bus).run(action.look(target)))
    except UnknownBus:
        return Shown(refusal="There is no bus of that name.")
    except EchoMQError as fault:
        return Shown(refusal=f"What it is like now could not be read: {str(fault).rstrip('.')}.")


def _draw(
    request: HttpRequest,
    action: Action,
    target: Target,
    shown: Shown,
    form: Asked,
    request_id: str,
    answer: Answer | None = None,
) -> HttpResponse:
    context = {
        "action": action,
        "subject": target,
        "target": named(target),
        "shown": shown,
        "form": form,
        "request_id": request_id,
        "answer": answer,
        "suggestions": getattr(form, "suggestions", ()),
    }
    name = "dialog" if getattr(request, "htmx", False) else "page"
    return render(request, f"echomq_admin/dialogs/{name}.html", context)
