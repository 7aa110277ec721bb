"""`manage.py echomq`: the same actions in a shell, its exit codes, and output that is safe."""

from __future__ import annotations

import base64
import json
import re
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from echomq_admin.live.page import to_path
from echomq_admin.models import AuditEntry, SignInLink
from queue_core import boards, ids, keys
from queue_core.bus import Bus
from queue_core.keys import QueueKeys
from queue_core.nodes import FIRST
from queue_core.reads.jobs import get_job, get_job_state
from queue_core.states import State
from queue_core.verbs import queues, repeats
from tests.builders import Builder, a_lane, command, score

Said = tuple[int, str, str]
HOSTILE = [
    "a b", "a:b", "a/b", "a#b", "a?b", "a+b", "a%2Fb", "..", "{a}", "a}b", "{}", "", "🐙",
    "‮abc", "x" * 512, "-n",
]  # fmt: skip


def lines(said: Said) -> list[dict[str, Any]]:
    return [json.loads(line) for line in said[1].splitlines()]


# ---- who acts --------------------------------------------------------------------------------


def test_nobody_named_acts_not(
    shell: Callable[..., Said], site: Any, bus: Bus, q: QueueKeys
) -> None:
    site.ECHOMQ_CLI_USER = ""
    name = q.name.decode()
    code, _, err = shell("pause", name)
    assert code == 7
    assert "--as USER" in err
    assert shell("pause", name, "--as", "nobody")[0] == 7
    assert not bus.run(command("EXISTS", q.meta))
    assert shell("pause", name, "--as", "ada")[0] == 0
    entry = AuditEntry.objects.get()
    assert (entry.who, entry.source) == ("ada", "command")
    assert entry.system_user


def test_case_42_rights_hold_in_the_shell(
    shell: Callable[..., Said], person: Callable[..., Any], make: Builder
) -> None:
    person("eve", "view", "retry_job")
    name, job = make.q.name.decode(), make.dead().id.decode()
    assert shell("remove", name, job, "--yes", "--as", "eve")[0] == 7
    assert shell("retry", name, job, "--as", "eve")[0] == 0


# ---- actions and their exit codes ------------------------------------------------------------


def test_exit_codes_by_outcome(
    shell: Callable[..., Said], make: Builder, site: Any, bus: Bus
) -> None:
    name = make.q.name.decode()
    locked, dead, scheduled = make.active(), make.dead(), make.scheduled()
    bus.run(command("SET", make.q.lock(locked.id), "x"))
    assert shell("pause", name)[0] == 0
    assert shell("pause", name)[0] == 0
    assert shell("reschedule", name, scheduled.id.decode(), "--by", "never")[0] == 2
    assert shell("run-now", name, make.absent().id.decode())[0] == 4
    assert shell("run-now", name, dead.id.decode())[0] == 5
    assert shell("remove", name, locked.id.decode(), "--yes", "--expect", "active")[0] == 6
    assert shell("pause", name, "--bus", "moon")[0] == 4
    assert shell("remove", name, dead.id.decode())[0] == 2  # nobody said --yes
    site.ECHOMQ_BUSES = {"main": "redis://127.0.0.1:1/0"}
    assert shell("pause", name)[0] == 8
    assert shell("queues")[0] == 8


def test_lanes(shell: Callable[..., Said], make: Builder, bus: Bus) -> None:
    group = a_lane().decode()
    name = make.q.name.decode()
    assert shell("pause", name, "--lane", group)[0] == 0
    assert bus.run(command("SISMEMBER", make.q.paused, group)) == 1
    assert shell("resume", name, "--lane", group)[0] == 0
    assert shell("limit", name, "3", "--lane", group)[0] == 0
    assert shell("weight", name, "2", "--lane", group)[0] == 0
    assert bus.run(command("HGET", make.q.glimit, group)) == b"3"
    assert shell("limit", name, "none", "--lane", group)[0] == 0
    assert bus.run(command("HGET", make.q.glimit, group)) is None


