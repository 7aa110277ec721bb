"""Who did what to one job, newest first: a panel of its page, read from the audit."""

from __future__ import annotations

from dataclasses import dataclass

from django.http import HttpRequest, HttpResponse
from django.shortcuts import render
from django.views.decorators.http import require_safe

from echomq_admin.actions import ACTIONS
from echomq_admin.actions.moments import to_ms
from echomq_admin.models import AuditEntry
from echomq_admin.permissions import rights_of

SHOWN = 12
"""Entries of a job's panel; the audit has them all."""


@dataclass(frozen=True, slots=True)
class Step:
    """One entry: when, and the verb in words."""

    entry: AuditEntry
    at_ms: int
    verb: str


def _verb(entry: AuditEntry) -> str:
    action = ACTIONS.get(entry.action)
    return action.title if action else entry.action.replace("_", " ")


@require_safe
def trail(request: HttpRequest, bus: str, queue: bytes, item: bytes) -> HttpResponse:
    """The last entries of the audit about a job, for those who may read it."""
    may = "view_audit" in rights_of(request.user)
    found = AuditEntry.objects.filter(bus=bus, queue=queue, item=item) if may else []
    steps = [Step(entry, to_ms(entry.opened_at), _verb(entry)) for entry in found[:SHOWN]]
    context = {"may": may, "steps": steps}
    return render(request, "echomq_admin/job/trail.html", context, status=200 if may else 403)
