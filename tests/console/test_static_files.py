"""Static files stay those that the process was started with, whole, whatever becomes of them."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from asgiref.sync import async_to_sync
from django.contrib.staticfiles import finders
from django.templatetags.static import static
from django.test import AsyncClient

FIRST = b"const answer = 42;\n" * 5000


@pytest.fixture
def script(site: Any, tmp_path: Path) -> Iterator[Path]:
    """A file that is served as /static/one.js by every console that starts now."""
    site.STATICFILES_DIRS = [tmp_path]
    finders.get_finder.cache_clear()
    file = tmp_path / "one.js"
    file.write_bytes(FIRST)
    yield file
    finders.get_finder.cache_clear()


def console() -> Callable[..., Any]:
    """A console that starts now, asked for the script: its answer, with the body read."""
    client = AsyncClient(SERVER_NAME="localhost")

    async def asked(method: str = "get", at: str = "/static/one.js", **headers: str) -> Any:
        answer = await getattr(client, method)(at, headers=headers)
        answer.body = (
            b"".join([part async for part in answer]) if getattr(answer, "is_async", False) else b""
        )
        return answer

    return async_to_sync(asked)


@pytest.mark.parametrize("after", [b"short", FIRST + b"more", None], ids=["cut", "grown", "gone"])
def test_a_running_console_sends_the_whole_file_it_was_started_with(
    script: Path, after: bytes | None
) -> None:
    started = console()
    assert started().body == FIRST
    if after is None:
        script.unlink()
    else:
        script.write_bytes(after)
    answer = started()
    assert (answer.status_code, answer.body) == (200, FIRST)
    assert answer["Content-Length"] == str(len(FIRST))
    assert answer["Content-Type"].startswith("text/javascript")
    if after is not None:
        assert console()().body == after


def test_a_browser_that_has_it_is_told_so_until_the_next_start(script: Path) -> None:
    started = console()
    has = {"If-None-Match": started()["ETag"]}
    assert (started(**has).status_code, started(**has).body) == (304, b"")
    for told in (f"W/{has['If-None-Match']}", f'"other", {has["If-None-Match"]}', "*"):
        assert started(**{"If-None-Match": told}).status_code == 304
    assert started(**{"If-None-Match": '"other"'}).status_code == 200
    script.write_bytes(FIRST.swapcase())  # of the same size, within the same second
    assert started(**has).status_code == 304
    assert console()(**has).body == FIRST.swapcase()


def test_what_a_page_names_is_asked_for_once_and_after_an_upgrade_anew(script: Path) -> None:
    started = console()
    plain = started()
    assert plain["Cache-Control"] == "max-age=0, public"
    named = static("one.js")
    assert named.startswith("/static/v")
    assert started(at=named).body == FIRST
    assert "immutable" in started(at=named)["Cache-Control"]
    assert "immutable" not in started("post", at=named).get("Cache-Control", "")

    script.write_bytes(b"other")
    upgraded = console()
    upgraded()
    assert static("one.js") != named
    assert upgraded(at=static("one.js")).body == b"other"
    since = upgraded(at=named)  # of a page that has been open since before
    assert (since.body, since["Cache-Control"]) == (b"other", "max-age=0, public")
    for none in (f"{named}x", "/static/v0/one.js", "/static/v0123456789abcdef/"):
        assert upgraded(at=none).status_code == 404


def test_a_head_and_a_range_are_answered_with_what_there_is(script: Path) -> None:
    started = console()
    told = started("head")
    assert (told["Content-Length"], told.body) == (str(len(FIRST)), b"")
    assert started(Range="bytes=5-9").body == FIRST
    assert started("post").status_code == 405


def test_a_developer_s_console_reads_it_anew(script: Path, site: Any) -> None:
    site.SERVESTATIC_AUTOREFRESH = True
    started = console()
    for content in (FIRST, b"short", FIRST + b"more"):
        script.write_bytes(content)
        assert started().body == content
        assert static("one.js") == "/static/one.js"
