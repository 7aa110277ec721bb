"""The POST and the dialogs: statuses by outcome, toasts, JSON, forms bound to what was shown."""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from datetime import datetime
from pathlib import Path
from typing import Any

import pytest
from django.template import Context, Template
from django.test import Client

from echomq_admin.actions import ACTIONS
from echomq_admin.live import observatory
from echomq_admin.live.page import Watch, to_path
from echomq_admin.permissions import ADMIN
from echomq_admin.templatetags.echomq import address
from queue_core import boards
from queue_core.bus import Bus, connect
from queue_core.embedded import Embedded
from queue_core.keys import QueueKeys, found
from queue_core.plans import Call, Plan
from queue_core.verbs import repeats
from tests.builders import Builder, command, score

HTMX = {"HX-Request": "true"}
JSON = {"Accept": "application/json"}


@pytest.fixture
def browser(site: Any, declared: None, ada: Any, client_of: Callable[[Any], Client]) -> Client:
    """Ada's browser."""
    return client_of(ada)


def named(q: QueueKeys, item: bytes = b"", **more: str) -> dict[str, str]:
    asked = {"bus": "main", "queue": to_path(q.name), **more}
    return {**asked, "item": to_path(item)} if item else asked


# ---- the POST --------------------------------------------------------------------------------


def test_a_toast_for_a_page(browser: Client, q: QueueKeys) -> None:
    answer = browser.post("/act/pause_queue", named(q), headers=HTMX)
    text = answer.content.decode()
    assert answer.status_code == 200
    assert 'data-outcome="done"' in text
    assert "Undo" in text
    assert "<html" not in text


def test_a_queue_that_a_page_has_shown_is_known_also_when_it_is_empty(
    site: Any, ada: Any, client_of: Any, make: Builder, bus: Bus, q: QueueKeys
) -> None:
    site.ECHOMQ_QUEUES = []
    job, seen = make.pending(), client_of(ada)
    assert (
        seen.post("/act/pause_queue", named(q, queue=to_path(b"typo")), headers=JSON).json()[
            "outcome"
        ]
        == "gone"
    )
    observatory.shut()
    assert seen.get(address("pending", "main", q.name)).status_code == 200
    bus.run(command("DEL", q.pending, q.row(job.id)))
    assert seen.post("/act/pause_queue", named(q), headers=JSON).json()["outcome"] == "done"
    observatory.shut()


def test_json_for_a_program(browser: Client, q: QueueKeys) -> None:
    answer = browser.post(
        "/act/pause_queue",
        json.dumps(named(q)),
        content_type="application/json",
        headers={**JSON, "Idempotency-Key": "k1"},
    )
    assert answer.status_code == 200
    assert answer.json()["outcome"] == "done"
    again = browser.post("/act/pause_queue", named(q), headers={**JSON, "Idempotency-Key": "k1"})
    assert again.json()["outcome"] == "already"


def test_statuses_by_outcome(
    browser: Client, make: Builder, site: Any, bus: Bus, q: QueueKeys
) -> None:
    def status(action: str, item: bytes = b"", **more: str) -> int:
        return browser.post(f"/act/{action}", named(q, item, **more), headers=HTMX).status_code

    locked, dead = make.active(), make.dead()
    bus.run(command("SET", q.lock(locked.id), "x"))
    assert status("pause_queue") == 200
    assert status("pause_queue") == 200
    assert status("reschedule", make.scheduled().id, at_ms="soon") == 422
    assert status("run_now", make.absent().id) == 404
    assert status("run_now", dead.id) == 409
    assert status("remove_job", locked.id, confirm="remove", expect="active") == 423
    assert status("explode") == 422
    site.ECHOMQ_READ_ONLY = True
    assert status("pause_queue") == 403
    site.ECHOMQ_READ_ONLY = False
    site.ECHOMQ_BUSES = {"main": "redis://127.0.0.1:1/0"}
    assert status("pause_queue") == 503


