"""Another payload and another lane: byte by byte, only as seen, and no payload in the audit."""

from __future__ import annotations

import hashlib
import html
import json
import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from django.test import Client

from echomq_admin.actions.answers import Answer
from echomq_admin.live.page import to_path
from echomq_admin.models import AuditEntry
from queue_core.bus import Bus
from queue_core.keys import QueueKeys
from queue_core.outcomes import Outcome
from queue_core.states import State
from tests.builders import Builder, a_lane, command, score
from tests.console.test_commands import Said, lines

Do = Callable[..., Answer]
HTMX = {"HX-Request": "true"}
HELD = [state for state in State if state is not State.absent]


def sha1(raw: bytes) -> str:
    return hashlib.sha1(raw, usedforsecurity=False).hexdigest()


def payload(bus: Bus, q: QueueKeys, job_id: bytes) -> bytes | None:
    return bus.run(command("HGET", q.row(job_id), "payload"))


# ---- the payload -----------------------------------------------------------------------------


@pytest.mark.parametrize("state", HELD)
def test_a_payload_is_replaced_in_every_state(
    do: Do, make: Builder, bus: Bus, q: QueueKeys, state: State
) -> None:
    job = make.state(state)
    assert do("edit_payload", job.id, payload=b"\xff\x00new").outcome is Outcome.done
    assert payload(bus, q, job.id) == b"\xff\x00new"


def test_a_payload_that_changed_meanwhile_is_left_alone(
    do: Do, make: Builder, bus: Bus, q: QueueKeys
) -> None:
    job = make.pending(b"seen")
    bus.run(command("HSET", q.row(job.id), "payload", b"of another"))
    answer = do("edit_payload", job.id, payload="mine", expect=sha1(b"seen"))
    assert answer.outcome is Outcome.wrong_state
    assert "changed meanwhile" in answer.sentence
    assert payload(bus, q, job.id) == b"of another"
    again = do("edit_payload", job.id, payload="of another", expect=sha1(b"of another"))
    assert again.outcome is Outcome.already
    unchanged = do("edit_payload", job.id, payload="seen", expect=sha1(b"seen"))
    assert unchanged.outcome is Outcome.wrong_state, "it carries another, whatever was not changed"
    bus.run(command("DEL", q.row(job.id)))
    assert do("edit_payload", job.id, payload="x", expect=sha1(b"x")).outcome is Outcome.gone


def test_no_payload_is_not_the_empty_one(do: Do, make: Builder, bus: Bus, q: QueueKeys) -> None:
    job = make.pending(b"kept")
    assert do("edit_payload", job.id).outcome is Outcome.invalid
    assert payload(bus, q, job.id) == b"kept"
    assert do("edit_payload", job.id, payload="").outcome is Outcome.done
    assert payload(bus, q, job.id) == b""
    assert do("edit_payload", make.absent().id, payload="x").outcome is Outcome.gone


def test_the_audit_keeps_the_size_and_no_payload(do: Do, make: Builder) -> None:
    job = make.pending(b"an old secret")
    do("edit_payload", job.id, payload="a new secret", expect=sha1(b"an old secret"))
    entry = AuditEntry.objects.get()
    kept = json.dumps([entry.params, entry.sentence, entry.expected])
    assert entry.params.keys() == {"size", "mark"}
    assert entry.params["size"] == 12
    assert "secret" not in kept
    assert entry.expected
    assert sha1(b"an old secret") not in kept, "nor what it could be guessed by"


def fields(text: str) -> dict[str, str]:
    """What a dialog's form would send: its hidden fields, and its text as a browser has it."""
    sent = {name: html.unescape(value) for name, value in re.findall(
        r'<input type="hidden" name="([^"]+)" value="([^"]*)"', text
    )}  # fmt: skip
    area = re.search(r"<textarea[^>]*>(.*?)</textarea>", text, re.DOTALL)
    if area is not None:
        written = area[1].replace("\r\n", "\n")  # a parser reads no carriage return
        sent["payload"] = html.unescape(written.removeprefix("\n"))
    return sent


