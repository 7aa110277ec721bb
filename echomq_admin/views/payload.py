"""A payload on demand: more of it than the page reads, or what the page masks.

To look is a GET and masks as the page does. To reveal is a POST, needs the right, and is written
down before a byte is shown.
"""

from __future__ import annotations

import uuid
from typing import Any

from django.http import HttpRequest, HttpResponse
from django.shortcuts import render
from django.utils import timezone
from django.views.decorators.http import require_http_methods

from echomq_admin.buses import bus_urls, reading_bus
from echomq_admin.exact_json import PARSE_LIMIT
from echomq_admin.models import AuditEntry
from echomq_admin.payload_view import payload_view, veiled_by
from echomq_admin.permissions import rights_of
from echomq_admin.redaction import Veil
from echomq_admin.said_once import an_answer
from echomq_admin.views.told import no_bus
from queue_core import keys
from queue_core.errors import EchoMQError
from queue_core.outcomes import Outcome, Word
from queue_core.reads import standing
from queue_core.reads.standing import WHOLE_LIMIT, Field


def _told(request: HttpRequest, status: int, why: str, **more: Any) -> HttpResponse:
    context = {"why": why, **more}
    return an_answer(render(request, "echomq_admin/job/whole.html", context, status=status))


def record_reveal(request: HttpRequest, bus: str, queue: bytes, item: bytes) -> None:
    """Who saw what, written before it is seen."""
    now = timezone.now()
    AuditEntry.objects.create(
        request_id=f"reveal-{uuid.uuid4()}",
        opened_at=now,
        closed_at=now,
        who=request.user.get_username(),
        source="page",
        action="reveal_payload",
        bus=bus,
        queue=queue,
        item=item,
        word=Word.ok.value,
        outcome=Outcome.done.word,
        sentence="The payload was shown unmasked.",
    )


def _source(raw: bytes, may: bool) -> HttpResponse:
    """The exact text for the clipboard, where the page shows all of it as well; else why not."""
    asks, why, status = veiled_by(raw) if raw else "", "", 200
    if asks == "record":
        why, status = "something in it is masked: reveal it, and download it there", 403
    elif asks == "right" and not may:
        why, status = "this needs the right to reveal payloads", 403
    else:
        try:
            raw.decode()
        except UnicodeDecodeError:
            why, status = "it is no text: reveal it, and download it there", 415
    response = HttpResponse(why or raw, status=status, content_type="text/plain; charset=utf-8")
    response["X-Content-Type-Options"], response["Cache-Control"] = "nosniff", "no-store"
    return an_answer(response)


def _attachment(field: Field, item: bytes) -> HttpResponse:
    """The exact bytes as a file, never as a page of ours."""
    response = HttpResponse(field.value, content_type="application/octet-stream")
    name = "".join(chr(byte) if chr(byte).isalnum() else "_" for byte in item[:40] if byte < 128)
    response["Content-Disposition"] = f'attachment; filename="{name or "payload"}.bin"'
    response["X-Content-Type-Options"] = "nosniff"
    return response


@require_http_methods(["GET", "POST"])
def payload(request: HttpRequest, bus: str, queue: bytes, item: bytes) -> HttpResponse:
    """The whole payload of a job up to 16 MiB, with `copy` as its bare text. 403 without the right
    where it is needed, 404 where there is none, 413 where it is longer, 415 for a text that is
    none, 503 where the bus does not answer."""
    if bus not in bus_urls():
        return no_bus(request, bus)
    may = "reveal_payload" in rights_of(request.user)
    reveal = request.method == "POST"
    if reveal and not may:
        return _told(request, 403, "Revealing a payload needs the right to reveal payloads.")
    try:
        seen = reading_bus(bus).run(standing.whole(keys.found(queue), item))
    except EchoMQError as fault:
        return _told(request, 503, f"Not read: {fault}")
    field = seen.value
    if not seen.complete:
        return _told(request, 413, f"{field.size:,} bytes: more than {WHOLE_LIMIT:,} are not read.")
    if field.value is None:
        return _told(request, 404, "There is no payload any more.")
    if reveal:
        record_reveal(request, bus, queue, item)
        if "download" in request.POST:
            return _attachment(field, item)
    if "copy" in request.GET and not reveal:
        return _source(field.value, may)
    veil = Veil.over(field.value, whole=True, may=may, words=() if reveal else None)
    if field.size > PARSE_LIMIT:
        return _told(
            request, 200, f"{field.size:,} bytes are too much for a page.", item=item, may=may
        )
    view = payload_view(veil, field.size, request.POST.get("view", ""))
    return _told(request, 200, "", payload=view, reveal=reveal, item=item, may=may)