def test_only_a_post_acts(browser: Client, bus: Bus, q: QueueKeys) -> None:
    assert browser.get("/act/pause_queue", named(q)).status_code == 405
    assert not bus.run(command("EXISTS", q.meta))


def test_no_act_without_the_token(site: Any, ada: Any, bus: Bus, q: QueueKeys) -> None:
    client = Client(enforce_csrf_checks=True, SERVER_NAME="localhost")
    client.force_login(ada)
    assert client.post("/act/pause_queue", named(q), headers=HTMX).status_code == 403
    assert not bus.run(command("EXISTS", q.meta))


def test_no_act_without_login(site: Any, bus: Bus, q: QueueKeys) -> None:
    client = Client(SERVER_NAME="localhost")
    assert client.post("/act/pause_queue", named(q)).status_code == 302
    assert client.post("/act/pause_queue", named(q), headers=JSON).status_code == 401
    told = client.post("/act/pause_queue", named(q), headers=HTMX)
    assert (told.status_code, told["HX-Redirect"]) == (401, "/login")
    assert not bus.run(command("EXISTS", q.meta))


@pytest.mark.parametrize("queue", ["plain", "~!!", "~YQ==", "~YR"])
def test_a_name_of_another_form_is_refused(browser: Client, queue: str) -> None:
    asked = {"bus": "main", "queue": queue}
    assert browser.post("/act/pause_queue", asked, headers=HTMX).status_code == 422
    assert browser.get("/dialog/limit_lane", asked, headers=HTMX).status_code == 200


def test_the_bus_s_text_is_escaped_in_a_toast(browser: Client, bus: Bus) -> None:
    name = b"<img src=x onerror=alert(1)>\x1b[31m"
    asked = {"bus": "main", "queue": to_path(name)}
    try:
        text = browser.post("/act/pause_queue", asked, headers=HTMX).content.decode()
    finally:
        bus.run(command("DEL", found(name).meta))
    assert "<img" not in text
    assert "\x1b" not in text


def test_a_toast_names_what_was_acted_on(browser: Client, q: QueueKeys, make: Builder) -> None:
    gone = make.absent().id
    text = browser.post("/act/run_now", named(q, gone), headers=HTMX).content.decode()
    assert f'job <bdi class="mono">{gone.decode()}</bdi>' in text
    long = b"<b>begins-" + b"x" * 200 + b"-ends"
    text = browser.post("/act/pause_repeat", named(q, long), headers=HTMX).content.decode()
    assert 'repeat <bdi class="mono">&lt;b&gt;begins-xxx…' in text
    assert "xxx-ends</bdi>" in text


# ---- dialogs ---------------------------------------------------------------------------------


@pytest.mark.parametrize("name", [name for name, action in ACTIONS.items() if action.dialog])
def test_every_dialog_opens_on_anything(browser: Client, bus: Bus, q: QueueKeys, name: str) -> None:
    asked = {**named(q, b"\xff<b>"), "game": to_path(b"game<i>")}
    page = browser.get(f"/dialog/{name}", asked, headers=HTMX)
    assert page.status_code == 200
    text = page.content.decode()
    assert "<b>\xff" not in text
    assert "<i>" not in text
    assert "<html" not in text
    assert "<html" in browser.get(f"/dialog/{name}", asked).content.decode()


def test_opening_dialogs_writes_nothing(browser: Client, site: Any, folder: Path) -> None:
    """Not even the version fence, which comes with the first act."""
    untouched = Embedded(folder)
    untouched.start()
    site.ECHOMQ_BUSES = {"main": untouched.url}
    try:
        asked = {"bus": "main", "queue": "~YQ", "item": "~YQ", "game": "~YQ"}
        for name, action in ACTIONS.items():
            if action.dialog:
                browser.get(f"/dialog/{name}", asked, headers=HTMX)
        looker = connect(untouched.url, observe=True)
        assert looker.run(size()) == 0
    finally:
        untouched.kill()


def size() -> Plan[int]:
    return (yield Call("DBSIZE"))


