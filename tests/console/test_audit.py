"""The audit's page, and the settings that are checked before anything is served."""

from __future__ import annotations

import html
import re
from collections.abc import Callable
from datetime import timedelta
from typing import Any

import pytest
from django.test import Client
from django.utils import timezone

from echomq_admin.actions.answers import Answer
from echomq_admin.checks import check_buses
from echomq_admin.models import AuditEntry
from echomq_admin.views.audit import PAGE_SIZE


@pytest.fixture
def browser(site: Any, ada: Any, client_of: Callable[[Any], Client]) -> Client:
    """Ada's browser."""
    return client_of(ada)


def entry(number: int, **more: Any) -> AuditEntry:
    row = {"who": "ada", "source": "page", "action": "pause_queue", "bus": "main", "queue": b"q"}
    return AuditEntry(request_id=f"r{number}", **{**row, **more})


def test_an_empty_audit_says_what_will_stand_there(browser: Client) -> None:
    assert "Nobody has acted yet" in browser.get("/audit").content.decode()


def test_what_was_done_stands_there(browser: Client, do: Callable[..., Answer]) -> None:
    answer = do("pause_queue", reason="release 12")
    text = browser.get("/audit").content.decode()
    assert f'id="entry-{answer.audit_id}"' in text
    for told in ("ada", "Pause the queue", "is paused", "release 12", "done"):
        assert told in text


def test_an_intent_that_nobody_closed_is_unknown(browser: Client) -> None:
    AuditEntry.objects.bulk_create(
        [entry(1, opened_at=timezone.now() - timedelta(hours=1)), entry(2)]
    )
    text = browser.get("/audit").content.decode()
    assert "Outcome unknown: the console stopped before the bus answered." in text
    assert "In hand." in text
    narrowed = browser.get("/audit", {"outcome": "unknown"}).content.decode()
    assert narrowed.count('id="entry-') == 1


def test_pages_follow_one_another_without_a_gap(browser: Client) -> None:
    AuditEntry.objects.bulk_create(entry(number, outcome="done") for number in range(120))
    seen: list[str] = []
    where = "/audit?who=ada"
    while where:
        text = browser.get(where).content.decode()
        seen += [part.partition('"')[0] for part in text.split('id="entry-')[1:]]
        older = re.search(r'href="([^"]*)">(?:(?!</a>).)*Older', text)
        where = f"/audit{html.unescape(older[1])}" if older else ""
    assert len(seen) == len(set(seen)) == 120
    assert seen == sorted(seen, key=int, reverse=True)


def test_a_page_asks_the_database_a_bounded_number_of_times(
    browser: Client, django_assert_max_num_queries: Any
) -> None:
    AuditEntry.objects.bulk_create(entry(number, outcome="done") for number in range(120))
    with django_assert_max_num_queries(6):
        text = browser.get("/audit").content.decode()
    assert text.count('id="entry-') == PAGE_SIZE


@pytest.mark.parametrize("before", ["-1", "1e9", "9" * 40, "1" * 5000, "٣", "x"])
def test_case_8_a_cursor_that_is_none_is_refused(browser: Client, before: str) -> None:
    assert browser.get("/audit", {"before": before}).status_code == 400


def test_hostile_names_stay_text(browser: Client) -> None:
    AuditEntry.objects.bulk_create([
        entry(1, action="retry_dead", item=b"<b>\x1b[31m\xff", sentence="<script>x</script>",
              expected="<i>", params={"reason": "<u>"}, outcome="done"),
        entry(2, bus="gone", action="exploded", outcome="odd"),
    ])  # fmt: skip
    text = browser.get("/audit").content.decode()
    for tag in ("<b>\x1b", "<script>x", "<i>", "<u>"):
        assert tag not in text
    assert "\x1b" not in text


def test_narrowed_by_who_and_what(browser: Client) -> None:
    AuditEntry.objects.bulk_create([entry(1, who="bob"), entry(2, action="run_now", item=b"x")])
    assert browser.get("/audit", {"who": "bob"}).content.decode().count('id="entry-') == 1
    assert browser.get("/audit", {"action": "run_now"}).content.decode().count('id="entry-') == 1
    assert "No entry fits" in browser.get("/audit", {"who": "eve"}).content.decode()


@pytest.mark.parametrize(
    ("buses", "ids"),
    [
        ({"main": "redis://127.0.0.1:6379/0"}, []),
        ({"eu": {"url": "rediss://u:p@h:1/0", "queues": ["cm.notify"]}}, []),
        ({"a/b": "redis://127.0.0.1:6379/0"}, ["echomq.E001"]),
        ({"main": "http://u:secret@127.0.0.1"}, ["echomq.E002"]),
        ({"main": {"queues": []}}, ["echomq.E003"]),
        (["redis://127.0.0.1"], ["echomq.E003"]),
    ],
)
def test_settings_are_checked(settings: Any, buses: Any, ids: list[str]) -> None:
    settings.ECHOMQ_BUSES = buses
    found = check_buses()
    assert [one.id for one in found] == ids
    assert "secret" not in str(found)