def test_several_jobs_and_the_worst_exit_code(
    shell: Callable[..., Said], make: Builder, bus: Bus
) -> None:
    jobs = [make.dead(), make.absent(), make.dead()]
    said = shell("retry", make.q.name.decode(), *(job.id.decode() for job in jobs), "--json")
    assert said[0] == 4
    assert [line["outcome"] for line in lines(said)] == ["done", "gone", "done"]
    assert bus.run(command("ZCARD", make.q.pending)) == 2


def test_each_line_of_several_names_its_job(shell: Callable[..., Said], make: Builder) -> None:
    jobs = [job.id.decode() for job in (make.scheduled(), make.absent(), make.dead())]
    told = shell("reschedule", make.q.name.decode(), *jobs, "--by", "5m")[1].splitlines()
    assert [job in line for job, line in zip(jobs, told, strict=True)] == [True] * 3


def test_reschedule_and_run_now(shell: Callable[..., Said], make: Builder, bus: Bus) -> None:
    name, job = make.q.name.decode(), make.scheduled().id
    told = ["reschedule", name, job.decode()]
    assert shell(*told, "--at", "2030-01-01T00:00", "--zone", "UTC")[0] == 0
    assert bus.run(score(make.q.schedule, job)) == 1_893_456_000_000
    assert shell(*told, "--at-ms", "1893456000001", "--expect", "5")[0] == 5
    assert shell(*told, "--at-ms", "1893456000001")[0] == 0
    assert shell("run-now", name, job.decode())[0] == 0
    assert bus.run(get_job_state(make.q, job)).value is State.pending


def test_remove(shell: Callable[..., Said], make: Builder, bus: Bus) -> None:
    job = make.dead().id
    assert shell("remove", make.q.name.decode(), job.decode(), "--yes")[0] == 0
    assert bus.run(get_job_state(make.q, job)).value is State.absent


def test_an_orphan_in_a_lane(shell: Callable[..., Said], make: Builder, bus: Bus) -> None:
    lane = a_lane()
    name, job = make.q.name.decode(), make.ghost(make.q.lane(lane)).id
    told = ["remove", name, job.decode(), "--yes", "--expect", "in_lane"]
    assert shell("show", name, job.decode())[0] == 4
    seen = lines(shell("show", name, job.decode(), "--lane", lane.decode(), "--json"))[0]
    assert (seen["state"], seen["lane"]) == ("in_lane", lane.decode())
    assert shell(*told)[0] == 4
    assert shell(*told, "--lane", lane.decode())[0] == 0
    assert bus.run(score(make.q.lane(lane), job)) is None


RAW = b"\xff\xfe\x00\xc3\x28"


def test_enqueue_keeps_every_byte(
    shell: Callable[..., Said], bus: Bus, q: QueueKeys, tmp_path: Path
) -> None:
    (tmp_path / "payload").write_bytes(RAW)
    name = q.name.decode()

    def payload(said: Said) -> bytes | None:
        assert said[0] == 0, said
        job = bus.run(get_job(q, lines(said)[0]["facts"]["job"])).value
        assert job is not None
        return job.payload

    given = ["enqueue", name, "--json"]
    assert payload(shell(*given, "--payload-file", str(tmp_path / "payload"))) == RAW
    assert payload(shell(*given, "--payload-file", "-", stdin=RAW)) == RAW
    assert payload(shell(*given, "--payload", "é")) == "é".encode()
    assert payload(shell(*given)) == b""
    assert shell("enqueue", name, "--payload-file", str(tmp_path / "none"))[0] == 2


def test_a_command_gives_its_node_number_back(
    shell: Callable[..., Said], bus: Bus, q: QueueKeys
) -> None:
    said = lines(shell("enqueue", q.name.decode(), "--json"))
    node = ids.decode(said[0]["facts"]["job"]).node
    assert node >= FIRST
    # Free at once, or for the rest of the ms of its last mint the owner's no more.
    assert bus.run(command("GET", keys.node_lease(node))) in (None, b"given back")


