"""Moments on every page: whose clock, which zone, and scores that are none."""

from __future__ import annotations

import re
from typing import Any

import pytest
from django.test import Client

from echomq_admin.live.page import to_path
from queue_core import ids
from queue_core.bus import Bus
from queue_core.keys import QueueKeys
from queue_core.reads.jobs import get_job_state
from queue_core.states import State
from queue_core.verbs import claims, repeats
from queue_core.work.presence import Presence
from tests.builders import HOUR, Builder, command, server_ms

CLOCKS = re.compile(r'<time [^>]*data-format="(?:clock|date|due)"')


@pytest.mark.parametrize("score", ["-1", "-9e15", "-inf", "inf", "9e15", "1700000000"])
def test_case_50_and_54_odd_scores_run_now_and_go_and_leave_the_axis_alone(
    look: Any, do: Any, make: Builder, bus: Bus, q: QueueKeys, score: str
) -> None:
    make.scheduled()
    axis = look("schedule").context["shaped"].data["fence"]
    one, other = make.scheduled().id, make.scheduled().id
    bus.run(command("ZADD", q.schedule, "XX", score, one, score, other))
    with_them = look("schedule").context["shaped"].data["fence"]
    assert with_them["span"] == axis["span"]
    assert with_them["back"] <= 30 * 24 * HOUR
    assert do("run_now", one).outcome.word == "done"
    assert bus.run(get_job_state(q, one)).value is State.pending
    removed = do("remove_job", other, expect="scheduled", confirm="remove")
    assert removed.outcome.word == "done"
    assert bus.run(get_job_state(q, other)).value is State.absent


def test_case_54_seconds_are_flagged_and_no_date_is_made_of_them(
    look: Any, make: Builder, bus: Bus, q: QueueKeys
) -> None:
    job = make.scheduled().id
    bus.run(command("ZADD", q.schedule, "XX", 1_700_000_000, job))
    bus.run(repeats.register(q, b"digest", HOUR, b"x"))
    bus.run(command("ZADD", q.repeat, 1_700_000_000, b"digest"))
    for page in ("schedule", "repeats"):
        assert "looks like seconds" in look(page).content.decode()
    assert "looks like seconds" in look("job", job).content.decode()


def test_case_62_what_shows_a_clock_names_its_zone(
    look: Any, make: Builder, bus: Bus, q: QueueKeys
) -> None:
    job = make.scheduled()
    make.due(), make.dead(), make.active(), make.pending()
    bus.run(repeats.register(q, b"digest", HOUR, b"x", HOUR))
    bus.run(repeats.pause(q, b"digest", b"mira"))
    bus.run(command("LPUSH", q.repeat_runs(b"digest"), "1700000000000 1700000000040 JOB1"))
    seen = 0
    pages = ("pending", "schedule", "active", "dead", "repeats", "backoff", "workers", "job")
    for page in pages:
        text = look(page, job.id if page == "job" else None).content.decode()
        assert '<span class="k">UTC</span>' in text
        main = text[text.index('<main class="content"') :]
        for panel in re.findall(r"<section.*?</section>", main, re.DOTALL):
            if CLOCKS.search(panel):
                seen += 1
                assert "UTC" in panel, (page, panel[:200])
    assert seen >= 2


def test_case_62_a_form_takes_a_time_in_the_zone_it_names(
    site: Any, ada: Any, client_of: Any, make: Builder, q: QueueKeys
) -> None:
    job = make.scheduled()
    site.ECHOMQ_ZONE = "Europe/Berlin"
    browser: Client = client_of(ada)
    asked = {"bus": "main", "queue": to_path(q.name), "item": to_path(job.id)}
    text = browser.get("/dialog/reschedule", asked, headers={"HX-Request": "true"}).content.decode()
    assert 'value="Europe/Berlin"' in text
    moved = browser.post(
        "/act/reschedule",
        {**asked, "at": "2030-07-01T12:00"},
        headers={"Accept": "application/json"},
    ).json()
    assert "2030-07-01 12:00:00 CEST" in moved["sentence"]


def test_case_64_a_start_before_its_mint_is_no_negative_wait(
    look: Any, bus: Bus, q: QueueKeys
) -> None:
    """A node whose clock is ten minutes ahead minted it."""
    ahead = bus.run(server_ms()) + 600_000
    job = ids.encode("JOB", ids.min_for(ahead))
    bus.run(command("ZADD", q.pending, 0, job))
    bus.run(command("HSET", q.row(job), "state", "pending", "attempts", 0, "payload", "x"))
    assert bus.run(claims.claim(q, HOUR, b"w1")) is not None
    crew = Presence(q, b"w1", 1)
    for _ in range(30):
        crew.ran(-600_000.0, 12.0)
    bus.run(crew.heartbeat(1, quiet=False))
    text = look("workers").content.decode()
    assert look("workers").context["waits"].samples == 0
    assert look("workers").context["runs"].samples == 30
    assert "not enough data" in text


@pytest.mark.parametrize("samples", [0, 1, 2])
def test_case_116_few_samples_make_no_percentile(
    look: Any, bus: Bus, q: QueueKeys, make: Builder, samples: int
) -> None:
    make.pending()
    crew = Presence(q, b"w1", 1)
    for _ in range(samples):
        crew.ran(5.0, 12.0)
    bus.run(crew.heartbeat(0, quiet=False))
    answer = look("workers")
    assert answer.context["runs"].samples == samples
    assert answer.context["runs"].p50 is None
    assert answer.content.decode().count("not enough data") == 2
