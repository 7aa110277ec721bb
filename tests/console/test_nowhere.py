"""What is no page, not permitted, or fails: told in the console's look, with a way back."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
from django.test import Client
from django.test.utils import override_script_prefix

from echomq_admin.live import observatory
from queue_core.keys import QueueKeys
from tests.console.test_mount import mounted  # noqa: F401  (a host project around the console)

JSON = {"Accept": "application/json"}
HTMX = {"HX-Request": "true"}
NOWHERE = {
    "/bus/moon/queue/~YQ/pending": "No such bus",
    "/bus/moon/boards": "No such bus",
    "/bus/moon/queue/~YQ/job/~YQ/payload": "No such bus",
    "/bus/%3Cscript%3E%1b/boards": "No such bus",
    "/bus/main/queue/bare/pending": "No such page",
    "/bus/main/queue/~YR/pending": "No such page",
    "/bus/main/queue/~YQ/nothing": "No such page",
    "/<script>alert(1)</script>": "No such page",
    "/bus/main/queue/~bm9ib2R5/pending": "No such queue",
    "/dialog/explode": "No such verb",
}


@pytest.fixture
def ours(site: Any) -> Any:
    """A site that no page has been asked of."""
    observatory.shut()
    yield site
    observatory.shut()


@pytest.mark.parametrize(("where", "title"), NOWHERE.items(), ids=NOWHERE)
def test_what_is_nowhere_is_told_in_the_form_that_was_asked_for(
    ours: Any, ada: Any, client_of: Callable[[Any], Client], where: str, title: str
) -> None:
    browser = client_of(ada)
    page = browser.get(where)
    text = page.content.decode()
    assert page.status_code == 404
    assert f"{title} · EchoMQ</title>" in text
    assert 'id="rail"' in text
    assert '<a class="btn" href="/">' in text
    assert "<script>alert" not in text
    assert "\x1b" not in text
    told = browser.get(where, headers=JSON)
    assert (told.status_code, told.json()["outcome"]) == (404, "gone")
    toast = browser.get(where, headers=HTMX)
    assert (toast.status_code, toast["HX-Retarget"]) == (404, "#toasts")
    assert toast.content.startswith(b'<div class="toast"')


def test_who_may_not_look_learns_no_name(
    ours: Any, person: Callable[..., Any], client_of: Callable[[Any], Client]
) -> None:
    for browser in (Client(SERVER_NAME="localhost"), client_of(person("eve"))):
        page = browser.get("/no/such/page")
        text = page.content.decode()
        assert page.status_code == 404
        assert "css/sign_in.css" in text
        assert 'id="rail"' not in text
        assert 'href="/"' in text
        assert browser.get("/no/such/page", headers=JSON).json()["outcome"] == "gone"


def test_what_needs_another_right_says_so_within_the_frame(
    ours: Any, person: Callable[..., Any], client_of: Callable[[Any], Client]
) -> None:
    page = client_of(person("vera", "view")).get("/audit")
    text = page.content.decode()
    assert page.status_code == 403
    assert "This needs the permission view_audit." in text
    assert 'id="rail"' in text
    page = client_of(person("eve")).get("/audit")
    assert page.status_code == 403
    assert 'id="rail"' not in page.content.decode()


def test_another_method_is_told_as_well(
    ours: Any, ada: Any, client_of: Callable[[Any], Client]
) -> None:
    for where, method, browser, allow in (
        ("/act/pause_queue", "get", client_of(ada), "POST"),
        ("/logout", "get", client_of(ada), "POST"),
        ("/logout", "get", Client(SERVER_NAME="localhost"), "POST"),
        ("/audit", "post", client_of(ada), "GET, HEAD"),
    ):
        page = getattr(browser, method)(where)
        assert (page.status_code, page["Allow"]) == (405, allow)
        assert "Not that way" in page.content.decode()


def test_a_failure_is_told_without_what_may_have_failed(
    ours: Any, ada: Any, client_of: Callable[[Any], Client], monkeypatch: pytest.MonkeyPatch
) -> None:
    def fail(*_: Any) -> None:
        raise RuntimeError("a secret of the inside")

    monkeypatch.setattr("echomq_admin.views.show.observatory", fail)
    monkeypatch.setattr("echomq_admin.views.frame.observatory", fail)
    browser = client_of(ada)
    browser.raise_request_exception = False
    page = browser.get("/")
    text = page.content.decode()
    assert page.status_code == 500
    assert "The console failed · EchoMQ</title>" in text
    assert "css/sign_in.css" in text
    assert 'href="/"' in text
    assert "secret" not in text
    told = browser.get("/", headers=JSON)
    assert (told.status_code, told.json()["outcome"]) == (500, "unknown")


def test_a_request_that_is_none_is_told_how_to_mend_it(ours: Any, ada: Any, client_of: Any) -> None:
    page = Client(SERVER_NAME="elsewhere.example").get("/")
    assert page.status_code == 400
    assert "ECHOMQ_HOSTS" in page.content.decode()
    ours.DATA_UPLOAD_MAX_MEMORY_SIZE = 1000
    asked = {"bus": "main", "queue": "~YQ", "payload": "x" * 2000}
    strict = client_of(ada)
    page = strict.post("/act/enqueue", asked, headers=HTMX)
    assert page.status_code == 400
    assert "--payload-file" in page.content.decode()


def test_below_a_prefix_the_way_back_lies_below_it_too(
    ours: Any, ada: Any, client_of: Callable[[Any], Client]
) -> None:
    for browser in (client_of(ada), Client(SERVER_NAME="localhost")):
        with override_script_prefix("/ops/"):
            text = browser.get("/no/such/page").content.decode()
        assert 'href="/ops/"' in text
        assert 'href="/"' not in text


def test_a_host_keeps_its_own_pages_for_what_is_not_ours(
    mounted: Any,  # noqa: F811
    ada: Any,
    client_of: Callable[[Any], Client],
    q: QueueKeys,
) -> None:
    observatory.shut()
    browser = client_of(ada)
    ours = browser.get("/ops/a/b/bus/moon/boards")
    assert ours.status_code == 404
    assert 'href="/ops/a/b/"' in ours.content.decode()
    for where in ("/ops/a/b/no/such/page", "/elsewhere"):
        theirs = browser.get(where)
        assert theirs.status_code == 404
        assert "EchoMQ" not in theirs.content.decode()
    observatory.shut()