def test_enqueue_later_and_elsewhere(
    shell: Callable[..., Said], bus: Bus, q: QueueKeys, mint: Callable[[], bytes]
) -> None:
    name, group, job = q.name.decode(), a_lane(), mint()
    told = ["enqueue", name, "--payload", "x"]
    assert shell(*told, "--in", "1h", "--id", job.decode())[0] == 0
    assert bus.run(get_job_state(q, job)).value is State.scheduled
    again = shell(*told, "--id", job.decode())[1]
    assert again.startswith("Already")
    assert again.count("Already") == 1, again
    assert shell(*told, "--lane", group.decode())[0] == 0
    assert bus.run(command("ZCARD", q.lane(group))) == 1
    assert shell(*told, "--at", "2030-01-01T00:00:00Z")[0] == 0
    assert bus.run(command("ZCARD", q.schedule)) == 2


def test_repeats(shell: Callable[..., Said], bus: Bus, q: QueueKeys) -> None:
    bus.run(repeats.register(q, b"digest", 60_000, b"x", 60_000))
    name = q.name.decode()
    assert shell("repeats", name, "run", "digest")[0] == 0
    assert shell("repeats", name, "pause", "digest")[0] == 0
    shown = lines(shell("repeats", name, "--json"))
    assert shown[0]["name"] == "digest"
    assert shown[0]["paused"] is True
    assert shown[0]["paused_by"] == "ada"
    assert shell("repeats", name, "resume", "digest")[0] == 0
    assert shell("repeats", name, "cancel", "digest")[0] == 2
    assert shell("repeats", name, "cancel")[0] == 2
    assert shell("repeats", name, "cancel", "digest", "--yes")[0] == 0
    for verb in ("run", "pause", "resume"):
        code, told, _ = shell("repeats", name, verb, "NOSUCH")
        assert code == 4
        assert f"There is no repeat NOSUCH in {name}." in told


def test_boards(shell: Callable[..., Said], bus: Bus, q: QueueKeys) -> None:
    for player, total in ((b"noor", 420), (b"\xffada", 440)):
        bus.run(boards.fold(q.name, player, total))
    game = q.name.decode()
    shown = lines(shell("board", game, "--json"))
    assert [line["total"] for line in shown] == ["440", "420"]
    assert shown[0]["player"] == {"b64": base64.b64encode(b"\xffada").decode()}
    told = ["board", game, "--rescore", "noor"]
    assert shell(*told, "--expect", "1", "--to", "400")[0] == 5
    assert shell(*told, "--expect", "420", "--to", "1e3")[0] == 2
    assert shell(*told, "--expect", "420", "--to", "400")[0] == 0
    assert shell("board", "no such game")[0] == 4
    assert shell("board", game, "--to", "400")[0] == 2  # nobody is named: not a look


# ---- looking ---------------------------------------------------------------------------------


def test_show_a_job_and_a_queue(shell: Callable[..., Said], make: Builder) -> None:
    name, job = make.q.name.decode(), make.scheduled()
    shown = lines(shell("show", name, job.id.decode(), "--json"))[0]
    assert shown["state"] == "scheduled"
    assert shown["run_at"][-6] in "+-"
    assert "payload" not in shown
    assert lines(shell("show", name, "--json"))[0]["schedule"] == 1
    assert "schedule" in shell("show", name)[1]
    assert shell("show", name, make.absent().id.decode())[0] == 4
    assert shell("show", "never.heard.of")[0] == 4


@pytest.mark.parametrize("name", HOSTILE)
def test_case_26_queues_of_any_name_are_listed_and_paused(
    shell: Callable[..., Said], bus: Bus, name: str
) -> None:
    asked = keys.found(name)
    bus.run(queues.pause(asked))
    try:
        listed = {line["queue"]: line for line in lines(shell("queues", "--json"))}
        assert listed[name]["paused"] is True
        assert shell("resume", "--", name)[0] == 0 if name.startswith("-") else True
        assert shell("resume", "--encoded", to_path(name.encode()))[0] == 0
        assert lines(shell("pause", "--json", "--unseen", "--", name))[0]["outcome"] == "done"
        assert bus.run(command("HGET", asked.meta, "paused")) == b"1"
        assert shell("show", "--", name)[0] == 0
    finally:
        bus.run(command("DEL", asked.meta))


