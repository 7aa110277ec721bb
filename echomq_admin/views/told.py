"""What a request is told that gets no page: in the console's look, or as whoever asks reads it.

Whoever may look is told within the frame, everybody else on a page without it, which names no
queue and no bus. A program gets JSON, htmx a toast. The last four are the handlers of the console
as a project of its own; a host project keeps its own for what our views do not answer.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import wraps
from typing import Any

from django.conf import settings
from django.core.exceptions import DisallowedHost, RequestDataTooBig
from django.http import HttpRequest, HttpResponse, HttpResponseNotAllowed, JsonResponse
from django.shortcuts import render
from django.template.loader import render_to_string

from echomq_admin.actions.answers import Answer
from echomq_admin.buses import bus_urls
from echomq_admin.permissions import rights_of
from echomq_admin.views.frame import framed
from queue_core.outcomes import Outcome

View = Callable[..., HttpResponse]

_OUTCOME: Mapping[int, Outcome] = {
    403: Outcome.not_permitted,
    404: Outcome.gone,
    500: Outcome.unknown,
}


def wants_json(request: HttpRequest) -> bool:
    """Whether the answer should be JSON: a program asks, not a page."""
    return request.get_preferred_type(["text/html", "application/json"]) == "application/json"


def told(
    request: HttpRequest, status: int, title: str, text: str, name: bytes = b""
) -> HttpResponse:
    """A page that only says something, or the same as JSON or a toast. `name` is of the bus or of
    the address, and follows the text."""
    if short := told_shortly(request, status, text, name):
        return short
    if not _may_look(request):
        return plainly(status, title, text, name)
    context = {**framed(request, title), "text": text, "name": name}
    return render(request, "echomq_admin/told.html", context, status=status)


def told_shortly(
    request: HttpRequest, status: int, text: str, name: bytes = b""
) -> HttpResponse | None:
    """The same for a program or for htmx; None where a browser wants a page."""
    sentence = f"{text} {name.decode('utf-8', 'backslashreplace')}" if name else text
    answer = Answer(_OUTCOME.get(status, Outcome.invalid), sentence)
    if wants_json(request):
        return JsonResponse(answer.as_json(), status=status)
    if not getattr(request, "htmx", False):
        return None
    toast = HttpResponse(
        render_to_string("echomq_admin/pieces/outcome.html", {"answer": answer}), status=status
    )
    toast["HX-Retarget"], toast["HX-Reswap"] = "#toasts", "afterbegin"
    return toast


def plainly(status: int, title: str, text: str, name: bytes = b"") -> HttpResponse:
    """The page without the frame, drawn without the database, the bus and the session."""
    context = {"title": title, "text": text, "name": name}
    page = render_to_string("echomq_admin/sign_in/told.html", context)
    return HttpResponse(page, status=status)


def _may_look(request: HttpRequest) -> bool:
    user = getattr(request, "user", None)
    return user is not None and "view" in rights_of(user)


def no_bus(request: HttpRequest, bus: str) -> HttpResponse:
    """404 for a bus that the settings do not name."""
    text = f"The settings name {', '.join(bus_urls())}, and no bus called"
    return told(request, 404, "No such bus", text, bus.encode("utf-8", "replace"))


def drawn(view: View) -> View:
    """A view whose bare refusal of a method is told as everything else is."""

    @wraps(view)
    def told_as_well(request: HttpRequest, *args: Any, **kwargs: Any) -> HttpResponse:
        answer = view(request, *args, **kwargs)
        if not isinstance(answer, HttpResponseNotAllowed):
            return answer
        asks = "is only looked at" if "GET" in answer["Allow"] else "is done by a button"
        full = told(request, 405, "Not that way", f"What is at this address {asks}.")
        full["Allow"] = answer["Allow"]
        return full

    return told_as_well


def no_page(request: HttpRequest, exception: Exception | None = None) -> HttpResponse:
    """404: an address that none of our routes has."""
    del exception
    text = "Nothing of the console has this address. Names in one are ~ and base64url, so a queue, "
    text += "a job or a board is best opened from the overview. Asked for was"
    return told(request, 404, "No such page", text, request.path.encode("utf-8", "replace"))


def no_right(request: HttpRequest, exception: Exception | None = None) -> HttpResponse:
    """403: refused below our views."""
    del exception
    return told(request, 403, "Not permitted", "This is not permitted, and nothing was done.")


def no_request(request: HttpRequest, exception: Exception | None = None) -> HttpResponse:
    """400: what was sent is not what the console can take. Told without the frame: the session
    may be what is wrong with it."""
    text = "The console does not understand what was sent, and nothing was done."
    if isinstance(exception, DisallowedHost):
        text = "The console does not answer to this host's name: add it to ECHOMQ_HOSTS."
    elif isinstance(exception, RequestDataTooBig):
        most = settings.DATA_UPLOAD_MAX_MEMORY_SIZE
        text = f"A page sends at most {most or 0:,} bytes, and nothing was done: hand it over by "
        text += "manage.py echomq, --payload-file FILE."
    return told_shortly(request, 400, text) or plainly(400, "Not understood", text)


def no_answer(request: HttpRequest) -> HttpResponse:
    """500: the console failed. Told without the frame, which may be what failed."""
    text = "The console failed at this; its log tells where. If it was to change something, it may "
    text += "have happened: look before you repeat."
    return told_shortly(request, 500, text) or plainly(500, "The console failed", text)
