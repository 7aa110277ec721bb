"""The repeat registry as a browser gets it."""

import pytest

from echomq_admin.templatetags.echomq import address
from queue_core.outcomes import Word
from queue_core.verbs import repeats
from tests.builders import command, score, server_ms

HOUR = 3_600_000


def test_case_60_94_and_102_armed_paused_and_what_is_wrong(look, bus, q):
    now = bus.run(server_ms())
    bus.run(repeats.register(q, b"digest", 86_400_000, b'{"a":1}', HOUR))
    bus.run(repeats.register(q, b"nudge", 60_000, b"x", HOUR))
    bus.run(repeats.pause(q, b"nudge", b"mira"))
    bus.run(command("ZADD", q.repeat, now + HOUR, b"nothing"))
    bus.run(command("ZADD", q.repeat, now + HOUR, b"odd"))
    bus.run(command("HSET", q.repeat_record(b"odd"), "every_ms", "1e3", "template", "x"))
    text = look("repeats").content.decode()
    assert "paused by <bdi>mira</bdi>" in text
    assert "no definition" in text
    assert "invalid: <bdi>1e3</bdi>" in text
    assert "A cadence of whole days is counted in hours" in text
    assert text.count('data-action="cancel_repeat"') == 4
    assert text.count('data-action="resume_repeat"') == 1
    assert text.count('data-action="pause_repeat"') == 2
    assert text.count('data-action="run_repeat"') == 3


def test_runs_with_drift_and_misses(look, bus, q):
    now = bus.run(server_ms())
    bus.run(repeats.register(q, b"digest", 60_000, b"x", HOUR))
    slots = (now - 600_000, now - 540_000, now - 300_000)
    bus.run(command("LPUSH", q.repeat_runs(b"digest"), *(f"{at} {at + 40} JOB1" for at in slots)))
    answer = look("repeats")
    assert "3 missed" in answer.content.decode()
    assert answer.context["rows"][0]["drift_ms"] == 40
    assert len(answer.context["shaped"].data["cadence"]["rows"][0]["past"]) == 3


def test_a_hostile_name_and_secrets(look, bus, q):
    bus.run(repeats.register(q, b"<b>\xff", 60_000, b'{"token":"hunter22"}', HOUR))
    text = look("repeats").content.decode()
    assert "&lt;b&gt;⟨ff⟩" in text
    assert "hunter22" not in text


def test_case_94_a_record_that_nothing_runs_is_found(look, bus, q):
    """The walk meets it after some looks."""
    bus.run(repeats.register(q, b"digest", 60_000, b"x", HOUR))
    bus.run(command("HSET", q.repeat_record(b"loose"), "every_ms", "5000", "template", "x"))
    for _ in range(200):
        answer = look("repeats")
        if answer.context["searched"]:
            break
    assert answer.context["unarmed"] == [b"loose"]
    assert "not armed" in answer.content.decode()


def unarmed_of(look):
    """The names that the search has met, once it has been everywhere."""
    for _ in range(1_000):
        answer = look("repeats")
        if answer.context["searched"]:
            return answer.context["unarmed"]
    raise AssertionError("the search never ended")


def test_case_94_either_half_alone_can_be_mended_by_the_buttons_beside_it(look, do, bus, q):
    now = bus.run(server_ms())
    bus.run(command("ZADD", q.repeat, now + HOUR, b"nothing"))
    bus.run(command("HSET", q.repeat_record(b"loose"), "every_ms", "5000", "template", "x"))
    assert unarmed_of(look) == [b"loose"]
    assert do("cancel_repeat", b"nothing", confirm="cancel").outcome.word == "done"
    assert do("pause_repeat", b"loose").outcome.word == "done"
    assert do("resume_repeat", b"loose").outcome.word == "done"
    assert now <= bus.run(score(q.repeat, b"loose")) < now + HOUR
    assert bus.run(score(q.repeat, b"nothing")) is None
    assert unarmed_of(look) == []


def test_case_96_the_next_run_takes_the_template_of_now_and_shows_it(look, bus, q, mint):
    bus.run(repeats.register(q, b"digest", 60_000, b'{"v":"first"}'))
    ran = []
    for version in (b'{"v":"first"}', b'{"v":"second"}'):
        bus.run(command("HSET", q.repeat_record(b"digest"), "template", version))
        bus.run(command("ZADD", q.repeat, 1_700_000_000_000, b"digest"))
        ran.append(mint())
        assert bus.run(repeats.repeat_fire(q, b"digest", "1700000000000", ran[-1])) is Word.fired
    text = look("repeats").content.decode()
    assert "second" in text
    for job, version in zip(ran, ("first", "second"), strict=True):
        where = address("job", "main", q.name, job)
        assert f'href="{where}"' in text
        assert version in look("job", job).content.decode()


def test_case_98_a_slot_that_was_fired_twice_is_flagged(look, bus, q):
    now = bus.run(server_ms())
    bus.run(repeats.register(q, b"digest", 60_000, b"x", HOUR))
    slot = now - 60_000
    lines = (f"{slot} {slot + 5} JOB1", f"{slot} {slot + 9} JOB2", f"- {slot} JOB3")
    bus.run(command("LPUSH", q.repeat_runs(b"digest"), *lines))
    text = look("repeats").content.decode()
    assert text.count("this slot was fired more than once") == 2
    assert text.count(" by hand") == 1


def test_case_100_a_preview_of_fixed_slots_agrees_with_what_fires(look, bus, q, mint):
    """Late by a third of a period, twice: the slots stay where they were said to be."""
    every = 20_000
    first = bus.run(server_ms()) - every // 3
    bus.run(repeats.register(q, b"digest", every, b"x"))
    bus.run(command("ZADD", q.repeat, first, b"digest"))
    for _ in range(2):
        answer = look("repeats")
        assert "Slots are fixed" in answer.content.decode()
        coming = answer.context["shaped"].data["cadence"]["rows"][0]["coming"]
        due = bus.run(score(q.repeat, b"digest"))
        assert coming[0] == due
        bus.run(repeats.repeat_fire(q, b"digest", f"{due:.0f}", mint()))
        after = bus.run(score(q.repeat, b"digest"))
        assert after in coming
        assert (after - first) % every == 0


@pytest.mark.parametrize("text", ["0", "-5", "abc", "1e3", "", "9000000000000000000", "\0"])
def test_case_102_a_cadence_that_is_none_has_a_badge_and_no_coming_runs(look, bus, q, text):
    now = bus.run(server_ms())
    bus.run(command("ZADD", q.repeat, now + HOUR, b"odd"))
    bus.run(command("HSET", q.repeat_record(b"odd"), "every_ms", text, "template", "x"))
    answer = look("repeats")
    assert answer.status_code == 200
    assert "invalid: " in answer.content.decode()
    row = answer.context["shaped"].data["cadence"]["rows"][0]
    assert row["invalid"]
    assert len(row["coming"]) <= 1
    assert look("schedule").status_code == 200
