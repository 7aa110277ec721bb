"""The audit: who did what to which, when, and what became of it. Newest first, a page at a time."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from django.db.models import Q, QuerySet
from django.http import HttpRequest, HttpResponse
from django.shortcuts import render
from django.urls import reverse
from django.utils import timezone
from django.views.decorators.http import require_safe

from echomq_admin.actions import ACTIONS
from echomq_admin.actions.action import Subject
from echomq_admin.actions.moments import to_ms
from echomq_admin.buses import bus_urls
from echomq_admin.models import IN_HAND, AuditEntry
from echomq_admin.views.access import allowed
from echomq_admin.views.frame import framed
from echomq_admin.views.told import told
from queue_core.numbers import DIGITS
from queue_core.outcomes import Outcome

PAGE_SIZE = 50


@dataclass(frozen=True, slots=True)
class Line:
    """An entry as a row shows it. `href` leads to what it was done to, empty where it is gone
    from the settings."""

    entry: AuditEntry
    at_ms: int
    verb: str
    icon: str
    subject: bytes
    where: bytes
    href: str
    asked: tuple[tuple[str, str], ...]


@require_safe
@allowed("view_audit")
def audit(request: HttpRequest) -> HttpResponse:
    """A page of the audit, narrowed by who, action, outcome, and before which entry."""
    asked = {name: request.GET.get(name, "").strip() for name in ("who", "action", "outcome")}
    before = request.GET.get("before", "")
    if before and not (before.isdecimal() and before.isascii() and len(before) <= DIGITS):
        return told(request, 400, "That address asks for too much", "before is an entry's number.")
    entries = list(_narrowed(asked, int(before) if before else None)[: PAGE_SIZE + 1])
    more = entries[PAGE_SIZE - 1].pk if len(entries) > PAGE_SIZE else None
    context = {
        **framed(request, "Audit", "audit", "Who did what, when, and what the store answered."),
        "lines": [_line(entry) for entry in entries[:PAGE_SIZE]],
        "more": more,
        "asked": asked,
        "before": before,
        "actions": ACTIONS.values(),
        "outcomes": [outcome.word for outcome in Outcome],
    }
    return render(request, "echomq_admin/audit/page.html", context)


def _narrowed(asked: dict[str, str], before: int | None) -> QuerySet[AuditEntry]:
    found = AuditEntry.objects.all()
    if asked["who"]:
        found = found.filter(who=asked["who"][:150])
    if asked["action"]:
        found = found.filter(action=asked["action"][:40])
    if asked["outcome"] == Outcome.unknown.word:
        # An intent that nobody closed counts here as well: nobody knows.
        found = found.filter(
            Q(outcome=Outcome.unknown.word) | Q(outcome="", opened_at__lt=timezone.now() - IN_HAND)
        )
    elif asked["outcome"]:
        found = found.filter(outcome=asked["outcome"][:16])
    return found.filter(pk__lt=before) if before is not None else found


def _line(entry: AuditEntry) -> Line:
    action = ACTIONS.get(entry.action)
    subject = bytes(entry.item) or bytes(entry.game) or bytes(entry.queue)
    return Line(
        entry=entry,
        at_ms=to_ms(entry.opened_at),
        verb=action.title if action else entry.action,
        icon=action.icon if action else "edit",
        subject=subject,
        where=bytes(entry.game) or bytes(entry.queue),
        href=_href(entry, action.subject if action else None),
        asked=tuple((str(name), str(value)) for name, value in entry.params.items()),
    )


def _href(entry: AuditEntry, subject: Subject | None) -> str:
    if entry.bus not in bus_urls() or subject is None:
        return ""
    named: dict[str, Any] = {"bus": entry.bus}
    if subject is Subject.player:
        return reverse("echomq_admin:board", kwargs={**named, "item": bytes(entry.game)})
    named["queue"] = bytes(entry.queue)
    if subject in (Subject.job, Subject.new_job) and entry.item:
        return reverse("echomq_admin:job", kwargs={**named, "item": bytes(entry.item)})
    page = "repeats" if subject is Subject.repeat else "pending"
    return reverse(f"echomq_admin:{page}", kwargs=named)