def form_of(text: str) -> dict[str, str]:
    """The hidden and filled fields of a drawn form."""
    fields = {}
    for tag in re.findall(r"<input[^>]*>", text):
        name, value = re.search(r'name="([^"]*)"', tag), re.search(r'value="([^"]*)"', tag)
        if name:
            fields[name[1]] = value[1] if value else ""
    return fields


def test_case_76_a_dialog_stays_with_what_it_showed(
    browser: Client, make: Builder, bus: Bus, q: QueueKeys
) -> None:
    job = make.scheduled()
    form = form_of(
        browser.get("/dialog/remove_job", named(q, job.id), headers=HTMX).content.decode()
    )
    assert form["expect"] == "scheduled"
    browser.post("/act/run_now", named(q, job.id), headers=HTMX)
    answer = browser.post("/act/remove_job", {**form, "confirm": "remove"}, headers=HTMX)
    assert answer.status_code == 409
    assert "pending now, not scheduled" in answer.content.decode()
    assert 'id="dialog" hx-swap-oob' in answer.content.decode()
    assert bus.run(command("EXISTS", q.row(job.id))) == 1


def test_a_wrong_word_comes_back_in_the_dialog(
    browser: Client, make: Builder, q: QueueKeys
) -> None:
    job = make.dead()
    drawn = browser.get("/dialog/remove_job", named(q, job.id), headers=HTMX).content.decode()
    form = form_of(drawn)
    answer = browser.post("/act/remove_job", {**form, "confirm": "no"}, headers=HTMX)
    assert answer.status_code == 422
    assert answer["HX-Retarget"] == "#dialog"
    again = form_of(answer.content.decode())
    assert again["request_id"] == form["request_id"]
    assert again["expect"] == "dead"
    assert "There is no undo" in answer.content.decode()
    done = browser.post("/act/remove_job", {**again, "confirm": "remove"}, headers=HTMX)
    assert done.status_code == 200


def test_a_resent_dialog_runs_a_repeat_once(browser: Client, bus: Bus, q: QueueKeys) -> None:
    bus.run(repeats.register(q, b"digest", 60_000, b"x"))
    drawn = browser.get("/dialog/run_repeat", named(q, b"digest"), headers=HTMX)
    form = form_of(drawn.content.decode())
    outcomes = [
        browser.post("/act/run_repeat", form, headers={**HTMX, **JSON}).json()["outcome"]
        for _ in range(3)
    ]
    assert outcomes == ["done", "already", "already"]
    assert bus.run(command("ZCARD", q.pending)) == 1


@pytest.mark.parametrize("past_the_minute_ms", [0, 1_234])
def test_a_postponed_job_keeps_its_drawn_time_out_of_the_way(
    browser: Client, make: Builder, bus: Bus, q: QueueKeys, past_the_minute_ms: int
) -> None:
    job, was = make.scheduled(), 1_900_000_020_000 + past_the_minute_ms
    bus.run(command("ZADD", q.schedule, "XX", was, job.id))
    drawn = browser.get("/dialog/reschedule", named(q, job.id), headers=HTMX).content.decode()
    assert "<span>Reschedule</span></button>" in drawn
    form = form_of(drawn)
    assert form["at"]
    assert form["expect"] == str(was)
    form["at"] = form["at"].removesuffix(":00")  # as a browser sends it back
    answer = browser.post("/act/reschedule", {**form, "by": "15m"}, headers=HTMX)
    assert answer.status_code == 200, answer.content.decode()
    assert bus.run(score(q.schedule, job.id)) == was + 900_000


