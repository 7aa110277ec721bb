"""The console as an app of another project, below a prefix, and its one socket for acts."""

from __future__ import annotations

import re
from collections.abc import Callable
from types import ModuleType
from typing import Any

import pytest
from asgiref.sync import async_to_sync
from django.test import Client
from django.urls import clear_url_caches, include, path

from echomq_admin.live.acts import act
from echomq_admin.live.page import to_path
from echomq_admin.models import AuditEntry
from queue_core.bus import Bus
from queue_core.keys import QueueKeys
from tests.builders import Builder, command


@pytest.fixture
def mounted(site: Any) -> Any:
    """A host's urls with the console far down in them."""
    host = ModuleType("host_urls")
    host.urlpatterns = [path("ops/a/b/", include("echomq_admin.urls"))]  # type: ignore[attr-defined]
    site.ROOT_URLCONF = host
    clear_url_caches()
    yield site
    clear_url_caches()


def test_case_124_every_address_lies_below_the_prefix(
    mounted: Any, ada: Any, client_of: Callable[[Any], Client], q: QueueKeys, make: Builder
) -> None:
    make.pending()
    name = to_path(q.name)
    assert (
        Client(SERVER_NAME="localhost")
        .get("/ops/a/b/")["Location"]
        .startswith("/ops/a/b/login?next=/ops/a/b/")
    )
    browser = client_of(ada)
    for page in ("", "audit", f"bus/main/queue/{name}/pending", "login"):
        text = browser.get(f"/ops/a/b/{page}", follow=True).content.decode()
        found = re.findall(r'(?:href|src|action|hx-get|hx-post|data-socket)="(/[^"]*)"', text)
        assert found
        assert all(one.startswith(("/ops/a/b/", "/static/")) for one in found), found
    paused = browser.post(
        "/ops/a/b/act/pause_queue",
        {"bus": "main", "queue": name},
        headers={"Accept": "application/json"},
    )
    assert paused.json()["outcome"] == "done"


def test_a_host_s_own_login_serves(mounted: Any) -> None:
    mounted.LOGIN_URL = "/accounts/login/"
    led = Client(SERVER_NAME="localhost").get("/ops/a/b/")
    assert led["Location"].startswith("/accounts/login/?next=")


@pytest.mark.django_db(transaction=True)
def test_case_42_the_socket_acts_through_the_same_door(
    site: Any, person: Callable[..., Any], bus: Bus, q: QueueKeys
) -> None:
    wanted = {
        "action": "pause_queue",
        "id": "one",
        "target": {"bus": "main", "queue": to_path(q.name)},
        "params": {},
    }

    def told(user: Any) -> dict[str, Any]:
        answer = async_to_sync(act)(user, wanted)
        found: dict[str, Any] = answer["data"]["act"]
        return found

    assert told(person("eve", "view"))["outcome"] == "not-permitted"
    assert not bus.run(command("EXISTS", q.meta))
    bob = person("bob", "view", "pause_queue")
    assert told(bob)["outcome"] == "done"
    assert told(bob)["outcome"] == "already"
    assert set(AuditEntry.objects.values_list("who", "source", "outcome")) == {
        ("eve", "socket", "not-permitted"),
        ("bob", "socket", "done"),
    }
    bob.user_permissions.clear()
    assert told(bob)["outcome"] == "not-permitted"