def dialog(browser: Client, q: QueueKeys, item: bytes, action: str = "edit_payload") -> Any:
    asked = {"bus": "main", "queue": to_path(q.name), "item": to_path(item)}
    return browser.get(f"/dialog/{action}", asked, headers=HTMX)


TEXTS = [
    '{"text":"hello"}', '{"a": 9007199254740993, "": 1.0, "e": 1e400, "e": 2}', "{}", "[]",
    '\n{"lines":\n\n 1}\n', '\t{"t": "é🐙\u202e</textarea><b>&amp;\ufeff"}  ', "\ufeff[1]",
    '"\\u0000"',
]  # fmt: skip


@pytest.mark.parametrize("text", TEXTS)
def test_what_a_dialog_shows_it_gives_back_byte_by_byte(
    site: Any, ada: Any, client_of: Callable[[Any], Client], make: Builder, bus: Bus, q: QueueKeys,
    text: str,
) -> None:  # fmt: skip
    """By a form that sends the line ends of HTML, as one without htmx does."""
    browser, raw = client_of(ada), text.encode()
    job = make.pending(raw)
    sent = fields(dialog(browser, q, job.id).content.decode())
    assert sent["payload"].encode() == raw
    assert sent["expect"] == sha1(raw)
    sent["payload"] = (sent["payload"] + "\n").replace("\n", "\r\n")
    assert browser.post("/act/edit_payload", sent, headers=HTMX).status_code == 200
    assert payload(bus, q, job.id) == raw + b"\n"


@pytest.mark.parametrize(
    "raw", [b"\xff\xfe\x00\xc3\x28", b"a\r\nb", b"a\x00b", b"\x1b[31m", b"\x7f"]
)
def test_what_is_no_text_is_refused_with_the_way_to_do_it(
    site: Any, ada: Any, client_of: Callable[[Any], Client], make: Builder, q: QueueKeys, raw: bytes
) -> None:
    text = dialog(client_of(ada), q, make.pending(raw).id).content.decode()
    assert "<textarea" not in text
    assert "manage.py echomq edit --payload-file" in text


def test_a_program_s_line_ends_are_its_own(
    site: Any, ada: Any, client_of: Callable[[Any], Client], make: Builder, bus: Bus, q: QueueKeys
) -> None:
    job = make.pending(b"x")
    asked = {"bus": "main", "queue": to_path(q.name), "item": to_path(job.id), "payload": "a\r\nb"}
    where = {"content_type": "application/json", "headers": {"Accept": "application/json"}}
    told = client_of(ada).post("/act/edit_payload", json.dumps(asked), **where)
    assert told.json()["outcome"] == "done"
    assert payload(bus, q, job.id) == b"a\r\nb"


def test_words_outlive_a_refusal(
    site: Any, ada: Any, client_of: Callable[[Any], Client], make: Builder, bus: Bus, q: QueueKeys
) -> None:
    browser, job = client_of(ada), make.pending(b'{"n":1}')
    sent = fields(dialog(browser, q, job.id).content.decode())
    bus.run(command("HSET", q.row(job.id), "payload", b'{"token":"hunter22"}'))
    told = browser.post("/act/edit_payload", {**sent, "payload": "long words"}, headers=HTMX)
    assert told.status_code == 409
    assert told["HX-Retarget"] == "#dialog"
    text = told.content.decode()
    assert fields(text)["payload"] == "long words"
    assert fields(text)["expect"] == sha1(b'{"n":1}')
    assert "changed meanwhile" in text
    assert "hunter22" not in text


def test_a_request_id_stands_for_one_payload(do: Do, make: Builder, bus: Bus, q: QueueKeys) -> None:
    job = make.pending(b"old")
    assert do("edit_payload", job.id, payload="one", request_id="r").outcome is Outcome.done
    assert do("edit_payload", job.id, payload="one", request_id="r").outcome is Outcome.already
    assert do("edit_payload", job.id, payload="two", request_id="r").outcome is Outcome.invalid
    assert payload(bus, q, job.id) == b"one"


