"""The one door: rights, the switch, the audit around every act, resends, faults."""

from __future__ import annotations

import socket
import threading
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest
from django.db import connection
from django.utils import timezone

from echomq_admin import buses
from echomq_admin.actions import ACTIONS
from echomq_admin.actions.action import Target
from echomq_admin.actions.answers import Answer
from echomq_admin.actions.intents import Actor
from echomq_admin.actions.perform import actor_of, perform
from echomq_admin.models import AuditEntry
from queue_core.bus import Bus, connect
from queue_core.embedded import Embedded
from queue_core.keys import QueueKeys
from queue_core.outcomes import OUTCOME_OF, Outcome, Word
from tests.builders import Builder, command

Do = Callable[..., Answer]
FREE = {"score": "1", "expect": "1", "at_ms": "1", "confirm": "remove"}


def params_of(name: str) -> dict[str, str]:
    return {**FREE, "confirm": "cancel"} if name == "cancel_repeat" else FREE


# ---- who may ---------------------------------------------------------------------------------


@pytest.mark.parametrize("name", list(ACTIONS))
def test_case_42_no_action_without_its_permission(
    site: Any, person: Callable[..., Any], q: QueueKeys, name: str
) -> None:
    action = ACTIONS[name]
    others = {one.permission for one in ACTIONS.values()} - {action.permission}
    target = Target("main", q.name, b"item", b"game")
    answer = perform(person("eve", "view", *others), name, target, params_of(name))
    assert answer.outcome is Outcome.not_permitted
    assert action.permission in answer.sentence
    entry = AuditEntry.objects.get(pk=answer.audit_id)
    assert (entry.who, entry.outcome) == ("eve", "not-permitted")
    allowed = perform(person("mallory", action.permission), name, target, params_of(name))
    assert allowed.outcome is not Outcome.not_permitted


@pytest.mark.parametrize("name", list(ACTIONS))
def test_the_read_only_switch_beats_every_right(do: Do, site: Any, bus: Bus, name: str) -> None:
    site.ECHOMQ_READ_ONLY = True
    answer = do(name, b"item", **params_of(name))
    assert answer.outcome is Outcome.not_permitted
    assert "read-only" in answer.sentence


def test_rights_are_read_anew_for_a_user_held_for_long(
    declared: None, person: Callable[..., Any], q: QueueKeys
) -> None:
    user = person("eve", "pause_queue")
    target = Target("main", q.name)
    assert perform(user, "pause_queue", target, {}).outcome is Outcome.done
    user.user_permissions.clear()
    assert perform(user, "pause_queue", target, {}).outcome is Outcome.not_permitted


def test_nobody_who_was_deactivated_acts(site: Any, ada: Any, q: QueueKeys) -> None:
    type(ada).objects.filter(pk=ada.pk).update(is_active=False)
    answer = perform(ada, "pause_queue", Target("main", q.name), {})
    assert answer.outcome is Outcome.not_permitted


def test_no_such_action_bus_or_subject(do: Do, q: QueueKeys) -> None:
    assert do("explode").outcome is Outcome.invalid
    assert do("pause_queue", target=Target("moon", q.name)).outcome is Outcome.gone
    assert do("retry_dead").outcome is Outcome.invalid
    assert not AuditEntry.objects.exists()


# ---- the audit -------------------------------------------------------------------------------


def test_the_intent_stands_before_the_act_and_is_closed_after(
    do: Do, monkeypatch: pytest.MonkeyPatch
) -> None:
    seen: list[str] = []
    run = buses.GuardedBus.run

    def watched(self: buses.GuardedBus, plan: Any) -> Any:
        seen.append(AuditEntry.objects.get().told)
        return run(self, plan)

    monkeypatch.setattr(buses.GuardedBus, "run", watched)
    answer = do("pause_queue", reason="release")
    assert seen == ["in hand"]
    entry = AuditEntry.objects.get()
    assert entry.pk == answer.audit_id
    assert (entry.who, entry.action, entry.outcome, entry.word) == (
        "ada", "pause_queue", "done", "ok",
    )  # fmt: skip
    assert entry.params == {"reason": "release"}
    assert entry.closed_at is not None


