"""Payloads of any size and any bytes: every page stays small, and the server sends little."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterator
from typing import Any

import pytest

from echomq_admin.templatetags.echomq import address
from queue_core.bus import Bus
from queue_core.keys import QueueKeys
from queue_core.plans import Call, Plan, Reply
from queue_core.reads.standing import WHOLE_LIMIT
from queue_core.verbs import jobs
from tests.builders import Builder, command, raw

LISTS = ("pending", "active", "schedule", "dead")
RAW = b"\xff\xfe\x00\xc3\x28"
SECRET = b'{"a":{"password":"hunter22"}}'
FILL = """
redis.call('SETRANGE', KEYS[2], ARGV[1] - 1, 'x')
redis.call('HSET', KEYS[1], 'payload', redis.call('GET', KEYS[2]))
redis.call('DEL', KEYS[2])
"""


def filled(q: QueueKeys, job_id: bytes, size: int) -> Plan[Reply]:
    """A row with a payload that never passes through this process."""
    return (yield Call("EVAL", (), (FILL, 2, q.row(job_id), q.base + b"big", size)))


def sent(bus: Bus) -> int:
    """Bytes that the server has sent so far."""
    info = bus.run(raw("INFO", "stats"))
    return int(re.search(rb"total_net_output_bytes:(\d+)", info)[1])


@pytest.fixture
def everywhere(bus: Bus, q: QueueKeys, mint: Callable[[], bytes]) -> Iterator[Callable[..., Any]]:
    """`everywhere(25)`: so many jobs, each in every set that a page lists; gone afterwards."""
    made: list[bytes] = []

    def put(count: int) -> list[bytes]:
        ids = [mint() for _ in range(count)]
        for key in (q.pending, q.active, q.schedule, q.dead):
            bus.run(command("ZADD", key, *(part for one in ids for part in (0, one))))
        made.extend(ids)
        return ids

    yield put
    for one in made:
        bus.run(command("UNLINK", q.row(one)))


def test_case_14_rows_of_five_megabytes_are_lengths_in_every_list(
    look: Any, everywhere: Callable[..., list[bytes]], bus: Bus, q: QueueKeys
) -> None:
    for one in everywhere(25):
        bus.run(filled(q, one, 5_000_000))
    before = sent(bus)
    for page in LISTS:
        answer = look(page)
        assert len(answer.content) < 200_000, page
        assert "4.8 MiB" in answer.content.decode(), page
    assert sent(bus) - before < 200_000


def test_case_16_a_giant_is_measured_and_never_sent(
    look: Any,
    everywhere: Callable[..., list[bytes]],
    bus: Bus,
    q: QueueKeys,
    client_of: Any,
    ada: Any,
) -> None:
    """From the limit on all are the same: twice of it here."""
    (giant,) = everywhere(1)
    bus.run(filled(q, giant, 2 * WHOLE_LIMIT))
    before = sent(bus)
    for page in (*LISTS, "job"):
        answer = look(page, giant) if page == "job" else look(page)
        assert "32.0 MiB" in answer.content.decode(), page
    whole = client_of(ada).get(address("payload", "main", q.name, giant))
    assert whole.status_code == 413
    assert f"more than {WHOLE_LIMIT:,}" in whole.content.decode()
    assert client_of(ada).post(address("payload", "main", q.name, giant)).status_code == 413
    assert sent(bus) - before < 200_000


@pytest.mark.parametrize(
    ("payload", "says"),
    [
        (b"[" * 20_000 + b"]" * 20_000, "nested deeper"),
        (b'{"a":' * 20_000 + b"1" + b"}" * 20_000, "nested deeper"),
        (b"[" + b"1," * 1_000_000 + b"1]", "too much for a page"),
        (b"[" + b"1," * 60_000 + b"1]", "more than 20,000 values"),
    ],
    ids=["lists", "objects", "million", "sixty thousand"],
)
def test_case_18_deep_and_wide_json_falls_back_on_every_page(
    look: Any, make: Builder, client_of: Any, ada: Any, q: QueueKeys, payload: bytes, says: str
) -> None:
    made = make.pending(payload)
    whole = client_of(ada).get(address("payload", "main", q.name, made.id))
    assert whole.status_code == 200
    assert says in whole.content.decode()
    for answer in (look("pending"), look("job", made.id)):
        assert answer.status_code == 200
        assert len(answer.content) < 400_000


def test_case_22_bytes_that_are_no_text_in_every_list_and_in_the_job(
    look: Any, everywhere: Callable[..., list[bytes]], bus: Bus, q: QueueKeys
) -> None:
    (odd,) = everywhere(1)
    bus.run(command("HSET", q.row(odd), "payload", RAW, "last_error", RAW, "attempts", 1))
    bus.run(jobs.add_log(q, odd, RAW))
    for page in (*LISTS, "job"):
        text = (look(page, odd) if page == "job" else look(page)).content.decode()
        assert "⟨ff⟩⟨fe⟩␀⟨c3⟩(" in text, page
        assert "\x00" not in text, page
    assert RAW.hex(" ") in look("job", odd).content.decode()


def test_case_34_exact_digits_in_every_list(look: Any, everywhere: Any, bus: Bus, q: Any) -> None:
    (exact,) = everywhere(1)
    payload = b'{"n":9007199254740993,"f":1.0,"e":1e400,"":1,"a":1,"a":2}'
    bus.run(command("HSET", q.row(exact), "payload", payload, "attempts", 1))
    for page in ("pending", "active", "schedule"):
        text = look(page).content.decode().replace("&quot;", '"')
        for digits in ("9007199254740993", "1.0", "1e400", '"":1', '"a":1,"a":2'):
            assert digits in text, page


def test_case_46_a_secret_shows_on_no_page(
    look: Any, everywhere: Any, bus: Bus, q: QueueKeys, person: Any, ada: Any
) -> None:
    """Nor what holds it as a nested value, a list, or a number."""
    payload = json.dumps(
        {"a": {"password": "hunter22", "b": [{"api_key": ["hunter22", 77712345]}]}}
    ).encode()
    (kept,) = everywhere(1)
    error = b"login hunter22 refused, code 77712345, password=hunter33"
    bus.run(command("HSET", q.row(kept), "payload", payload, "last_error", error, "attempts", 1))
    bus.run(jobs.add_log(q, kept, error))
    for who in (ada, person("vera", "view"), person("rita", "view", "reveal_payload")):
        for page in (*LISTS, "job", "backoff"):
            answer = look(page, kept, who=who) if page == "job" else look(page, who=who)
            text = answer.content.decode()
            assert not re.search("hunter22|77712345|hunter33", text), (page, who)
