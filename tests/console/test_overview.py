"""The wall of queues, as a browser gets it."""

import re
from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from django.template.loader import render_to_string
from django.urls import reverse

from echomq_admin.live import observatory
from echomq_admin.live.frames import drawing
from echomq_admin.live.page import Watch, to_path
from echomq_admin.templatetags.echomq import address
from echomq_admin.views.overview import OVERVIEW
from queue_core import ids
from queue_core.bus import Bus, connect
from queue_core.embedded import Embedded
from queue_core.ids import Minter
from queue_core.keys import found, queue
from queue_core.reads.sample import LANE_WINDOW
from queue_core.verbs import admission, queues
from tests.builders import HOUR, Builder, command, raw, server_ms
from tests.engine.test_reads_discovery import STRANGE
from tests.trips import counted

mint = Minter(77).mint


@pytest.fixture(scope="module")
def alone(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Embedded]:
    """A server that holds only what these tests put there."""
    server = Embedded(Path(tmp_path_factory.mktemp("wall")))
    server.start()
    yield server
    server.kill()


@pytest.fixture
def bus(alone: Embedded) -> Iterator[Bus]:
    made = connect(alone.url)
    made.run(raw("FLUSHALL"))
    made.run(command("SET", b"{emq}:version", "echomq:3.0.0"))
    yield made
    made.close()


@pytest.fixture
def wall(site: Any, alone: Embedded, bus: Bus, ada: Any, client_of: Any) -> Iterator[Callable]:
    """The page as Ada sees it, drawn by an observatory that knows nothing yet."""
    site.ECHOMQ_BUSES = {"main": alone.url}
    site.ECHOMQ_QUEUES = []
    observatory.shut()

    def looked(**params: str) -> Any:
        return client_of(ada).get(reverse("echomq_admin:overview"), params)

    yield looked
    observatory.shut()


def row(text: str, name: bytes, bus: str = "main") -> str:
    """The markup of one queue's row."""
    start = text.index(f'id="q{to_path(bus.encode())}{to_path(name)}"')
    return text[start : text.index("</tr>", start)]


def table(answer: Any) -> str:
    """The markup of the wall itself."""
    text = answer.content.decode()
    start = text.index('id="wall"')
    return text[start : text.index("</section>", start)]


def words(markup: str) -> str:
    """What a reader sees of it."""
    return " ".join(re.sub(r"<[^>]+>", " ", markup).split())


def test_a_row_tells_the_six_counts_and_what_waits_in_lanes(wall, bus):
    q = queue("cm")
    make = Builder(bus.run, q, mint)
    for _ in range(3):
        make.pending()
    make.in_lane(ids.encode("PRT", 1))
    bus.run(admission.enqueue_in(q, mint(), b"x", HOUR))
    text = wall().content.decode()
    seen = words(row(text, b"cm"))
    assert re.search(r"3 1 1 lane 0 1 0 0", seen)
    assert "on time" in seen
    assert "1 queue on 1 bus: 1 fresh, 0 stale, 0 unknown." in words(text)


def test_late_jobs_workers_repeats_and_pause_are_said(wall, bus):
    q, now = queue("cm"), bus.run(server_ms())
    bus.run(command("ZADD", q.schedule, now - 60_000, mint()))
    bus.run(command("ZADD", q.workers, now, b"w1", now, b"w2"))
    bus.run(command("ZADD", q.repeat, now + 60_000, b"digest"))
    bus.run(queues.pause(q))
    seen = words(row(wall().content.decode(), b"cm"))
    assert "1 late" in seen
    assert "paused" in seen
    assert "digest" in seen


def test_no_worker_for_what_waits_is_a_flag_and_a_calm_queue_has_none(wall, bus):
    Builder(bus.run, queue("billing"), mint).pending()
    bus.run(command("HSET", queue("calm").metrics_completed, "count", 5))
    text = wall().content.decode()
    assert "no workers" in words(row(text, b"billing"))
    assert 'class="flag hot"' not in row(text, b"calm")


def test_worst_first_puts_the_queue_that_needs_somebody_on_top(wall, bus):
    Builder(bus.run, queue("zz-stuck"), mint).pending()
    bus.run(command("HSET", queue("aa-calm").metrics_completed, "count", 5))
    by_bus, worst = (table(wall(sort=order)) for order in ("bus", "worst"))
    calm, stuck = to_path(b"aa-calm"), to_path(b"zz-stuck")
    assert by_bus.index(calm) < by_bus.index(stuck)
    assert worst.index(stuck) < worst.index(calm)


def test_a_phone_gets_the_worst_first_in_document_order(wall, site, ada, client_of):
    client = client_of(ada)
    client.cookies["echomq_narrow"] = "1"
    assert client.get(reverse("echomq_admin:overview")).context["worst_first"]


def test_the_filter_asks_the_server(wall, bus):
    for name in ("alpha", "beta"):
        Builder(bus.run, queue(name), mint).pending()
    text = table(wall(q="ALP"))
    assert to_path(b"alpha") in text
    assert to_path(b"beta") not in text


