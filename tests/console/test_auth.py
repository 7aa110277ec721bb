"""The wall: links that work once, passwords, groups, and what every answer carries."""

from __future__ import annotations

import stat
import threading
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest
from django.contrib.auth.models import AnonymousUser, Group
from django.db import connection
from django.test import Client
from django.urls import get_resolver
from django.utils import timezone

from echomq_admin.models import SignInLink
from echomq_admin.permissions import ADMIN, GROUPS, OPERATOR, VIEWER, rights_of, role_of
from echomq_admin.secret import secret_key

QUARTER = timedelta(minutes=15)


@pytest.fixture
def stranger(site: Any) -> Client:
    """A browser in which nobody is signed in."""
    return Client(SERVER_NAME="localhost")


# ---- links -----------------------------------------------------------------------------------


def test_a_preview_of_the_link_does_not_spend_it(stranger: Client, ada: Any) -> None:
    where = f"/sign-in/{SignInLink.issue(ada, QUARTER)}"
    for _ in range(3):
        assert "Sign in as" in stranger.get(where).content.decode()
    assert stranger.head(where).status_code == 200
    entered = stranger.post(where)
    assert (entered.status_code, entered["Location"]) == (302, "/")
    assert stranger.session["_auth_user_id"] == str(ada.pk)


def test_a_link_works_once(stranger: Client, ada: Any) -> None:
    where = f"/sign-in/{SignInLink.issue(ada, QUARTER)}"
    assert stranger.post(where).status_code == 302
    other = Client(SERVER_NAME="localhost")
    assert other.get(where).status_code == 410
    assert other.post(where).status_code == 410
    assert "_auth_user_id" not in other.session


@pytest.mark.django_db(transaction=True)
def test_two_who_press_at_once_are_told_apart(ada: Any) -> None:
    token, gate = SignInLink.issue(ada, QUARTER), threading.Barrier(4)

    def press() -> bool:
        try:
            gate.wait()
            return SignInLink.consume(token) is not None
        finally:
            connection.close()

    with ThreadPoolExecutor(4) as pool:
        assert sum(f.result() for f in [pool.submit(press) for _ in range(4)]) == 1


def test_a_link_ends(stranger: Client, ada: Any) -> None:
    token = SignInLink.issue(ada, QUARTER)
    SignInLink.objects.update(expires_at=timezone.now())
    assert stranger.post(f"/sign-in/{token}").status_code == 410
    assert stranger.post("/sign-in/nonsense").status_code == 410


def test_a_link_of_somebody_deactivated_opens_nothing(stranger: Client, ada: Any) -> None:
    token = SignInLink.issue(ada, QUARTER)
    type(ada).objects.update(is_active=False)
    assert stranger.get(f"/sign-in/{token}").status_code == 410
    assert stranger.post(f"/sign-in/{token}").status_code == 410


def test_the_database_does_not_know_the_token(ada: Any) -> None:
    token = SignInLink.issue(ada, QUARTER)
    assert token not in str(SignInLink.objects.values())


def test_the_link_s_button_wants_its_own_form(site: Any, ada: Any) -> None:
    strict = Client(enforce_csrf_checks=True, SERVER_NAME="localhost")
    assert strict.post(f"/sign-in/{SignInLink.issue(ada, QUARTER)}").status_code == 403


# ---- passwords, and out again ----------------------------------------------------------------


def test_a_password_works_and_leads_on(stranger: Client, ada: Any) -> None:
    ada.set_password("lovelace-1815")
    ada.save()
    wrong = stranger.post("/login", {"username": "ada", "password": "byron"})
    assert "do not match" in wrong.content.decode()
    asked = {"username": "ada", "password": "lovelace-1815", "next": "/audit"}
    assert stranger.post("/login", asked)["Location"] == "/audit"


def test_a_login_leads_nowhere_else(stranger: Client, ada: Any) -> None:
    ada.set_password("lovelace-1815")
    ada.save()
    asked = {"username": "ada", "password": "lovelace-1815", "next": "https://evil.example/"}
    assert stranger.post("/login", asked)["Location"] == "/"


def test_signing_out_is_a_post(site: Any, ada: Any, client_of: Callable[[Any], Client]) -> None:
    browser = client_of(ada)
    assert browser.get("/logout").status_code == 405
    assert browser.post("/logout")["Location"] == "/login"
    assert "_auth_user_id" not in browser.session


# ---- the wall --------------------------------------------------------------------------------

PAGES = [
    "/", "/audit", "/bus/main/boards", "/bus/main/board/~YQ", "/dialog/enqueue",
    *(f"/bus/main/queue/~YQ/{page}" for page in
      ("pending", "schedule", "active", "dead", "repeats", "backoff", "workers", "job/~YQ")),
]  # fmt: skip


