"""The wall in front of every page: signed in, and allowed to look."""

from collections.abc import Callable
from functools import wraps
from typing import Any

from django.contrib.auth.views import redirect_to_login
from django.http import HttpRequest, HttpResponse, JsonResponse
from django.shortcuts import render, resolve_url
from django.urls import get_script_prefix

from echomq_admin import config
from echomq_admin.actions.answers import Answer
from echomq_admin.permissions import rights_of
from queue_core.outcomes import Outcome

View = Callable[..., HttpResponse]


def wants_json(request: HttpRequest) -> bool:
    """Whether the answer should be JSON: a program asks, not a page."""
    return request.get_preferred_type(["text/html", "application/json"]) == "application/json"


def allowed(codename: str) -> Callable[[View], View]:
    """A view for those who hold `codename`. Others are led to the login, or get 403; a program
    and htmx get 401 with where to sign in, instead of a login page in place of an answer."""

    def wrap(view: View) -> View:
        @wraps(view)
        def guarded(request: HttpRequest, *args: Any, **kwargs: Any) -> HttpResponse:
            if not request.user.is_authenticated:
                return _ask_to_sign_in(request)
            if codename not in rights_of(request.user):
                return refuse(request, f"This needs the permission {codename}.")
            return view(request, *args, **kwargs)

        return guarded

    return wrap


def refuse(request: HttpRequest, why: str, page: str = "forbidden") -> HttpResponse:
    """Not permitted, in the form that was asked for. The page is without the console's frame:
    who may not look learns no name of a queue."""
    answer = Answer(Outcome.not_permitted, why)
    status = answer.outcome.status
    if wants_json(request):
        return JsonResponse(answer.as_json(), status=status)
    if getattr(request, "htmx", False):
        toast = render(
            request, "echomq_admin/pieces/outcome.html", {"answer": answer}, status=status
        )
        toast["HX-Retarget"], toast["HX-Reswap"] = "#toasts", "beforeend"
        return toast
    return render(request, f"echomq_admin/sign_in/{page}.html", {"why": why}, status=status)


def _ask_to_sign_in(request: HttpRequest) -> HttpResponse:
    where = resolve_url(config.login_url())
    if getattr(request, "htmx", False):
        answer = HttpResponse(status=401)
        answer["HX-Redirect"] = where
        return answer
    if wants_json(request):
        return JsonResponse({"outcome": "not-permitted", "sentence": "Sign in first."}, status=401)
    return redirect_to_login(_asked_for(request), where)


def _asked_for(request: HttpRequest) -> str:
    """The address as the browser knows it, also where a proxy took the prefix off."""
    query = request.META.get("QUERY_STRING", "")
    path = get_script_prefix().rstrip("/") + request.path_info
    return f"{path}?{query}" if query else path