@pytest.mark.parametrize("params", [{"sort": "x"}, {"q": "x" * 201}])
def test_case_8_parameters_outside_the_range_are_a_400(wall, params):
    assert wall(**params).status_code == 400


def test_case_2_a_queue_of_many_lanes_opens_and_marks_its_total(wall, bus):
    q = queue("crowd")
    lanes = [ids.encode("PRT", number) for number in range(LANE_WINDOW * 2)]
    bus.run(command("RPUSH", q.ring, *lanes))
    for lane in lanes[:3]:
        bus.run(command("ZADD", q.lane(lane), 0, mint()))
    seen = words(row(wall().content.decode(), b"crowd"))
    assert "≥ 3" in seen
    assert f"≥ {len(lanes)} lanes" in seen


def test_case_26_every_name_is_a_row_with_its_own_address(wall, bus, ada, client_of):
    for name in STRANGE:
        bus.run(command("ZADD", found(name).pending, 0, mint()))
    text = wall().content.decode()
    assert wall().context["told"]["queues"] == len(STRANGE)
    client = client_of(ada)
    for name in STRANGE:
        where = address("schedule", "main", name)
        assert f'href="{where}"' in row(text, name)
        page = client.get(where)
        assert page.status_code == 200
        assert page.context["watch"].queue == name
        assert page.context["sample"].value.pending == 1


def test_case_36_a_key_of_another_type_spoils_only_its_own_cell(wall, bus):
    q = queue("odd")
    bus.run(command("SET", q.schedule, b"x"))
    bus.run(command("ZADD", q.pending, 0, mint()))
    markup = row(wall().content.decode(), b"odd")
    assert "wrong type" in words(markup)
    assert "The key schedule holds another type" in markup
    assert 'data-k="Pending"><span class="num">1</span>' in markup


def test_case_38_a_hostile_name_that_nobody_has_seen_is_a_404_and_escaped(wall, ada, client_of):
    hostile = b"<script>alert(1)</script>"
    answer = client_of(ada).get(address("schedule", "main", hostile))
    assert answer.status_code == 404
    text = answer.content.decode()
    assert "&lt;script&gt;" in text
    assert hostile.decode() not in text
    assert to_path(hostile) not in wall().content.decode()


def test_an_unused_bus_says_so(wall, bus):
    bus.run(raw("FLUSHALL"))
    assert "no EchoMQ has used this bus yet" in wall().content.decode()
    assert bus.run(command("EXISTS", b"{emq}:version")) == 0


def test_a_bus_that_is_away_is_unknown_and_never_zero(wall, site, alone, bus):
    Builder(bus.run, queue("cm"), mint).pending()
    site.ECHOMQ_BUSES = {"main": alone.url, "lab": "redis://127.0.0.1:1/0"}
    site.ECHOMQ_QUEUES = {"lab": ["imports"]}
    observatory.shut()
    text = wall().content.decode()
    seen = words(row(text, b"imports", "lab"))
    assert seen.count("unknown") == 6
    assert "Not zero: not known." in seen
    assert (
        "2 queues on 2 buses: 1 fresh, 0 stale, 1 unknown. Totals leave the unknown out."
        in words(text)
    )
    assert "1 of 2 buses" in words(text)
    assert "unreachable since" in words(text)


def test_a_key_of_another_type_leaves_what_is_known_in_the_totals(wall, bus):
    for name in (b"well", b"ill"):
        bus.run(admission.enqueue(queue(name), mint(b"JOB"), b"x"))
    bus.run(command("SET", queue(b"ill").dead, "no zset"))
    bus.run(command("ZADD", queue(b"well").dead, 0, mint(b"JOB")))
    shown = words(re.search(r'id="totals".*?</ul>', wall().content.decode(), re.DOTALL)[0])
    assert "Pending 2 flat" in shown
    assert "Dead ≥ 1" in shown, "what is not known is no zero in a sum"


def test_totals_of_nothing_that_answers_are_unknown(wall, site, bus):
    site.ECHOMQ_BUSES = {"lab": "redis://127.0.0.1:1/0"}
    site.ECHOMQ_QUEUES = {"lab": ["imports"]}
    observatory.shut()
    totals = wall().context["shaped"].context["totals"]
    assert {totals[name] for name in ("pending", "active", "schedule", "dead", "late")} == {None}


def aged(name: bytes) -> int:
    """Makes the last look at a queue ten seconds older; the moment it then is of, by the host."""
    scene = observatory.observatory().scenes["main"]
    seen = scene.samples[name]
    scene.samples[name] = replace(seen, at_ms=seen.at_ms - 10_000)
    return round(seen.at_ms - 10_000 - scene.skew_ms)


def drawn_again() -> dict[str, Any]:
    """What the wall draws from now, without asking the bus."""
    watch, scenes = Watch("", "overview"), observatory.observatory().scenes
    return drawing(OVERVIEW, watch, scenes, OVERVIEW.shape(watch, scenes, ()))


