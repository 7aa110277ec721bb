"""The one POST: an action on a target, answered as a toast or as JSON with its status."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from django.http import HttpRequest, HttpResponse, JsonResponse
from django.shortcuts import render
from django.views.decorators.http import require_POST

from echomq_admin.actions import ACTIONS
from echomq_admin.actions.action import Action, Target
from echomq_admin.actions.answers import Answer
from echomq_admin.actions.intents import fresh_request_id
from echomq_admin.actions.perform import actor_of, perform
from echomq_admin.heard import json_object, texts
from echomq_admin.live.page import BadParameter
from echomq_admin.said_once import an_answer
from echomq_admin.views.asked import named, target_of
from echomq_admin.views.dialog import redraw
from echomq_admin.views.told import wants_json
from queue_core.outcomes import Outcome

SETTLES = frozenset(
    {
        Outcome.done,
        Outcome.already,
        Outcome.gone,
        Outcome.wrong_state,
        Outcome.locked,
        Outcome.not_permitted,
    }
)
"""Outcomes after which a dialog has nothing more to ask. The others leave it open: the words can
be mended, or the same request sent again."""


@require_POST
def act(request: HttpRequest, action: str) -> HttpResponse:
    """Perform an action. The permission is the action's own; looking is the least."""
    try:
        asked = _asked(request)
        target = target_of(asked)
    except BadParameter as fault:
        return _told(request, action, Target(""), Answer(Outcome.invalid, f"{fault}."), {})
    answer = perform(
        actor_of(request.user),
        action,
        target,
        asked,
        request_id=request.headers.get("Idempotency-Key") or asked.get("request_id"),
        source="api" if wants_json(request) else "page",
    )
    return _told(request, action, target, answer, asked)


def _asked(request: HttpRequest) -> Mapping[str, Any]:
    if request.content_type != "application/json":
        asked = request.POST.dict()
        if asked.get("dialog") and "payload" in asked:
            # A form ends its lines as HTML says; no dialog offers a text that has such ends.
            asked["payload"] = asked["payload"].replace("\r\n", "\n")
        return asked
    return texts(json_object(request.body))


def _told(
    request: HttpRequest, action: str, target: Target, answer: Answer, asked: Mapping[str, Any]
) -> HttpResponse:
    return an_answer(_drawn(request, action, target, answer, asked))


def _drawn(
    request: HttpRequest, action: str, target: Target, answer: Answer, asked: Mapping[str, Any]
) -> HttpResponse:
    if wants_json(request):
        return JsonResponse(answer.as_json(), status=answer.outcome.status)
    known = ACTIONS.get(action)
    from_dialog = known is not None and bool(asked.get("dialog"))
    anew = bool(answer.errors) or _may_be_saved_anew(answer)
    if known and from_dialog and (anew or _keeps(known, answer)):
        return redraw(request, known, target, answer, asked)
    context = {
        "answer": answer,
        "action": known,
        "target": named(target),
        "acted_on": _acted_on(known, target),
        "undo_id": fresh_request_id(),
        "closes": from_dialog and answer.outcome in SETTLES,
    }
    page = "piece" if getattr(request, "htmx", False) else "page"
    name = {"piece": "pieces/outcome.html", "page": "dialogs/outcome_page.html"}[page]
    return render(request, f"echomq_admin/{name}", context, status=answer.outcome.status)


def _acted_on(action: Action | None, target: Target) -> dict[str, Any]:
    """What the toast names: a sentence that says "it" may be read when the row is long gone."""
    if target.item and action:
        return {"kind": action.subject.value, "name": target.item}
    return {"kind": "board" if target.game else "queue", "name": target.game or target.queue}


def _keeps(action: Action, answer: Answer) -> bool:
    """Whether the words typed into a dialog outlive a refusal."""
    return action.keeps_words and answer.outcome not in (Outcome.done, Outcome.already)


def _may_be_saved_anew(answer: Answer) -> bool:
    """A re-score that met another total than expected: shown side by side, to decide again."""
    return answer.outcome is Outcome.wrong_state and {"expected", "held", "wanted"} <= set(
        answer.facts
    )
