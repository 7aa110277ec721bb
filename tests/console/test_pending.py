"""Pending and lanes, as a browser gets it."""

import html
import re

import pytest
from django.urls import reverse

from echomq_admin.live import observatory
from echomq_admin.live.page import to_path
from queue_core.verbs import lanes, queues
from tests.builders import a_lane, command, score, server_ms
from tests.engine.test_reads_window import ODD_IDS

MASKED = b'{"text":"hello","token":"hunter22"}'


def test_it_shows_what_waits_in_the_order_of_claims(look, make):
    made = [make.pending(b'{"text":"hello %d"}' % at).id.decode() for at in range(3)]
    text = look("pending").content.decode()
    places = [text.index(job_id) for job_id in made]
    assert places == sorted(places)
    assert "First 3 of 3, exactly as the next claims will take them" in text
    assert "hello 0" in text


def test_it_shows_lanes_with_what_decides_about_their_turn(look, make, bus, q):
    turning, paused, full = a_lane(), a_lane(), a_lane()
    for lane in (turning, paused, full):
        make.in_lane(lane)
    bus.run(lanes.weight(q, turning, 2))
    bus.run(lanes.pause(q, paused))
    bus.run(lanes.limit(q, full, 1))
    bus.run(command("HSET", q.gactive, full, 1))
    bus.run(command("LREM", q.ring, 0, full))
    answer = look("pending")
    text = answer.content.decode()
    for lane in (turning, paused, full):
        assert f'id="lane-{to_path(lane)}"' in text
    assert "Out of the ring: 1 at their limit, 1 paused" in text
    assert "at its limit until one ends" in text
    numbers = answer.context["shaped"].data["ring-chart"]
    assert [node["takes"] for node in numbers["turns"]] == [2]
    assert {node["why"] for node in numbers["aside"]} == {"paused", "at limit"}


def test_a_lane_opens_its_jobs(look, make):
    lane = a_lane()
    job_id = make.in_lane(lane).id.decode()
    make.pending()
    answer = look("pending", lane=to_path(lane))
    text = answer.content.decode()
    assert "Lane <bdi" in text
    assert [row.id for row in answer.context["list"]["rows"]] == [job_id.encode()]
    assert f"?lane={to_path(lane)}" in text


def test_a_lane_is_found_by_its_name(look, make):
    job_id = make.in_lane(b"PRT00000000001").id
    found = look("pending", find="PRT00000000001")
    assert [row.id for row in found.context["list"]["rows"]] == [job_id]
    assert "Nothing waits in this lane" in look("pending", find="<nobody>").content.decode()


def test_pages_follow_by_cursor(look, bus, q, make):
    made = sorted(make.pending().id for _ in range(45))
    first = look("pending")
    seen = [row.id for row in first.context["list"]["rows"]]
    after = first.context["list"]["pager"].after
    assert after.startswith("?after=~")
    second = look("pending", after=after.removeprefix("?after="))
    seen += [row.id for row in second.context["list"]["rows"]]
    assert seen == made
    assert second.context["list"]["rows"][0].position == 26
    back = second.context["list"]["pager"].before.removeprefix("?before=")
    assert [row.id for row in look("pending", before=back).context["list"]["rows"]] == made[:25]


@pytest.mark.parametrize(
    "params",
    [
        {"after": "x"}, {"after": "~!!.0"}, {"after": "~QQ.nan"}, {"after": "~QQ.1e9999"},
        {"after": "~QQ." + "9" * 400}, {"before": "~QQ"}, {"order": "random"}, {"lane": "x"},
    ],
)  # fmt: skip
def test_odd_parameters_are_refused_in_a_sentence(look, make, params):
    make.pending()
    answer = look("pending", **params)
    assert answer.status_code == 400


def test_foreign_ids_and_hostile_bytes_are_shown_and_linked(look, bus, q):
    for member in ODD_IDS:
        bus.run(command("ZADD", q.pending, 0, member))
        bus.run(command("HSET", q.row(member), "payload", b"\xff\xfe\x00\xc3\x28<script>\x1b[31m"))
    answer = look("pending")
    text = answer.content.decode()
    assert answer.status_code == 200
    assert "<script>\x1b" not in text
    assert "\x1b" not in text
    assert "⟨ff⟩⟨fe⟩␀⟨c3⟩(&lt;script&gt;␛[31m" in text
    for member in ODD_IDS:
        assert f"/job/{to_path(member)}" in text


def test_orphans_are_marked_and_counted(look, make, q):
    make.ghost(q.pending)
    make.pending()
    text = look("pending").content.decode()
    assert "no row: its data is gone" in text
    assert "1 to 2 of 2, 1 without data" in text


