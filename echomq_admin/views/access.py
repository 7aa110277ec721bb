"""The wall in front of every page: signed in, and allowed to look."""

from collections.abc import Callable
from functools import wraps
from typing import Any

from django.contrib.auth.views import redirect_to_login
from django.http import HttpRequest, HttpResponse, JsonResponse
from django.shortcuts import render, resolve_url
from django.urls import get_script_prefix

from echomq_admin import config
from echomq_admin.permissions import rights_of
from echomq_admin.views.told import View, told, told_shortly, wants_json


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
    """Not permitted, in the form that was asked for. Who may not look gets a page without the
    console's frame, and learns no name of a queue."""
    if short := told_shortly(request, 403, why):
        return short
    if page == "forbidden" and "view" in rights_of(request.user):
        return told(request, 403, "Not permitted", f"{why} {_ASK}")
    return render(request, f"echomq_admin/sign_in/{page}.html", {"why": why}, status=403)


_ASK = "Whoever looks after the console can give it."


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