@pytest.mark.parametrize("page", PAGES)
def test_every_page_wants_a_login_and_the_right_to_look(
    stranger: Client,
    person: Callable[..., Any],
    client_of: Callable[[Any], Client],
    page: str,
) -> None:
    led = stranger.get(page)
    assert led.status_code == 302
    assert led["Location"].startswith("/login?next=")
    assert client_of(person("eve")).get(page).status_code == 403


def test_no_route_stands_open_by_oversight(stranger: Client) -> None:
    """A new route is behind the wall, or is named here with its reason."""
    opened = {
        "login", "logout", "sign_in",  # the door itself
        "health", "buses_health",  # ok or not, and nothing else
        "act",  # behind the wall, and a POST besides
    }  # fmt: skip
    namespace = get_resolver().namespace_dict["echomq_admin"][1]
    for name in {key for key in namespace.reverse_dict if isinstance(key, str)} - opened:
        example, names = namespace.reverse_dict.getlist(name)[0][0][0]
        path = "/" + example % dict.fromkeys(names, "~YQ")
        assert stranger.get(path).status_code == 302, path


def test_who_may_not_look_sees_no_name_of_the_bus(
    site: Any, person: Callable[..., Any], client_of: Callable[[Any], Client]
) -> None:
    browser = client_of(person("eve"))
    text = browser.get("/").content.decode()
    assert "permission view" in text
    assert "rail" not in text
    told = browser.get("/", headers={"Accept": "application/json"})
    assert (told.status_code, told.json()["outcome"]) == (403, "not-permitted")


def test_the_audit_has_a_right_of_its_own(
    site: Any, person: Callable[..., Any], client_of: Callable[[Any], Client]
) -> None:
    assert client_of(person("eve", "view")).get("/audit").status_code == 403
    assert client_of(person("bob", "view", "view_audit")).get("/audit").status_code == 200


def test_health_says_ok_or_not(stranger: Client, site: Any) -> None:
    assert stranger.get("/health").content == b"ok\n"
    assert stranger.get("/health/buses").content == b"ok\n"
    site.ECHOMQ_BUSES = {"main": "redis://127.0.0.1:1/0"}
    assert stranger.get("/health").status_code == 200
    away = stranger.get("/health/buses")
    assert (away.status_code, away.content) == (503, b"not ok\n")


def test_every_answer_is_strict(stranger: Client) -> None:
    policy = stranger.get("/login")["Content-Security-Policy"]
    assert set(policy.split("; ")) == {
        "default-src 'none'", "script-src 'self'", "style-src 'self'", "img-src 'self' data:",
        "connect-src 'self'", "font-src 'self'", "form-action 'self'", "base-uri 'none'",
        "frame-ancestors 'none'",
    }  # fmt: skip
    assert stranger.get("/login")["X-Frame-Options"] == "DENY"
    assert stranger.get("/login")["X-Content-Type-Options"] == "nosniff"


def test_cookies_stay_with_the_server(
    site: Any, ada: Any, client_of: Callable[[Any], Client]
) -> None:
    browser = client_of(ada)
    browser.get("/dialog/enqueue?bus=main&queue=~YQ")
    for name in ("echomq_session", "echomq_csrf"):
        cookie = browser.cookies[name]
        assert cookie["httponly"] or name == "echomq_session"
        assert name == "echomq_session" or cookie["samesite"] == "Lax"


def test_another_host_is_no_host_of_ours(site: Any) -> None:
    assert Client(SERVER_NAME="evil.example").get("/login").status_code == 400


# ---- rights and groups -----------------------------------------------------------------------


def test_the_groups_hold_what_they_say(db: None, person: Callable[..., Any]) -> None:
    for name, codenames in GROUPS.items():
        held = Group.objects.get(name=name).permissions.values_list("codename", flat=True)
        assert set(held) == codenames
    user = person("bob")
    user.groups.add(Group.objects.get(name="EchoMQ operator"))
    assert rights_of(user) == OPERATOR
    assert role_of(user) == "operator"
    assert VIEWER < OPERATOR < ADMIN


def test_nobody_has_no_rights(person: Callable[..., Any], ada: Any) -> None:
    assert rights_of(AnonymousUser()) == frozenset()
    assert rights_of(person("eve")) == frozenset()
    assert rights_of(ada) == ADMIN
    ada.is_active = False
    assert rights_of(ada) == frozenset()


# ---- the key ---------------------------------------------------------------------------------


def test_the_key_is_made_once_and_ours_alone(tmp_path: Path) -> None:
    path = tmp_path / "deep" / "secret-key"
    with ThreadPoolExecutor(8) as pool:
        made = set(pool.map(lambda _: secret_key(path), range(8)))
    assert len(made) == 1
    assert len(made.pop()) > 60
    assert stat.S_IMODE(path.stat().st_mode) == 0o600
    assert [entry.name for entry in path.parent.iterdir()] == ["secret-key"]
