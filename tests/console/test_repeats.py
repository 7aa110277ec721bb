"""The repeat registry as a browser gets it."""

from queue_core.verbs import repeats
from tests.builders import command, server_ms

HOUR = 3_600_000


def test_armed_paused_and_what_is_wrong(look, bus, q):
    """Cases 94 and 102."""
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


def test_a_record_that_nothing_runs_is_found(look, bus, q):
    """Case 94, the other way round: the walk meets it after some looks."""
    bus.run(repeats.register(q, b"digest", 60_000, b"x", HOUR))
    bus.run(command("HSET", q.repeat_record(b"loose"), "every_ms", "5000", "template", "x"))
    for _ in range(200):
        answer = look("repeats")
        if answer.context["searched"]:
            break
    assert answer.context["unarmed"] == [b"loose"]
    assert "not armed" in answer.content.decode()