def test_case_24_nothing_of_the_bus_commands_the_terminal(
    shell: Callable[..., Said], bus: Bus, q: QueueKeys, make: Builder
) -> None:
    name = keys.found(q.name + b"\x1b]0;owned\x07\x9b31m\n\xff")
    job = make.dead()
    bus.run(command("HSET", q.row(job.id), "last_error", b"\x1b[2J\x00\xff\nerr"))
    bus.run(queues.pause(name))
    try:
        said = shell("queues")[1] + shell("show", q.name.decode(), job.id.decode())[1]
        said += shell("resume", "--encoded", to_path(name.name))[1]
    finally:
        bus.run(command("DEL", name.meta))
    assert "owned" in said
    assert "err" in said
    assert not [
        char for char in said if (ord(char) < 32 and char != "\n") or 127 <= ord(char) < 160
    ]


def test_case_22_bytes_that_are_no_text_are_base64_in_json_and_marks_for_people(
    shell: Callable[..., Said], bus: Bus, q: QueueKeys, make: Builder
) -> None:
    job = make.dead()
    bus.run(command("HSET", q.row(job.id), "last_error", RAW))
    asked = ["show", q.name.decode(), job.id.decode()]
    told = lines(shell(*asked, "--json"))[0]["last_error"]
    assert told == {"b64": base64.b64encode(RAW).decode()}
    assert "⟨ff⟩⟨fe⟩␀⟨c3⟩(" in shell(*asked)[1]


def test_case_46_a_secret_in_an_error_is_masked_in_the_shell(
    shell: Callable[..., Said], bus: Bus, q: QueueKeys, make: Builder
) -> None:
    job = make.dead()
    fields = ("payload", b'{"a":{"password":"hunter22"}}', "last_error", b"hunter22 refused")
    bus.run(command("HSET", q.row(job.id), *fields))
    asked = ["show", q.name.decode(), job.id.decode()]
    for said in (shell(*asked), shell(*asked, "--json")):
        assert "hunter22" not in said[1]
        assert "refused" in said[1]


def test_case_62_every_time_is_printed_with_its_offset(
    shell: Callable[..., Said], make: Builder, bus: Bus, monkeypatch: pytest.MonkeyPatch
) -> None:
    make.dead()
    bus.run(repeats.register(make.q, b"digest", 60_000, b"x", 60_000))
    name, job = make.q.name.decode(), make.scheduled().id.decode()
    for zone, offset in (("Europe/Berlin", r"\+0[12]:00"), ("America/New_York", "-0[45]:00")):
        with monkeypatch.context() as patch:
            patch.setenv("TZ", zone)
            time.tzset()
            told = [shell("show", name, job), shell("show", name), shell("repeats", name)]
        time.tzset()
        moments = re.findall(r"\d{4}-\d\d-\d\dT[\d:.]+(\S*)", "".join(said[1] for said in told))
        assert len(moments) >= 5
        assert all(re.fullmatch(offset, one) for one in moments), moments


def test_a_broken_queue_costs_only_its_own_line(
    shell: Callable[..., Said], bus: Bus, q: QueueKeys, make: Builder
) -> None:
    make.pending()
    bus.run(command("SET", q.schedule, "x"))
    listed = {line["queue"]: line for line in lines(shell("queues", "--json"))}
    mine = listed[q.name.decode()]
    assert "error" in mine or mine["schedule"] is None
    assert shell("queues")[0] == 0


# ---- signing in ------------------------------------------------------------------------------


def test_sign_in_prints_a_link_that_works(
    shell: Callable[..., Said], person: Callable[..., Any]
) -> None:
    code, out, _ = shell("sign-in")
    assert code == 0
    token = out.strip().rpartition("/")[2]
    found = SignInLink.find(token)
    assert found is not None
    assert found.user.get_username() == "ada"
    person("bob")
    told = lines(shell("sign-in", "--user", "bob", "--url", "https://q.example/ops", "--json"))
    assert told[0]["url"].startswith("https://q.example/ops/sign-in/")
    assert shell("sign-in", "--user", "nobody")[0] == 4
    assert [shell("sign-in", f"--minutes={n}")[0] for n in (-5, 0, 99_999_999_999)] == [2, 2, 2]
