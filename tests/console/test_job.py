"""The page of one job, as a browser gets it."""

import json

import pytest

from echomq_admin.live import observatory
from echomq_admin.live.page import to_path
from echomq_admin.models import AuditEntry
from echomq_admin.templatetags.echomq import address
from queue_core.reads.standing import WHOLE_LIMIT
from queue_core.states import State
from queue_core.verbs import jobs
from tests.builders import a_lane, command
from tests.engine.test_reads_window import ODD_IDS

SECRET = b'{"text":"hello","deep":{"token":"hunter22"}}'


def said(answer):
    """The sentence, without its markup."""
    start = answer.content.decode().split('class="say"')[1].split("</p>")[0]
    return "".join(piece.split(">")[-1] for piece in start.split("<"))


@pytest.mark.parametrize("state", list(State))
def test_every_state_has_a_page(look, make, q, state):
    make.pending()
    made = make.state(state)
    answer = look("job", made.id)
    text = answer.content.decode()
    assert answer.status_code == 200
    assert made.id.decode()[3:] in "".join(letter.char for letter in answer.context["letters"])
    assert "State machine: the job is" in text
    assert said(answer).strip()


def test_what_the_id_says_is_decoded(look, make):
    text = look("job", make.pending().id).content.decode()
    assert "41 bits of milliseconds since 2024-01-01" in text
    assert "10 bits" in text
    assert "12 bits" in text
    assert ">node " in text


@pytest.mark.parametrize("member", ODD_IDS)
def test_case_30_any_bytes_have_a_page(look, bus, q, member):
    """Case 30."""
    bus.run(command("ZADD", q.pending, 0, member))
    bus.run(command("HSET", q.row(member), "state", "pending", "attempts", 0, "payload", "{}"))
    answer = look("job", member)
    assert answer.status_code == 200
    assert answer.context["job"].sets == ("pending",)
    assert "No branded id" in answer.content.decode()


def test_verbs_are_on_where_the_state_allows_them(look, make):
    off = {
        verb.action: bool(verb.off) for verb in look("job", make.scheduled().id).context["verbs"]
    }
    assert off == {
        "run_now": False, "reschedule": False, "retry_dead": True, "edit_payload": False,
        "remove_job": False,
    }  # fmt: skip
    off = {verb.action: bool(verb.off) for verb in look("job", make.dead().id).context["verbs"]}
    assert off == {
        "run_now": True, "reschedule": True, "retry_dead": False, "edit_payload": False,
        "remove_job": False,
    }  # fmt: skip
    on = [verb.action for verb in look("job", make.in_lane().id).context["verbs"] if not verb.off]
    assert on == ["edit_payload", "reassign_lane", "remove_job"]


@pytest.mark.parametrize("fields", [{"state": "weird"}, {"attempts": "abc"}, {"attempts": ""}])
def test_case_74_what_does_not_fit_is_shown_raw_with_risky_verbs_off(look, make, bus, q, fields):
    """Case 74."""
    made = make.scheduled()
    bus.run(command("HSET", q.row(made.id), *next(iter(fields.items()))))
    answer = look("job", made.id)
    text = answer.content.decode()
    assert answer.status_code == 200
    assert "is not to be trusted" in text
    assert all(verb.off or verb.action == "remove_job" for verb in answer.context["verbs"])
    assert f">{next(iter(fields.values()))}<" in text


def test_case_34_exact_digits_empty_and_repeated_keys(look, make):
    """Case 34."""
    made = make.pending(b'{"n":9007199254740993,"f":1.0,"e":1e400,"":1,"a":1,"a":2}')
    text = look("job", made.id).content.decode()
    for digits in ("9007199254740993", ">1.0<", ">1e400<", "(empty key)", "repeated key"):
        assert digits in text
    text = look("job", made.id, view="text").content.decode()
    assert "{&quot;n&quot;:9007199254740993,&quot;f&quot;:1.0,&quot;e&quot;:1e400" in text


@pytest.mark.parametrize(
    "payload",
    [b"\xff\xfe\x00\xc3\x28", b"[" * 20_000, b"[" + b"1," * 30_000 + b"1]", b"a\tb\x00\x1b[31m"],
)
@pytest.mark.parametrize("view", ["", "text", "hex"])
def test_case_18_what_has_no_tree_falls_back_to_raw(look, make, payload, view):
    """Cases 18, 22, 24."""
    made = make.pending(payload)
    answer = look("job", made.id, **({"view": view} if view else {}))
    text = answer.content.decode()
    assert answer.status_code == 200
    assert "No tree:" in text
    assert "\x1b" not in text
    assert "\x00" not in text
    assert len(text) < 400_000


def test_bytes_that_are_no_text_have_marks_and_hex(look, make):
    text = look("job", make.pending(b"\xff\xfe\x00\xc3\x28").id).content.decode()
    assert "⟨ff⟩⟨fe⟩␀⟨c3⟩(" in text
    assert "ff fe 00 c3 28" in text