def test_an_intent_left_by_a_crash_says_that_nobody_knows(
    do: Do, monkeypatch: pytest.MonkeyPatch
) -> None:
    def crash(*_: Any) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr(buses.GuardedBus, "run", crash)
    with pytest.raises(KeyboardInterrupt):
        do("pause_queue", request_id="again")
    entry = AuditEntry.objects.get()
    assert entry.told == "in hand"
    AuditEntry.objects.update(opened_at=timezone.now() - timedelta(minutes=5))
    entry.refresh_from_db()
    assert entry.told == "unknown"
    assert "Outcome unknown" in entry.account
    monkeypatch.undo()
    assert do("pause_queue", request_id="again").outcome is Outcome.done
    assert AuditEntry.objects.filter(request_id="again").count() == 2


def test_a_failure_of_ours_is_kept_as_unknown(do: Do, monkeypatch: pytest.MonkeyPatch) -> None:
    def broken(*_: Any) -> None:
        raise RuntimeError("bug")

    monkeypatch.setattr(buses.GuardedBus, "run", broken)
    with pytest.raises(RuntimeError):
        do("pause_queue")
    assert AuditEntry.objects.get().outcome == "unknown"


def test_without_an_audit_nothing_is_done(
    do: Do, bus: Bus, q: QueueKeys, monkeypatch: pytest.MonkeyPatch
) -> None:
    from django.db import DatabaseError

    def full(*_: Any, **__: Any) -> None:
        raise DatabaseError("database or disk is full")

    monkeypatch.setattr(AuditEntry.objects, "create", full)
    assert do("pause_queue").outcome is Outcome.unavailable
    assert not bus.run(command("EXISTS", q.meta))


def test_case_144_a_done_act_stays_done_where_the_audit_cannot_be_closed(
    do: Do, monkeypatch: pytest.MonkeyPatch
) -> None:
    from django.db import DatabaseError

    def full(*_: Any, **__: Any) -> None:
        raise DatabaseError("database or disk is full")

    monkeypatch.setattr(AuditEntry, "save", full, raising=True)
    monkeypatch.setattr(AuditEntry.objects, "create", lambda **row: AuditEntry(pk=1, **row))
    answer = do("pause_queue")
    assert answer.outcome is Outcome.done
    assert "audit could not be brought up to date" in answer.sentence


# ---- resends and two at once -----------------------------------------------------------------


def test_case_68_a_resend_answers_already_with_who_and_when(do: Do) -> None:
    assert do("pause_queue", request_id="r1").outcome is Outcome.done
    again = do("pause_queue", request_id="r1")
    assert again.outcome is Outcome.already
    assert again.sentence.startswith("ada did this at ")
    assert AuditEntry.objects.count() == 1


def test_a_request_id_stands_for_one_thing(do: Do) -> None:
    do("pause_queue", request_id="r1")
    answer = do("resume_queue", request_id="r1")
    assert answer.outcome is Outcome.invalid
    assert "other values" in answer.sentence
    assert do("enqueue", payload="one", request_id="two").outcome is Outcome.done
    assert do("enqueue", payload="two", request_id="two").outcome is Outcome.invalid


def test_a_request_id_of_another_answers_nothing_of_theirs(
    do: Do, person: Callable[..., Any], bus: Bus, q: QueueKeys
) -> None:
    assert do("pause_queue", request_id="one").outcome is Outcome.done
    eve = person("eve", "view", "pause_queue")
    answer = do("pause_queue", request_id="one", who=eve)
    assert answer.outcome is Outcome.invalid
    assert answer.audit_id is None
    assert "ada" not in answer.sentence
    assert do("pause_queue", request_id="two", who=eve).outcome is Outcome.already
    assert AuditEntry.objects.filter(request_id="one").count() == 1


