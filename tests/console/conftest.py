"""A console over the test's own server, people with rights, and the door they knock at."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from io import BytesIO, StringIO, TextIOWrapper
from typing import Any

import pytest
from django.contrib.auth import get_user_model
from django.contrib.auth.models import Permission
from django.core.management import call_command
from django.test import Client

from echomq_admin import buses
from echomq_admin.actions.action import Target
from echomq_admin.actions.answers import Answer
from echomq_admin.actions.intents import Actor
from echomq_admin.actions.perform import actor_of, perform
from echomq_admin.live import observatory
from echomq_admin.templatetags.echomq import address
from queue_core.bus import Bus
from queue_core.embedded import Embedded
from queue_core.keys import QueueKeys
from tests.builders import Builder


@pytest.fixture
def site(settings: Any, server: Embedded, db: None) -> Any:
    """The console's settings, with one bus called main."""
    settings.ECHOMQ_BUSES = {"main": server.url}
    settings.ECHOMQ_READ_ONLY = False
    settings.ECHOMQ_CLI_USER = ""
    return settings


@pytest.fixture
def declared(site: Any, q: QueueKeys) -> None:
    """The settings name this test's queue, so that it may be paused before it holds anything."""
    site.ECHOMQ_QUEUES = [q.name.decode()]


@pytest.fixture(scope="session", autouse=True)
def _hang_up() -> Iterator[None]:
    yield
    buses.close_all()


@pytest.fixture
def person(db: None) -> Callable[..., Any]:
    """`person("ada", "view", "retry_job")`: a user who holds these rights."""

    def made(name: str, *codenames: str) -> Any:
        user = get_user_model().objects.create_user(name)
        user.user_permissions.set(
            Permission.objects.filter(
                content_type__app_label="echomq_admin", codename__in=codenames
            )
        )
        return user

    return made


@pytest.fixture
def ada(db: None) -> Any:
    """She may do everything."""
    return get_user_model().objects.create_superuser("ada")


@pytest.fixture
def actor(ada: Any) -> Actor:
    """Ada, as the one who acts."""
    return actor_of(ada)


@pytest.fixture
def client_of() -> Callable[[Any], Client]:
    """A browser in which somebody is signed in."""

    def made(user: Any) -> Client:
        client = Client(SERVER_NAME="localhost")
        client.force_login(user)
        return client

    return made


@pytest.fixture
def shell(
    site: Any, declared: None, ada: Any, monkeypatch: pytest.MonkeyPatch
) -> Callable[..., tuple[int, str, str]]:
    """`shell("pause", "q", "--as", "ada")`: exit code, standard output and error."""

    def run(*words: str, stdin: bytes = b"") -> tuple[int, str, str]:
        out, err = StringIO(), StringIO()
        monkeypatch.setattr(sys, "stdout", out)
        monkeypatch.setattr(sys, "stderr", err)
        monkeypatch.setattr(sys, "stdin", TextIOWrapper(BytesIO(stdin)))
        try:
            call_command("echomq", *words)
            code = 0
        except SystemExit as left:
            code = int(left.code or 0)
        finally:
            monkeypatch.undo()
        return code, out.getvalue(), err.getvalue()

    site.ECHOMQ_CLI_USER = "ada"
    return run


@pytest.fixture
def make(bus: Bus, q: QueueKeys, mint: Callable[[], bytes]) -> Builder:
    """Jobs of this test's queue in a named state."""
    return Builder(bus.run, q, mint)


@pytest.fixture
def do(site: Any, declared: None, actor: Actor, q: QueueKeys) -> Callable[..., Answer]:
    """`do("retry_dead", job_id, expect="dead 1")`: Ada performs it on this test's queue."""

    def done(action: str, item: bytes = b"", **more: Any) -> Answer:
        who = more.pop("who", actor)
        request_id = more.pop("request_id", None)
        target = more.pop("target", Target("main", q.name, item))
        return perform(who, action, target, more, request_id=request_id, source="page")

    return done


@pytest.fixture
def look(site: Any, ada: Any, client_of: Callable[[Any], Client], q: QueueKeys) -> Iterator[Any]:
    """`look("job", job_id, who=vera, lane="~…")`: a page of this test's queue, as Ada sees it."""
    observatory.shut()

    def looked(page: str, item: bytes | None = None, who: Any = ada, **params: str) -> Any:
        where = address(page, "main", q.name, item)
        return client_of(who).get(where, params)

    yield looked
    observatory.shut()