def test_case_46_secrets_are_masked_in_payload_error_logs_and_fields(
    look, make, bus, q, person, ada
):
    """Case 46."""
    made = make.pending(SECRET)
    bus.run(jobs.add_log(q, made.id, b"tried hunter22"))
    bus.run(jobs.update_progress(q, made.id, b"at hunter22"))
    fields = ("last_error", b"refused hunter22", "my_password", b"other-secret")
    bus.run(command("HSET", q.row(made.id), *fields))
    for who in (ada, person("vera", "view")):
        for view in ("tree", "text", "hex"):
            text = look("job", made.id, who=who, view=view).content.decode()
            assert "hunter22" not in text
            assert "other-secret" not in text
    assert "masked, 8 bytes" in look("job", made.id).content.decode()


def test_without_the_right_what_has_no_tree_is_hidden(look, make, person):
    made = make.pending(b"plain words")
    vera = person("vera", "view")
    for view in ("tree", "text", "hex"):
        text = look("job", made.id, who=vera, view=view).content.decode()
        assert "plain words" not in text
        assert "706c61696e" not in text.replace(" ", "")


def test_a_long_payload_is_measured(look, make):
    made = make.pending(json.dumps({"a": "z" * 70_000}).encode())
    answer = look("job", made.id)
    text = answer.content.decode()
    assert "zzzz" not in text
    assert "68.4 KiB" in text
    assert "Read it whole" in text


def test_gone_forbidden_and_a_bus_that_is_away(look, make, person, client_of, ada, q, site):
    make.pending()
    absent = make.absent()
    answer = look("job", absent.id)
    assert answer.status_code == 200
    assert "no such job" in said(answer)
    assert answer.content.decode().count("There is no row.") == 3, "of payload, error and row"
    assert all(verb.off for verb in answer.context["verbs"])
    assert look("job", absent.id, who=person("nemo")).status_code == 403
    where = address("job", "main", q.name, absent.id)
    assert client_of(ada).post(where).status_code == 405
    assert client_of(ada).get(where.replace(to_path(absent.id), "~!!")).status_code == 404
    assert look("job", absent.id, view="odd").status_code == 400
    site.ECHOMQ_BUSES = {"main": "redis://127.0.0.1:1/0"}
    observatory.shut()
    text = look("job", absent.id).content.decode()
    assert "Not zero: not known." in text
    assert "no such job" not in text


def test_an_orphan_of_a_lane_is_found_by_its_link(look, make, q):
    lane = a_lane()
    made = make.ghost(q.lane(lane))
    make.pending()
    assert "no row any more" in said(look("job", made.id, lane=to_path(lane)))


def test_who_acted_on_it_is_told_to_those_who_may_read_it(look, do, make, person):
    made = make.dead()
    do("retry_dead", made.id)
    text = look("trail", made.id).content.decode()
    assert "<b>ada</b> retry the dead job" in text
    assert "done:" in text
    refused = look("trail", made.id, who=person("vera", "view"))
    assert refused.status_code == 403
    assert "ada" not in refused.content.decode()


# ---- the payload in full -------------------------------------------------------------------------


@pytest.fixture
def whole(site, client_of, ada, q):
    """`whole(job_id, who=vera, post={…})`: the payload on demand."""

    def asked(job_id, who=ada, post=None):
        where = address("payload", "main", q.name, job_id)
        client = client_of(who)
        return client.get(where) if post is None else client.post(where, post)

    return asked


def test_to_read_it_whole_masks_as_the_page_does(whole, make, person):
    made = make.pending(json.dumps({"a": "z" * 70_000, "token": "hunter22"}).encode())
    for who in (person("vera", "view"),):
        text = whole(made.id, who=who).content.decode()
        assert "zzzz" in text
        assert "hunter22" not in text
    assert not AuditEntry.objects.filter(action="reveal_payload").exists()


def test_to_reveal_needs_the_right_and_is_recorded(whole, make, person):
    made = make.pending(SECRET)
    refused = whole(made.id, who=person("vera", "view"), post={})
    assert refused.status_code == 403
    assert "hunter22" not in refused.content.decode()
    assert not AuditEntry.objects.filter(action="reveal_payload").exists()
    assert "hunter22" in whole(made.id, post={}).content.decode()
    entry = AuditEntry.objects.get(action="reveal_payload")
    assert (entry.who, bytes(entry.item), entry.outcome) == ("ada", made.id, "done")
    assert "hunter22" not in repr(entry.params)


def test_the_exact_bytes_come_as_a_file(whole, make):
    payload = b"\xff\x00<script>" * 200_000
    made = make.pending(payload)
    shown = whole(made.id).content.decode()
    assert "too much for a page" in shown
    answer = whole(made.id, post={"download": "1"})
    assert answer.content == payload
    assert answer["Content-Type"] == "application/octet-stream"
    assert answer["Content-Disposition"].startswith("attachment; ")


def test_too_long_gone_and_away(whole, make, bus, q, site, person):
    made = make.pending()
    bus.run(command("SETRANGE", q.base + b"big", WHOLE_LIMIT, "xx"))
    big = bus.run(command("GET", q.base + b"big"))
    bus.run(command("HSET", q.row(made.id), "payload", big))
    assert whole(made.id).status_code == 413
    assert whole(make.absent().id).status_code == 404
    assert whole(made.id, who=person("nemo")).status_code == 403
    site.ECHOMQ_BUSES = {"main": "redis://127.0.0.1:1/0"}
    assert whole(made.id).status_code == 503
