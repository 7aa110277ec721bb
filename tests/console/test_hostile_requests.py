"""What a client may send that no page of ours would: it is refused, and breaks nothing."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any

import pytest
from django.test import Client

from echomq_admin.actions import ACTIONS
from echomq_admin.live.page import to_path
from echomq_admin.models import AuditEntry
from queue_core.bus import Bus
from queue_core.keys import QueueKeys
from tests.builders import Builder, command

DEEP = {"array": "[" * 100_000, "object": '{"a":' * 50_000}
LONE = "\ud800"
"""Half of a pair of UTF-16: JSON can spell it, UTF-8 cannot."""


@pytest.fixture
def post(site: Any, ada: Any, client_of: Callable[[Any], Client]) -> Callable[..., Any]:
    client = client_of(ada)

    def posted(action: str, body: str) -> Any:
        return client.post(
            f"/act/{action}",
            body,
            content_type="application/json",
            headers={"Accept": "application/json"},
        )

    return posted


@pytest.mark.parametrize("body", DEEP.values(), ids=DEEP)
def test_json_deeper_than_python_follows_is_invalid(post: Any, body: str) -> None:
    answer = post("pause_queue", body)
    assert answer.status_code == 422
    assert answer.json()["outcome"] == "invalid"


@pytest.mark.parametrize("field", ["bus", "queue", "request_id", "expect", "payload", "id"])
@pytest.mark.parametrize("action", ACTIONS)
def test_text_without_bytes_is_invalid_whatever_field_holds_it(
    post: Any, q: QueueKeys, action: str, field: str
) -> None:
    asked = {"bus": "main", "queue": to_path(q.name), "item": "~YQ", field: LONE}
    assert post(action, json.dumps(asked)).status_code == 422
    assert not AuditEntry.objects.exists()


def test_who_may_nothing_leaves_little_in_the_audit(
    site: Any, person: Callable[..., Any], client_of: Callable[[Any], Client]
) -> None:
    client = client_of(person("vera", "view"))
    for field, status in (("item", 422), ("lane", 422), ("bus", 403), ("request_id", 403)):
        asked = {"bus": "main", "queue": "~YQ", field: "~" + "A" * 1_000_000}
        told = client.post("/act/pause_queue", asked, headers={"Accept": "application/json"})
        assert told.status_code == status, field
    kept = AuditEntry.objects.values_list("bus", "request_id", "item", "params")
    assert all(len(str(part)) <= 80 for entry in kept for part in entry)


def test_long_request_ids_that_begin_alike_are_two(post: Any, bus: Bus, q: QueueKeys) -> None:
    for end in ("1", "2", "2"):
        asked = {"bus": "main", "queue": to_path(q.name), "request_id": "k" * 100 + end}
        assert post("enqueue", json.dumps(asked)).status_code == 200
    assert bus.run(command("ZCARD", q.pending)) == 2


@pytest.mark.parametrize("action", ACTIONS)
def test_an_expected_state_that_is_none_is_refused(
    post: Any, make: Builder, q: QueueKeys, action: str
) -> None:
    job = make.in_lane()
    for expect in ("~!", "~A", "~", "é", "-inf", "nan", "1e999", "9" * 199, "x" * 5000):
        asked = {
            "bus": "main", "queue": to_path(q.name), "item": to_path(job.id), "game": "~YQ",
            "to": "PRT0NgWE000001", "payload": "x", "score": "5", "at_ms": "5", "limit": "5",
            "weight": "5", "confirm": "no", "expect": expect,
        }  # fmt: skip
        assert post(action, json.dumps(asked)).status_code < 500, expect


@pytest.mark.parametrize("name", ["active", "dead", "schedule", "pending"])
def test_a_list_goes_on_behind_a_score_that_is_printed_with_a_plus(
    look: Any, bus: Bus, q: QueueKeys, name: str
) -> None:
    members = [part for n in range(120) for part in (1e300, b"m%03d" % n)]
    bus.run(command("ZADD", getattr(q, name), *members))
    first = look(name)
    listed = first.context["list"]
    after = listed["after"] if name == "schedule" else listed["pager"].after
    assert "1e%2B300" in after
    client = first.client
    assert client.get(first.request["PATH_INFO"] + after).status_code == 200