def test_a_refused_request_may_be_sent_again(do: Do, make: Builder, bus: Bus) -> None:
    job = make.active()
    bus.run(command("SET", make.q.lock(job.id), "x"))
    asked = {"expect": "active", "confirm": "remove", "request_id": "r1"}
    assert do("remove_job", job.id, **asked).outcome is Outcome.locked
    bus.run(command("DEL", make.q.lock(job.id)))
    assert do("remove_job", job.id, **asked).outcome is Outcome.done
    assert list(AuditEntry.objects.order_by("id").values_list("attempt", "outcome")) == [
        (1, "locked"), (2, "done"),
    ]  # fmt: skip


def test_case_68_two_operators_and_one_dead_job(
    do: Do, make: Builder, bus: Bus, person: Callable[..., Any]
) -> None:
    job = make.dead()
    bob = actor_of(person("bob", "retry_job"))
    assert do("retry_dead", job.id, expect="dead 1").outcome is Outcome.done
    bus.run(command("DEL", make.q.pending, make.q.row(job.id)))  # it ran and completed meanwhile
    second = do("retry_dead", job.id, expect="dead 1", who=bob)
    assert second.outcome is Outcome.already
    assert "ada did this at " in second.sentence


def test_a_later_wish_for_another_state_is_no_already(do: Do, make: Builder) -> None:
    job = make.scheduled()
    assert do("run_now", job.id, expect="1").outcome is Outcome.done
    answer = do("reschedule", job.id, at_ms="1900000000000", expect="1")
    assert answer.outcome is Outcome.wrong_state
    assert "ada: run the job now" in answer.sentence