# ---- what is masked --------------------------------------------------------------------------

MASKED = b'{"a":{"password":"hunter22"},"n":1}'


def test_case_46_what_is_masked_is_edited_only_in_sight_and_that_is_recorded(
    site: Any, ada: Any, client_of: Callable[[Any], Client], make: Builder, q: QueueKeys
) -> None:
    browser, job = client_of(ada), make.pending(MASKED)
    text = dialog(browser, q, job.id).content.decode()
    assert "hunter22" not in text
    assert "<textarea" not in text
    assert not AuditEntry.objects.exists()
    again = re.search(r'hx-post="(/dialog/[^"]+)"[^>]* hx-disabled-elt="this"', text)
    assert again is not None, "a second press while the first is asked would be a second record"
    shown = browser.post(html.unescape(again[1]), headers=HTMX).content.decode()
    assert fields(shown)["payload"].encode() == MASKED
    assert AuditEntry.objects.get().action == "reveal_payload"


def test_case_46_without_the_right_to_reveal_nothing_of_it_is_shown(
    site: Any, person: Callable[..., Any], client_of: Callable[[Any], Client], make: Builder,
    q: QueueKeys,
) -> None:  # fmt: skip
    browser = client_of(person("eve", "view", "edit_payload"))
    for raw in (MASKED, b"plain words with hunter22"):
        job = make.pending(raw)
        asked = f"bus=main&queue={to_path(q.name)}&item={to_path(job.id)}"
        for told in (dialog(browser, q, job.id), browser.post(f"/dialog/edit_payload?{asked}")):
            text = told.content.decode()
            assert "hunter22" not in text
            assert "reveal_payload as well" in text
            assert "<textarea" not in text
        copied = browser.get(
            f"/bus/main/queue/{to_path(q.name)}/job/{to_path(job.id)}/payload?copy=1"
        )
        assert copied.status_code == 403
        assert b"hunter22" not in copied.content
    assert "<textarea" in dialog(browser, q, make.pending(b'{"n":1}').id).content.decode()


def test_case_140_a_payload_is_copied_as_it_is(
    site: Any, ada: Any, client_of: Callable[[Any], Client], make: Builder, look: Any, q: QueueKeys
) -> None:
    def copied(raw: bytes) -> Any:
        job = make.pending(raw)
        where = f"/bus/main/queue/{to_path(q.name)}/job/{to_path(job.id)}/payload?copy=1"
        offered = "data-copy-from" in look("job", job.id).content.decode()
        return client_of(ada).get(where), offered

    text = b'{"n":9007199254740993,\r\n"e":1e400}'
    for raw, status, offered in (
        (text, 200, True), (b"", 200, True), (b"words", 200, True), (MASKED, 403, False),
        (b"\xff", 415, False),
    ):  # fmt: skip
        told, button = copied(raw)
        assert (told.status_code, button) == (status, offered), raw
        assert told["Content-Type"] == "text/plain; charset=utf-8"
        assert told["X-Content-Type-Options"] == "nosniff"
        if status == 200:
            assert told.content == raw


# ---- the lane --------------------------------------------------------------------------------


def test_a_job_moves_to_another_lane_and_back(
    do: Do, make: Builder, bus: Bus, q: QueueKeys
) -> None:
    job, to = make.in_lane(), a_lane()
    assert job.group is not None
    answer = do("reassign_lane", job.id, to=to.decode(), expect=to_path(job.group))
    assert answer.outcome is Outcome.done
    assert bus.run(score(q.lane(to), job.id)) == 0
    assert do("reassign_lane", job.id, to=to.decode()).outcome is Outcome.already
    assert answer.undo is not None
    assert do(answer.undo.action, job.id, **answer.undo.params).outcome is Outcome.done
    assert bus.run(score(q.lane(job.group), job.id)) == 0


