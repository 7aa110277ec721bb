"""What a login of the bus must be allowed: the documented lists are enough, and less is named."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import pytest
from django.urls import reverse

from echomq_admin import buses
from echomq_admin.actions.action import Target
from echomq_admin.live import observatory
from echomq_admin.templatetags.echomq import address
from queue_core import keys
from queue_core.bus import Bus
from queue_core.embedded import Embedded
from queue_core.keys import QueueKeys
from queue_core.verbs import repeats
from tests.builders import HOUR, Builder, a_lane, command, raw

DOCUMENT = Path(__file__).resolve().parents[2] / "docs" / "operations.md"
PASSWORD = "secret"
PAGES = ("pending", "schedule", "active", "dead", "repeats", "backoff", "workers")


def documented(name: str) -> list[str]:
    """The rules of a login as the document gives them."""
    (line,) = re.findall(rf"^ACL SETUSER {name} (.*)$", DOCUMENT.read_text(), re.MULTILINE)
    return str(line).split()


@pytest.fixture
def login(site: Any, bus: Bus, server: Embedded, q: QueueKeys) -> Iterator[Callable[..., None]]:
    """`login(*rules)`: the console reaches its bus as somebody who has these."""
    parts = urlsplit(server.url)
    url = parts._replace(netloc=f"narrow:{PASSWORD}@{parts.netloc}").geturl()

    def narrowed(*rules: str) -> None:
        bus.run(raw("ACL", "SETUSER", "narrow", "reset", *rules))
        site.ECHOMQ_BUSES = {"main": url}
        site.ECHOMQ_QUEUES = [q.name.decode()]
        observatory.shut()

    yield narrowed
    observatory.shut()
    buses.close_all()
    bus.run(raw("ACL", "DELUSER", "narrow"))


@pytest.fixture
def filled(make: Builder, bus: Bus) -> dict[str, bytes]:
    """A queue with something on every page, and a board."""
    held = {
        "held": make.active().id, "dead": make.dead().id, "scheduled": make.scheduled().id,
        "in lane": make.in_lane(a_lane()).id, "pending": make.pending().id,
        "game": b"GAM" + make.mint()[3:],
    }  # fmt: skip
    bus.run(repeats.register(make.q, b"digest", HOUR, b"x", HOUR))
    bus.run(command("ZADD", keys.board(held["game"]), 7, b"ann"))
    return held


@pytest.fixture
def every(look: Any, ada: Any, client_of: Any, filled: dict[str, bytes]) -> Callable[[], Any]:
    """`every()`: every page as Ada sees it, by name."""

    def seen() -> dict[str, Any]:
        ada_s = client_of(ada)
        return {
            **{page: look(page) for page in PAGES},
            "job": look("job", filled["dead"]),
            "overview": ada_s.get(reverse("echomq_admin:overview")),
            "boards": ada_s.get(address("boards", "main")),
            "board": ada_s.get(address("board", "main", None, filled["game"])),
        }

    return seen


def test_case_110_the_documented_list_of_a_reader_reads_every_page(
    login: Callable[..., None], every: Callable[[], Any]
) -> None:
    login(*documented("console-reader"))
    pages = every()
    for page, answer in pages.items():
        text = answer.content.decode()
        assert answer.status_code == 200
        assert "data-action=" not in text, page
        said = re.sub(r'<button[^>]*aria-disabled="true".*?</button>', "", text, flags=re.DOTALL)
        assert not re.search("not permitted|refuse|NOPERM", said), page
    for page in ("dead", "schedule", "job", "pending", "repeats", "board"):
        assert "access list refuses EVALSHA, ZADD" in pages[page].content.decode(), page
    assert "data-reschedule" not in pages["schedule"].content.decode()


def test_case_110_what_a_reader_presses_all_the_same_is_refused_in_words(
    login: Callable[..., None], do: Any, filled: dict[str, bytes]
) -> None:
    login(*documented("console-reader"))
    answer = do("retry_dead", filled["dead"])
    assert answer.outcome.word == "not-permitted"
    assert "The bus does not let the console do this" in answer.sentence


def test_case_110_the_documented_list_of_an_operator_does_every_action(
    login: Callable[..., None], do: Any, filled: dict[str, bytes], every: Any, make: Builder
) -> None:
    login(*documented("console"))
    assert "access list" not in "".join(one.content.decode() for one in every().values())
    lane = a_lane()
    for action, item, more in (
        ("pause_queue", b"", {}), ("resume_queue", b"", {}),
        ("pause_lane", lane, {}), ("resume_lane", lane, {}),
        ("limit_lane", lane, {"limit": "2"}), ("weight_lane", lane, {"weight": "2"}),
        ("reschedule", filled["scheduled"], {"by": "1h"}), ("run_now", filled["scheduled"], {}),
        ("retry_dead", filled["dead"], {}),
        ("remove_job", filled["pending"], {"expect": "pending", "confirm": "remove"}),
        ("run_repeat", b"digest", {}), ("pause_repeat", b"digest", {}),
        ("resume_repeat", b"digest", {}), ("cancel_repeat", b"digest", {"confirm": "cancel"}),
        ("enqueue", b"", {"payload": "x"}),
        ("rescore", b"ann", {"score": "9", "expect": "7",
                             "target": Target("main", game=filled["game"], item=b"ann")}),
    ):  # fmt: skip
        answer = do(action, item, **more)
        assert answer.outcome.word == "done", (action, answer)


def test_case_110_less_is_named_where_it_is_missing(
    login: Callable[..., None], every: Callable[[], Any], make: Builder
) -> None:
    reader = documented("console-reader")
    login(*reader, "-info")
    pages = every()
    assert all(one.status_code == 200 for one in pages.values())
    assert "access list refuses INFO" in pages["dead"].content.decode()

    login(*(rule for rule in reader if not rule.startswith("%R~cm:")))
    pages = every()
    assert all(one.status_code == 200 for one in pages.values())
    board = pages["board"].content.decode()
    assert 'data-piece="forbidden"' in board
    assert "NOPERM" in board
    assert 'data-piece="forbidden"' not in pages["dead"].content.decode()

    login(*reader, "-scan")
    pages = every()
    assert all(one.status_code == 200 for one in pages.values())
    assert "Discovery was refused" in pages["dead"].content.decode()
    assert make.q.name.decode() in pages["overview"].content.decode()

    login(*reader, "-zrange")
    pages = every()
    assert all(one.status_code == 200 for one in pages.values())
    for page in ("dead", "active", "schedule", "pending"):
        text = pages[page].content.decode().lower()
        assert "zrange" in text or "not permitted" in text, page