def totals_of(context: dict[str, Any]) -> str:
    """The markup of the totals."""
    return render_to_string("echomq_admin/overview/totals.html", context)


def test_totals_are_as_old_as_the_oldest_number_in_them(wall, bus):
    for name in (b"early", b"late"):
        bus.run(admission.enqueue(queue(name), mint(), b"x"))
    wall()
    fresh = drawn_again()
    assert (fresh["state"], fresh["totals"]["stale"]) == ("live", False)
    assert fresh["at_ms"] == fresh["totals"]["at_ms"]

    one_ms = aged(b"early")
    mixed = drawn_again()
    assert (mixed["told"]["fresh"], mixed["told"]["stale"], mixed["state"]) == (1, 1, "live")
    assert (mixed["totals"]["at_ms"], mixed["totals"]["stale"]) == (one_ms, True)
    assert mixed["at_ms"] > one_ms, "the page is as old as what is fresh of it"
    assert mixed["shaped"].ages["totals"] == one_ms

    other_ms = aged(b"late")
    stale = drawn_again()
    assert (stale["told"]["fresh"], stale["told"]["stale"], stale["state"]) == (0, 2, "stale")
    assert stale["at_ms"] == stale["totals"]["at_ms"] == min(one_ms, other_ms)
    markup = totals_of(stale)
    assert f'class="panel totals stale" id="totals" data-at="{stale["at_ms"]}"' in markup
    assert "oldest number" in words(markup)
    assert 'class="panel totals"' in totals_of(fresh)


def test_an_old_row_tells_its_lateness_as_of_then(wall, bus):
    q, now = queue("cm"), bus.run(server_ms())
    bus.run(command("ZADD", q.schedule, now + HOUR, mint()))
    markup = row(wall().content.decode(), b"cm")
    assert '<span class="then">was </span>on time' in markup
    assert re.search(r'<span class="then">due <time [^>]*data-format="clock"', markup)
    assert re.search(r'<span class="now"><time [^>]*data-format="in"', markup)


def test_a_wall_whose_buses_let_it_wait_counts_none_as_answering(wall, bus):
    wall()
    scene = observatory.observatory().scenes["main"]
    scene.last_ms -= 10_000
    hanging = drawn_again()
    assert (hanging["state"], hanging["vitals"][0]["value"]) == ("stale", "0 of 1 bus")


def test_a_wall_that_reaches_no_bus_is_not_live(wall, site):
    site.ECHOMQ_BUSES = {"lab": "redis://127.0.0.1:1/0"}
    site.ECHOMQ_QUEUES = {"lab": ["imports"]}
    observatory.shut()
    text = wall().content.decode()
    assert 'data-state="unreachable"' in text
    assert "data-at" not in re.search(r'<section[^>]* id="totals"[^>]*>', text)[0]


def test_case_112_an_evicting_bus_carries_a_standing_warning(wall, bus):
    bus.run(raw("CONFIG", "SET", "maxmemory-policy", "allkeys-lru"))
    try:
        text = words(wall().content.decode())
    finally:
        bus.run(raw("CONFIG", "SET", "maxmemory-policy", "noeviction"))
    assert "main evicts: allkeys-lru" in text
    assert "jobs with them" in text


def test_case_110_a_login_that_may_read_little_still_sees_the_page(wall, site, alone, bus):
    q = queue("cm")
    Builder(bus.run, q, mint).pending()
    rules = ["on", ">secret-3", "~*", "&*", "+@read", "+@connection", "+@scripting", "+time"]
    bus.run(raw("ACL", "SETUSER", "half", "reset", *rules, "-info", "-scan", "-hmget"))
    site.ECHOMQ_BUSES = {"main": alone.url.replace("://", "://half:secret-3@", 1)}
    site.ECHOMQ_QUEUES = ["cm"]
    observatory.shut()
    answer = wall()
    text = answer.content.decode()
    assert answer.status_code == 200
    assert 'data-k="Pending"><span class="num">1</span>' in row(text, b"cm")
    assert "not all permitted" in words(row(text, b"cm"))
    assert "secret-3" not in text


def test_a_wall_costs_three_round_trips_at_most_and_one_when_known(wall, bus):
    for name in range(70):
        Builder(bus.run, queue(f"many{name:02}"), mint).pending()
    with counted() as trips:
        assert wall().context["told"]["queues"] == 70
    assert len(trips) <= 3
    with counted() as trips:
        wall()
    assert len(trips) <= 1


def test_looking_writes_nothing(wall, bus):
    Builder(bus.run, queue("cm"), mint).pending()

    def changes() -> bytes:
        info: bytes = bus.run(raw("INFO", "persistence"))
        return re.search(rb"rdb_changes_since_last_save:\d+", info)[0]

    before = changes()
    wall()
    wall(sort="worst")
    assert changes() == before