def test_an_orphan_in_a_lane_is_removed_from_the_page_that_shows_it(
    look, make, q, bus, client_of, ada
):
    """By what the page itself draws: its link to the dialog, and the dialog's own fields."""
    lane = a_lane()
    made = make.ghost(q.lane(lane))
    make.pending()
    for page in (look("pending", lane=to_path(lane)), look("job", made.id, lane=to_path(lane))):
        link = re.search(r'href="(/dialog/remove_job[^"]+)"', page.content.decode())
        assert link is not None
        dialog = client_of(ada).get(html.unescape(link[1]), headers={"HX-Request": "true"})
        text = dialog.content.decode()
        assert "Its row" in text
        assert lane.decode() in text
        assert 'role="alert"' not in text
    asked = dict(re.findall(r'name="([^"]+)" value="([^"]*)"', text))
    assert asked["expect"] == "in_lane"
    answer = client_of(ada).post("/act/remove_job", {**asked, "confirm": "remove"})
    assert answer.status_code == 200
    assert bus.run(score(q.lane(lane), made.id)) is None


def test_secrets_are_masked_for_everybody(look, make, person, ada):
    make.pending(MASKED)
    for who in (ada, person("vera", "view")):
        text = look("pending", who=who).content.decode()
        assert "hunter22" not in text
        assert "hello" in text


def test_what_cannot_be_parsed_is_shown_only_with_the_right(look, make, person, ada):
    make.pending(b"plain words")
    assert "plain words" in look("pending").content.decode()
    vera = person("vera", "view")
    text = look("pending", who=vera).content.decode()
    assert "plain words" not in text
    assert "11 B, not JSON" in text


def test_no_worker_and_a_paused_queue_are_told(look, make, bus, q):
    """By the sign that the head of the queue has too."""

    def signs():
        text = look("pending").content.decode()
        assert "no flat consumer" not in text
        words = re.compile("no workers|no worker heard for")
        return [
            words.findall(text.split(f'id="{panel}"')[1].split("</section>")[0])
            for panel in ("queue-head", "waiting")
        ]

    make.pending()
    assert signs() == [["no workers"]] * 2
    bus.run(command("ZADD", q.workers, bus.run(server_ms()) - 180_000, b"w"))
    observatory.shut()
    assert signs() == [["no worker heard for"]] * 2
    bus.run(queues.pause(q))
    observatory.shut()
    assert "the queue is paused: nothing is claimed" in look("pending").content.decode()


def test_verbs_follow_the_rights(look, make, person):
    make.in_lane(a_lane())
    make.pending()
    text = look("pending", who=person("vera", "view")).content.decode()
    assert "data-action=" not in text.split('id="waiting"')[1]
    assert "Needs the permission remove_job." in text
    text = look("pending", who=person("otto", "view", "manage_lanes")).content.decode()
    assert 'data-action="pause_lane"' in text


def test_an_empty_queue_says_so(look, make):
    make.dead()
    text = look("pending").content.decode()
    assert "Nothing waits in flat pending" in text
    assert "No lane is known" in text


def test_case_36_a_set_of_another_type_spoils_one_panel(look, make, bus, q):
    """Case 36."""
    make.in_lane(a_lane())
    bus.run(command("SET", q.pending, "x"))
    answer = look("pending")
    text = answer.content.decode()
    assert answer.status_code == 200
    assert "A key of it holds another type than the wire says." in text
    assert answer.context["ring"].in_ring == 1


def test_who_is_not_signed_in_or_may_not_look(client, look, person, q):
    where = reverse("echomq_admin:pending", kwargs={"bus": "main", "queue": q.name})
    assert client.get(where).status_code == 302
    assert look("pending", who=person("nemo")).status_code == 403


def test_nowhere_and_the_wrong_method(look, client_of, ada, q):
    assert look("pending").status_code == 404
    where = reverse("echomq_admin:pending", kwargs={"bus": "main", "queue": q.name})
    assert client_of(ada).post(where).status_code == 405
    nowhere = where.replace("/main/", "/elsewhere/")
    assert client_of(ada).get(nowhere).status_code == 404


def test_a_bus_that_does_not_answer_is_unknown_and_not_empty(look, site, make):
    make.pending()
    site.ECHOMQ_BUSES = {"main": "redis://127.0.0.1:1/0"}
    observatory.shut()
    answer = look("pending")
    text = answer.content.decode()
    assert answer.status_code == 200
    assert "Not zero: not known." in text
    assert "Nothing waits" not in text
