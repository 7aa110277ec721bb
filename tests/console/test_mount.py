"""The console as an app of another project, below a prefix, and its one socket for acts."""

from __future__ import annotations

import re
from collections.abc import Callable
from types import ModuleType
from typing import Any

import pytest
import redis
from asgiref.sync import async_to_sync
from django.test import Client
from django.urls import clear_url_caches, include, path

from echomq_admin.checks import check_buses
from echomq_admin.live.acts import act
from echomq_admin.live.page import to_path
from echomq_admin.models import AuditEntry
from queue_core.bus import Bus
from queue_core.embedded import Embedded
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


def test_case_132_a_host_s_client_that_decodes_is_none_of_ours(
    site: Any, look: Any, server: Embedded, q: QueueKeys, make: Builder
) -> None:
    job = make.pending(b"\xff\xfe")
    host = redis.Redis(unix_socket_path=str(server.socket), decode_responses=True)
    assert host.zscore(q.pending, job.id) == 0
    assert "⟨ff⟩⟨fe⟩" in look("pending").content.decode()
    host.close()
    site.ECHOMQ_BUSES = {"main": f"{server.url}?decode_responses=true"}
    (told,) = check_buses()
    assert told.id == "echomq.E002"
    assert "decode_responses" in told.msg


def test_case_42_programs_are_held_to_the_same_rights(
    site: Any, person: Any, client_of: Any, q: QueueKeys, make: Builder
) -> None:
    browser = client_of(person("rhea", "view", "retry_job"))
    job = make.dead().id
    asked = {"bus": "main", "queue": to_path(q.name), "item": to_path(job)}
    as_json = {"Accept": "application/json"}
    removed = browser.post("/act/remove_job", {**asked, "confirm": "remove"}, headers=as_json)
    assert (removed.status_code, removed.json()["outcome"]) == (403, "not-permitted")
    retried = browser.post("/act/retry_dead", asked, headers=as_json)
    assert (retried.status_code, retried.json()["outcome"]) == (200, "done")


def test_a_host_s_own_login_serves(mounted: Any) -> None:
    mounted.LOGIN_URL = "/accounts/login/"
    led = Client(SERVER_NAME="localhost").get("/ops/a/b/")
    assert led["Location"].startswith("/accounts/login/?next=")


@pytest.mark.django_db(transaction=True)
def test_case_42_the_socket_acts_through_the_same_door(
    declared: None, person: Callable[..., Any], bus: Bus, q: QueueKeys
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
