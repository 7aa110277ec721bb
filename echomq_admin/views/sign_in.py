"""Signing in: by a link that works once, or by password; and out again."""

from typing import Any

from django.contrib.auth import login, logout
from django.contrib.auth.views import LoginView
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.urls import reverse, reverse_lazy
from django.views.decorators.cache import never_cache
from django.views.decorators.debug import sensitive_variables
from django.views.decorators.http import require_http_methods, require_POST

from echomq_admin.models import SignInLink
from echomq_admin.views.access import refuse

BACKEND = "django.contrib.auth.backends.ModelBackend"


class Password(LoginView):
    """Name and password; then on to where one wanted to go, on this host only."""

    template_name = "echomq_admin/sign_in/password.html"
    redirect_authenticated_user = True
    next_page = reverse_lazy("echomq_admin:overview")


@never_cache
@sensitive_variables("token")
@require_http_methods(["GET", "HEAD", "POST"])
def by_link(request: HttpRequest, token: str) -> HttpResponse:
    """A GET shows one button, so that a preview of the link does not spend it; the POST does."""
    if request.method == "POST":
        user = SignInLink.consume(token)
        if user is not None and user.is_active:
            login(request, user, backend=BACKEND)
            return redirect(reverse("echomq_admin:overview"))
    else:
        link = SignInLink.find(token)
        if link is not None and link.user.is_active:
            return render(request, "echomq_admin/sign_in/link.html", {"link": link})
    return render(request, "echomq_admin/sign_in/spent.html", status=410)


@require_POST
def sign_out(request: HttpRequest) -> HttpResponse:
    """End the session."""
    logout(request)
    return redirect(reverse("echomq_admin:login"))


def csrf_failure(request: HttpRequest, **_: Any) -> HttpResponse:
    """A form that was not drawn for this session: sign in again, or open the page anew."""
    why = "This form was drawn for another session, and nothing was done. Open the page again."
    return refuse(request, why, "stale_form")
