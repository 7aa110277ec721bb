"""The dead with their errors, as a browser gets them."""

import pytest

from echomq_admin.live import observatory
from queue_core.verbs import claims, settle
from tests.builders import a_lane, command


def buried(bus, q, mint, make, payload, error, group=None):
    """A job that died with this error."""
    job = make.in_lane(group, payload) if group else make.pending(payload)
    plan = claims.lane_claim if group else claims.claim
    lease = bus.run(plan(q, 60_000))
    assert lease.id == job.id
    bus.run(settle.retry(q, job.id, lease.token, 0, 1, error))
    return job


def test_newest_first_with_error_attempts_and_lane(look, bus, q, mint, make):
    lane = a_lane()
    first = buried(bus, q, mint, make, b"{}", b"502 bad gateway")
    second = buried(bus, q, mint, make, b"{}", b"timeout", lane)
    answer = look("dead")
    text = answer.content.decode()
    assert [row.id for row in answer.context["list"]["rows"]] == [second.id, first.id]
    assert "502 bad gateway" in text
    assert lane.decode() in text
    assert "A retry keeps the attempts that were counted" in text
    assert text.count('data-action="retry_dead"') == 2


def test_case_46_secrets_in_errors_are_masked(look, bus, q, mint, make, person):
    """Case 46."""
    buried(bus, q, mint, make, b'{"a":{"password":"hunter22"}}', b"login with hunter22 failed")
    buried(bus, q, mint, make, b"{}", b"Authorization: Bearer hunter22")
    for who in (None, person("vera", "view")):
        answer = look("dead", who=who) if who else look("dead")
        assert "hunter22" not in answer.content.decode()
        assert "login with ••• failed" in answer.content.decode()


def test_an_error_beside_an_unread_payload_is_hidden_without_the_right(
    look, bus, q, mint, make, person
):
    buried(bus, q, mint, make, b'{"a":"' + b"x" * 9_000 + b'"}', b"hunter22")
    assert "hunter22" in look("dead").content.decode()
    assert "hunter22" not in look("dead", who=person("vera", "view")).content.decode()


def test_hostile_bytes_and_odd_rows(look, bus, q, mint, make):
    buried(bus, q, mint, make, b"\xff\xfe", b"\xff\xfe\x00\xc3\x28<b>\x1b[31m")
    odd = make.dead()
    bus.run(command("HSET", q.row(odd.id), "attempts", "abc"))
    make.ghost(q.dead)
    broken = make.ghost(q.dead)
    bus.run(command("RPUSH", q.row(broken.id), "x"))
    answer = look("dead")
    text = answer.content.decode()
    assert answer.status_code == 200
    assert "⟨ff⟩⟨fe⟩␀⟨c3⟩(&lt;b&gt;␛[31m" in text
    assert "abc" in text
    assert "no row: its data is gone, a retry finds nothing" in text
    assert "another type stands where its row belongs" in text
    assert text.count('data-action="retry_dead"') == 2
    assert text.count('data-action="remove_job"') == 4


def test_pages_of_the_dead(look, bus, q):
    members = [b"JOB%011d" % at for at in range(45)]
    for member in members:
        bus.run(command("ZADD", q.dead, 0, member))
    first = look("dead")
    after = first.context["list"]["pager"].after.removeprefix("?after=")
    second = look("dead", after=after)
    seen = [row.id for page in (first, second) for row in page.context["list"]["rows"]]
    assert seen == members[::-1]


@pytest.mark.parametrize("page", ["dead", "active", "workers"])
def test_empty_forbidden_gone_and_the_wrong_method(page, look, make, person, client_of, ada, site):
    assert look(page).status_code == 404
    make.pending()
    answer = look(page)
    assert answer.status_code == 200
    assert 'data-piece="empty"' in answer.content.decode()
    assert look(page, who=person("nemo")).status_code == 403
    where = answer.request["PATH_INFO"]
    assert client_of(ada).post(where).status_code == 405
    site.ECHOMQ_BUSES = {"main": "redis://127.0.0.1:1/0"}
    observatory.shut()
    text = look(page).content.decode()
    assert "Not zero: not known." in text
    assert 'data-piece="empty"' not in text


@pytest.mark.parametrize(("page", "key"), [("dead", "dead"), ("active", "active")])
def test_a_set_of_another_type(page, key, look, make, bus, q):
    make.pending()
    bus.run(command("SET", getattr(q, key), "x"))
    answer = look(page)
    assert answer.status_code == 200
    assert "holds another type than the wire says" in answer.content.decode()
