"""The wall in front of every page: signed in, and allowed to look."""

from collections.abc import Callable
from functools import wraps
from typing import Any

from django.contrib.auth.views import redirect_to_login
from django.core.exceptions import PermissionDenied
from django.http import HttpRequest, HttpResponse, JsonResponse
from django.shortcuts import resolve_url

from echomq_admin import config
from echomq_admin.permissions import rights_of

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
                raise PermissionDenied(f"This needs the permission {codename}.")
            return view(request, *args, **kwargs)

        return guarded

    return wrap


def _ask_to_sign_in(request: HttpRequest) -> HttpResponse:
    where = resolve_url(config.login_url())
    if getattr(request, "htmx", False):
        answer = HttpResponse(status=401)
        answer["HX-Redirect"] = where
        return answer
    if wants_json(request):
        return JsonResponse({"outcome": "not-permitted", "sentence": "Sign in first."}, status=401)
    return redirect_to_login(request.get_full_path(), where)