def test_case_58_both_meanings_of_a_doubled_time_can_be_pressed(
    browser: Client, make: Builder, bus: Bus, q: QueueKeys
) -> None:
    job = make.scheduled()
    drawn = browser.get("/dialog/reschedule", named(q, job.id), headers=HTMX).content.decode()
    form = {**form_of(drawn), "at": "2030-10-27T02:30", "zone": "Europe/Berlin"}
    refused = browser.post("/act/reschedule", form, headers=HTMX)
    assert refused.status_code == 422
    meant = re.findall(r'name="meant" value="([^"]+)"', refused.content.decode())
    assert meant == ["2030-10-27T02:30+02:00", "2030-10-27T02:30+01:00"]
    taken = browser.post("/act/reschedule", {**form, "meant": meant[1]}, headers=HTMX)
    assert taken.status_code == 200
    moment = datetime.fromisoformat(meant[1]).timestamp() * 1000
    assert bus.run(score(q.schedule, job.id)) == moment


def test_a_conflicting_rescore_offers_only_the_held_value(
    browser: Client, bus: Bus, q: QueueKeys
) -> None:
    bus.run(boards.fold(q.name, b"noor", 420))
    asked = {"bus": "main", "game": to_path(q.name), "item": to_path(b"noor")}
    form = form_of(browser.get("/dialog/rescore", asked, headers=HTMX).content.decode())
    assert form["expect"] == "420"
    bus.run(boards.fold(q.name, b"noor", 440))
    answer = browser.post("/act/rescore", {**form, "score": "400"}, headers=HTMX)
    text = answer.content.decode()
    assert answer.status_code == 409
    assert answer["HX-Retarget"] == "#dialog"
    assert "Save if it still holds 440" in text
    for shown in ("<s>420</s>", "<dd>440</dd>", "<dd>400</dd>"):
        assert shown in text
    again = form_of(text)
    assert again["expect"] == "440"
    assert again["request_id"] != form["request_id"]
    assert browser.post("/act/rescore", again, headers=HTMX).status_code == 200
    assert bus.run(boards.top(q.name, 1)).value == [(b"noor", "400")]


def test_a_dialog_without_the_right_offers_no_button(
    site: Any, person: Callable[..., Any], client_of: Callable[[Any], Client], q: QueueKeys
) -> None:
    page = client_of(person("eve", "view")).get("/dialog/enqueue", named(q), headers=HTMX)
    text = page.content.decode()
    assert "enqueue_job" in text
    assert 'type="submit"' not in text


def test_a_dialog_of_a_bus_that_is_away_says_so(browser: Client, site: Any, q: QueueKeys) -> None:
    site.ECHOMQ_BUSES = {"main": "redis://127.0.0.1:1/0"}
    text = browser.get("/dialog/retry_dead", named(q, b"x"), headers=HTMX).content.decode()
    assert "could not be read" in text
    assert 'type="submit"' not in text


# ---- buttons ---------------------------------------------------------------------------------


def button(verb: str, rights: frozenset[str] = ADMIN) -> str:
    watch = Watch("main", "pending", b"a b", rights=rights)
    drawn = Template("{% load verbs %}" + verb).render(Context({"watch": watch}))
    return str(drawn)


def test_case_42_buttons_match_rights(site: Any) -> None:
    for name, action in ACTIONS.items():
        tag = '{% verb "' + name + '" queue=watch.queue item=watch.queue %}'
        assert "hx-" in button(tag)
        without = button(tag, ADMIN - {action.permission})
        assert "hx-" not in without
        assert 'aria-disabled="true"' in without
        assert action.permission in without


def test_a_button_carries_what_was_shown_and_no_token(site: Any) -> None:
    drawn = button('{% verb "remove_job" queue=watch.queue item=watch.queue expect="dead" %}')
    assert "expect=dead" in drawn
    assert "queue=~YSBi" in drawn.replace("%7E", "~")
    assert "csrf" not in drawn
    posted = button('{% verb "pause_queue" queue=watch.queue %}')
    assert "~YSBi" in posted


def test_a_reason_turns_a_button_off(site: Any) -> None:
    assert "held by w1" in button('{% verb "remove_job" queue=watch.queue off="held by w1" %}')
    site.ECHOMQ_READ_ONLY = True
    assert "read-only" in button('{% verb "pause_queue" queue=watch.queue %}')
