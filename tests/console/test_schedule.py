"""The schedule as a browser gets it: the fence's numbers and the exact list."""

import pytest

from echomq_admin.live import observatory
from echomq_admin.live.page import to_path
from queue_core.verbs import admission, repeats
from tests.builders import command, server_ms

HOUR = 3_600_000


@pytest.fixture
def put(bus, q):
    """`put({member: score, …})`: members without rows, whatever the scores."""

    def done(members):
        for member, score in members.items():
            bus.run(command("ZADD", q.schedule, score, member))

    return done


def rows(answer):
    return [one["row"].id for one in answer.context["list"]["rows"]]


def test_late_above_the_fence_and_waiting_below(look, bus, q, make):
    now = bus.run(server_ms())
    late, soon = make.mint(), make.mint()
    bus.run(admission.enqueue_at(q, late, b'{"a":1}', now - 90_000))
    bus.run(admission.enqueue_at(q, soon, b'{"b":2}', now + HOUR))
    bus.run(repeats.register(q, b"digest", HOUR, b"x", HOUR))
    answer = look("schedule")
    text = answer.content.decode()
    assert rows(answer) == [late, soon]
    assert (
        text.index(f"due-{to_path(late)}")
        < text.index("fence-row")
        < text.index(f"due-{to_path(soon)}")
    )
    assert "1 late" in text
    numbers = answer.context["shaped"].data["fence"]
    assert (numbers["total"], numbers["late"], numbers["repeatTotal"]) == (2, 1, 1)
    assert [mark[0] for mark in numbers["marks"]] == [to_path(late), to_path(soon)]
    for verb in ("run_now", "reschedule", "remove_job"):
        assert text.count(f'data-action="{verb}"') == 2
    assert 'data-reschedule="' in text


def test_case_50_54_scores_out_of_any_date(look, put):
    """Cases 50 and 54: shown, addressable, and nothing breaks."""
    put({b"a": "-inf", b"b": -1, b"c": -9e15, b"d": 1_700_000_000, b"e": 9e15, b"f": "inf"})
    answer = look("schedule")
    text = answer.content.decode()
    assert rows(answer) == [b"a", b"c", b"b", b"d", b"e", b"f"]
    assert "looks like seconds" in text
    assert "score -inf" in text
    assert "some over 30 d late" in text
    assert text.count('data-action="remove_job"') == 6


def test_case_22_hostile_members_and_rows(look, bus, q, put):
    """Cases 22, 30 and 72."""
    now = bus.run(server_ms())
    names = [b"123", b"__proto__", b"-", b"a ", b"\xff\xfe\x00", b"<b>", b"x" * 4096]
    put(dict.fromkeys(names, now + HOUR))
    bus.run(command("HSET", q.row(b"123"), "attempts", "abc", "last_error", b"\xff<i>\x1b[31m"))
    bus.run(command("RPUSH", q.row(b"-"), "x"))
    text = look("schedule").content.decode()
    assert "&lt;b&gt;" in text
    assert "⟨ff⟩&lt;i&gt;␛[31m" in text
    assert "no row" in text
    assert "wrong type" in text
    for name in names:
        assert f'id="due-{to_path(name)}"' in text


def test_case_46_secrets_are_masked(look, bus, q, make, person):
    """Case 46."""
    now = bus.run(server_ms())
    job = make.mint()
    bus.run(admission.enqueue_at(q, job, b'{"a":{"password":"hunter22"}}', now + HOUR))
    bus.run(command("HSET", q.row(job), "attempts", "2", "last_error", "hunter22 failed"))
    for who in (None, person("vera", "view")):
        answer = look("schedule", who=who) if who else look("schedule")
        assert "hunter22" not in answer.content.decode()


def test_every_row_once_by_its_pager(look, put, bus):
    now = bus.run(server_ms())
    members = [b"JOB%011d" % number for number in range(60)]
    put(dict.fromkeys(members, now + HOUR))
    seen, after = [], f"{to_path(b'-')}.0"
    while after:
        answer = look("schedule", after=after)
        seen += rows(answer)
        after = answer.context["list"]["after"].partition("after=")[2]
    assert seen == members


@pytest.mark.parametrize(
    ("params", "status"),
    [
        ({"range": "99999999d"}, 400),
        ({"scale": "cubic"}, 400),
        ({"after": "x"}, 400),
        ({"after": "~eA.nan"}, 400),
        ({"range": "", "scale": "", "days": "99999999", "limit": "1e9", "offset": "-1"}, 200),
        ({"range": "all", "scale": "linear", "hide": "retry.nonsense.repeat"}, 200),
    ],
)
def test_case_8_parameters_are_clamped_or_refused(look, make, params, status):
    """Case 8."""
    make.pending()
    assert look("schedule", **params).status_code == status


def test_without_the_right_nothing_can_be_dragged(look, make, bus, q, person):
    now = bus.run(server_ms())
    bus.run(admission.enqueue_at(q, make.mint(), b"x", now + HOUR))
    text = look("schedule", who=person("vera", "view")).content.decode()
    assert "data-reschedule" not in text
    assert 'aria-disabled="true"' in text
    assert 'data-action="run_now"' not in text


@pytest.mark.parametrize("page", ["schedule", "repeats", "backoff"])
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


@pytest.mark.parametrize(
    ("page", "key"), [("schedule", "schedule"), ("repeats", "repeat"), ("backoff", "schedule")]
)
def test_case_36_a_set_of_another_type(page, key, look, make, bus, q):
    """Case 36: that panel says so, the rest of the page lives."""
    make.pending()
    bus.run(command("SET", getattr(q, key), "x"))
    answer = look(page)
    assert answer.status_code == 200
    assert "holds another type than the wire says" in answer.content.decode()