def test_an_id_minted_twice_is_minted_again(
    do: Do, make: Builder, bus: Bus, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Only a resend may take duplicate for success."""
    taken, fresh = make.pending().id, make.mint()
    minted = iter([taken, fresh])
    monkeypatch.setattr("echomq_admin.actions.perform.mint", lambda _bus: next(minted))
    answer = do("enqueue", payload="x")
    assert (answer.outcome, answer.facts["job"]) == (Outcome.done, fresh.decode())
    entry = AuditEntry.objects.get()
    assert (entry.params["job_id"], bytes(entry.item)) == (fresh.decode(), fresh)
    assert bus.run(command("ZCARD", make.q.pending)) == 2


def together(times: int, ask: Callable[[], Answer]) -> list[Answer]:
    """The same thing asked for at the same moment by several threads."""
    gate = threading.Barrier(times)

    def one() -> Answer:
        try:
            gate.wait()
            return ask()
        finally:
            connection.close()

    with ThreadPoolExecutor(times) as pool:
        return [future.result() for future in [pool.submit(one) for _ in range(times)]]


@pytest.mark.django_db(transaction=True)
def test_case_68_a_triple_click_moves_once(
    site: Any, ada: Any, make: Builder, bus: Bus, q: QueueKeys
) -> None:
    actor, job = actor_of(ada), make.scheduled()
    target = Target("main", q.name, job.id)
    answers = together(3, lambda: perform(actor, "run_now", target, {}, request_id="one-click"))
    assert sorted(answer.outcome.word for answer in answers) == ["already", "already", "done"]
    assert bus.run(command("ZCARD", q.pending)) == 1
    assert AuditEntry.objects.count() == 1


@pytest.mark.django_db(transaction=True)
def test_case_68_a_triple_click_enqueues_once(site: Any, ada: Any, bus: Bus, q: QueueKeys) -> None:
    actor, target = actor_of(ada), Target("main", q.name)
    asked = {"payload": "x"}
    answers = together(3, lambda: perform(actor, "enqueue", target, asked, request_id="one-form"))
    assert sorted(answer.outcome.word for answer in answers) == ["already", "already", "done"]
    assert bus.run(command("ZCARD", q.pending)) == 1


@pytest.mark.django_db(transaction=True)
def test_case_68_operators_without_a_common_form_still_move_once(
    site: Any, ada: Any, make: Builder, bus: Bus, q: QueueKeys
) -> None:
    actor, job = actor_of(ada), make.dead()
    target = Target("main", q.name, job.id)
    answers = together(3, lambda: perform(actor, "retry_dead", target, {"expect": "dead 1"}))
    assert sorted(answer.outcome.word for answer in answers) == ["already", "already", "done"]
    assert bus.run(command("ZCARD", q.pending)) == 1


# ---- faults ----------------------------------------------------------------------------------


def test_an_unreachable_bus_is_unavailable_and_then_fails_fast(
    do: Do, site: Any, q: QueueKeys, monkeypatch: pytest.MonkeyPatch
) -> None:
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        port = taken.getsockname()[1]
        site.ECHOMQ_BUSES = {"main": f"redis://user:hunter2@127.0.0.1:{port}/0"}
        tried: list[str] = []
        knock = buses.connect

        def counted(url: str, **how: Any) -> Any:
            tried.append(url)
            return knock(url, **how)

        monkeypatch.setattr(buses, "connect", counted)
        answers = [do("pause_queue") for _ in range(5)]
    assert {answer.outcome for answer in answers} == {Outcome.unavailable}
    assert len(tried) == 1
    assert "tried again in" in answers[-1].sentence
    assert not any("hunter2" in answer.sentence for answer in answers)
    assert "hunter2" not in buses.safe_url("main")
    assert AuditEntry.objects.filter(outcome="unavailable").count() == 5


def test_a_bus_that_comes_back_is_asked_again(do: Do, site: Any, folder: Path) -> None:
    lone = Embedded(folder)
    lone.start()
    site.ECHOMQ_BUSES = {"main": lone.url}
    try:
        assert do("pause_queue").outcome is Outcome.done
        lone.kill()
        assert do("resume_queue").outcome in (Outcome.unavailable, Outcome.unknown)
        lone.start()
        for _ in range(50):
            answer = do("resume_queue")
            if answer.outcome in (Outcome.done, Outcome.already):
                break
            threading.Event().wait(0.1)
        assert answer.outcome is Outcome.done
    finally:
        lone.kill()


def test_a_bus_that_does_not_answer_in_time_leaves_it_unknown(
    do: Do, site: Any, folder: Path
) -> None:
    lone = Embedded(folder)
    lone.start()
    site.ECHOMQ_BUSES, site.ECHOMQ_TIMEOUT_MS = {"main": lone.url}, 300
    pauser = connect(lone.url)
    try:
        assert do("pause_queue").outcome is Outcome.done
        pauser.run(command("CLIENT", b"PAUSE", "2000", "ALL"))
        answer = do("resume_queue")
        assert answer.outcome is Outcome.unknown
        assert "may have happened" in answer.sentence
    finally:
        lone.kill()


def test_an_access_list_that_forbids_is_not_permitted(
    do: Do, site: Any, bus: Bus, server: Embedded, q: QueueKeys
) -> None:
    bus.run(command("ACL", b"SETUSER", "looker", "on", ">pw", "~*", "+@read", "+@connection",
                    "+evalsha_ro", "+eval_ro", "+script|load", "+set", "+evalsha"))  # fmt: skip
    site.ECHOMQ_BUSES = {"main": server.url.replace("://", "://looker:pw@")}
    answer = do("pause_queue")
    assert answer.outcome is Outcome.not_permitted
    assert "does not let" in answer.sentence


def test_case_108_flushed_scripts_work_the_first_time(do: Do, bus: Bus) -> None:
    bus.run(command("SCRIPT", b"FLUSH"))
    assert do("pause_queue").outcome is Outcome.done


def test_a_key_of_another_type_is_told(do: Do, bus: Bus, q: QueueKeys) -> None:
    bus.run(command("SET", q.meta, "x"))
    answer = do("pause_queue")
    assert answer.outcome in (Outcome.wrong_state, Outcome.unknown)
    assert answer.outcome is not Outcome.done


def test_every_outcome_has_a_look_and_every_word_an_outcome() -> None:
    for outcome in Outcome:
        answer = Answer(outcome, "x")
        assert answer.icon
        assert answer.tone
        assert answer.title
    assert set(OUTCOME_OF) == set(Word)


def test_an_actor_is_a_name_and_rights(ada: Any) -> None:
    assert actor_of(ada) == Actor("ada", actor_of(ada).rights)