def test_the_dialog_offers_the_other_lanes(
    site: Any, ada: Any, client_of: Callable[[Any], Client], make: Builder, q: QueueKeys
) -> None:
    job, other = make.in_lane(), make.in_lane()
    text = dialog(client_of(ada), q, job.id, "reassign_lane").content.decode()
    assert job.group is not None
    assert other.group is not None
    assert f'<option value="{other.group.decode()}">' in text
    assert f'<option value="{job.group.decode()}">' not in text
    assert 'list="offered-to"' in text
    assert fields(text)["expect"] == to_path(job.group)


def test_a_job_that_moved_meanwhile_stays_where_it_is(
    do: Do, make: Builder, bus: Bus, q: QueueKeys
) -> None:
    job, seen, to = make.in_lane(), a_lane(), a_lane()
    assert job.group is not None
    answer = do("reassign_lane", job.id, to=to.decode(), expect=to_path(seen))
    assert answer.outcome is Outcome.wrong_state
    assert job.group.decode() in answer.sentence
    assert bus.run(score(q.lane(job.group), job.id)) == 0


def test_a_job_leaves_a_lane_whose_name_is_long(
    do: Do, make: Builder, bus: Bus, q: QueueKeys
) -> None:
    """A foreign one: its dialog expects the whole name, of which the audit keeps the beginning."""
    job, lane, to = make.in_lane(), b"l" * 4096, a_lane()
    bus.run(command("HSET", q.row(job.id), "group", lane))
    bus.run(command("ZADD", q.lane(lane), 0, job.id))
    assert do("reassign_lane", job.id, to=to.decode(), expect=to_path(lane)).outcome is Outcome.done
    assert bus.run(score(q.lane(to), job.id)) == 0
    assert len(AuditEntry.objects.get().expected) == 200


@pytest.mark.parametrize("state", [one for one in State if one is not State.in_lane])
def test_only_what_waits_in_a_lane_is_moved(do: Do, make: Builder, state: State) -> None:
    answer = do("reassign_lane", make.state(state).id, to=a_lane().decode())
    assert answer.outcome in (Outcome.wrong_state, Outcome.gone)
    assert "Nothing written" in answer.sentence


@pytest.mark.parametrize("lane", ["", "lane", "PRT", "prt00000000000", "PRT0000000000\n"])
def test_a_lane_of_another_form_is_refused(do: Do, make: Builder, lane: str) -> None:
    assert do("reassign_lane", make.in_lane().id, to=lane).outcome is Outcome.invalid


def test_rights_of_both(do: Do, make: Builder, person: Callable[..., Any], look: Any) -> None:
    job = make.in_lane()
    eve = person("eve", "view", "enqueue_job")
    assert do("edit_payload", job.id, payload="x", who=eve).outcome is Outcome.not_permitted
    moved = do("reassign_lane", job.id, to=a_lane().decode(), who=eve)
    assert moved.outcome is Outcome.not_permitted
    text = look("job", job.id, who=eve).content.decode()
    assert "Needs the permission edit_payload." in text
    assert "Needs the permission manage_lanes." in text


# ---- in a shell ------------------------------------------------------------------------------


def test_both_in_a_shell(
    shell: Callable[..., Said], make: Builder, bus: Bus, q: QueueKeys, tmp_path: Path
) -> None:  # fmt: skip
    job, to, name = make.in_lane(payload=b"old"), a_lane().decode(), q.name.decode()
    item = job.id.decode()
    seen = lines(shell("show", name, item, "--json"))[0]["payload_sha1"]
    raw = tmp_path / "payload"
    raw.write_bytes(b"\xff\r\n\x00")
    given = ("edit", name, item, "--payload-file", str(raw))
    assert shell(*given, "--expect", sha1(b"another"))[0] == 5
    assert shell(*given, "--expect", seen)[0] == 0
    assert payload(bus, q, job.id) == b"\xff\r\n\x00"
    assert shell("edit", name, make.absent().id.decode(), "--payload", "x")[0] == 4
    assert job.group is not None
    told = ("reassign", name, item, "--to", to)
    assert shell(*told, "--expect", a_lane().decode())[0] == 5
    assert shell(*told, "--expect", job.group.decode())[0] == 0
    assert bus.run(score(q.lane(to.encode()), job.id)) == 0
