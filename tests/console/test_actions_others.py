"""Actions on queues, lanes, repeats, boards, and the one that brings a job in."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from echomq_admin.actions.action import Target
from echomq_admin.actions.answers import Answer
from echomq_admin.live.page import to_path
from queue_core import boards, keys
from queue_core.bus import Bus
from queue_core.keys import QueueKeys
from queue_core.outcomes import Outcome, Word
from queue_core.reads.jobs import get_job, get_job_state
from queue_core.states import State
from queue_core.verbs import repeats
from tests.builders import Builder, a_lane, command, score

Do = Callable[..., Answer]

LANE_ACTIONS = ("pause_lane", "resume_lane", "limit_lane", "weight_lane")

HOSTILE = [
    b"a b", b"a:b", b"a/b", b"a#b", b"a?b", b"a+b", b"a%2Fb", b"..", b"{a}", b"a}b", b"{}", b"",
    "🐙".encode(), "‮abc".encode(), b"x" * 512, b"\xff\x00\n", b"<script>alert(1)</script>",
]  # fmt: skip


# ---- queues ----------------------------------------------------------------------------------


def test_pause_and_resume(do: Do, bus: Bus, q: QueueKeys) -> None:
    assert do("pause_queue").outcome is Outcome.done
    assert bus.run(command("HGET", q.meta, "paused")) == b"1"
    again = do("pause_queue")
    assert again.outcome is Outcome.already
    assert "ada did this at " in again.sentence
    resumed = do("resume_queue")
    assert resumed.outcome is Outcome.done
    assert resumed.undo is not None
    assert resumed.undo.action == "pause_queue"
    assert do("resume_queue").outcome is Outcome.already


@pytest.mark.parametrize("name", HOSTILE)
def test_case_26_a_queue_of_any_name_is_paused_and_no_other(do: Do, bus: Bus, name: bytes) -> None:
    asked = keys.found(name)
    others = [keys.found(other) for other in HOSTILE if other != name]
    try:
        assert do("pause_queue", target=Target("main", name), unseen="1").outcome is Outcome.done
        assert bus.run(command("HGET", asked.meta, "paused")) == b"1"
        assert not any(bus.run(command("EXISTS", other.meta)) for other in others)
    finally:
        bus.run(command("DEL", asked.meta))


@pytest.mark.parametrize("action", ["pause_queue", "resume_queue", *LANE_ACTIONS])
def test_a_queue_that_nobody_knows_is_gone_and_none_is_made(
    do: Do, bus: Bus, q: QueueKeys, action: str
) -> None:
    """A slip of the pen sets nothing; what is meant is asked for, and then the queue is known."""
    typo = keys.found(q.name + b".typo")
    item = a_lane() if action in LANE_ACTIONS else b""
    asked = {"target": Target("main", typo.name, item), "limit": "3", "weight": "3"}
    for _ in range(2):
        answer = do(action, **asked)
        assert (answer.outcome, answer.word) == (Outcome.gone, Word.gone)
        assert "There is no queue" in answer.sentence
        assert "--unseen" in answer.sentence
    some = [typo.meta, typo.paused, typo.glimit, typo.gweight, typo.ring]
    assert not any(bus.run(command("EXISTS", key)) for key in some)
    assert do(action, **asked, unseen="true").outcome in (Outcome.done, Outcome.already)
    bus.run(command("HSET", typo.meta, "paused", "1"))
    assert do("resume_queue", target=Target("main", typo.name)).outcome is Outcome.done
    bus.run(command("DEL", *some))


# ---- lanes -----------------------------------------------------------------------------------


def test_lane_pause_and_resume(do: Do, make: Builder, bus: Bus, q: QueueKeys) -> None:
    group = a_lane()
    make.in_lane(group)
    assert do("pause_lane", group).outcome is Outcome.done
    assert bus.run(command("SISMEMBER", q.paused, group)) == 1
    assert do("pause_lane", group).outcome is Outcome.already
    assert do("resume_lane", group).outcome is Outcome.done
    assert bus.run(command("LPOS", q.ring, group)) == 0
    assert do("resume_lane", group).outcome is Outcome.already


@pytest.mark.parametrize(("action", "field"), [("limit_lane", "limit"), ("weight_lane", "weight")])
def test_limit_and_weight(do: Do, bus: Bus, q: QueueKeys, action: str, field: str) -> None:
    group = a_lane()
    key = q.glimit if field == "limit" else q.gweight
    assert do(action, group, **{field: "3"}).outcome is Outcome.done
    assert bus.run(command("HGET", key, group)) == b"3"
    assert do(action, group, **{field: "3"}).outcome is Outcome.already
    assert do(action, group, **{field: ""}).outcome is Outcome.done
    assert bus.run(command("HGET", key, group)) is None
    for wrong in ("0", "-1", "1.5", "many", "9" * 30):
        assert do(action, group, **{field: wrong}).outcome is Outcome.invalid


@pytest.mark.parametrize(("action", "field"), [("limit_lane", "limit"), ("weight_lane", "weight")])
def test_a_form_that_stood_open_writes_nothing_over_what_was_set_since(
    do: Do, bus: Bus, q: QueueKeys, client_of: Any, ada: Any, action: str, field: str
) -> None:
    group = a_lane()
    asked = {"bus": "main", "queue": to_path(q.name), "item": to_path(group)}
    drawn = client_of(ada).get(f"/dialog/{action}", asked).content.decode()
    assert 'name="expect" value="none"' in drawn
    assert do(action, group, **{field: "1"}).outcome is Outcome.done
    late = do(action, group, **{field: "9", "expect": "none"})
    assert late.outcome is Outcome.wrong_state
    assert f"{field} was changed meanwhile: it is 1." in late.sentence
    assert do(action, group, **{field: "1", "expect": "none"}).outcome is Outcome.already
    assert do(action, group, **{field: "", "expect": "1"}).outcome is Outcome.done


def test_a_lane_is_named_by_an_id(do: Do) -> None:
    assert do("pause_lane", b"not a lane").outcome is Outcome.invalid
    assert do("pause_lane").outcome is Outcome.invalid


# ---- repeats ---------------------------------------------------------------------------------


@pytest.fixture
def digest(bus: Bus, q: QueueKeys) -> bytes:
    """A registered repeat."""
    bus.run(repeats.register(q, b"digest", 60_000, b"template", 60_000))
    return b"digest"


def test_a_run_now_leaves_the_next_run_where_it_is(
    do: Do, bus: Bus, q: QueueKeys, digest: bytes
) -> None:
    following = bus.run(score(q.repeat, digest))
    answer = do("run_repeat", digest)
    assert answer.outcome is Outcome.done
    assert bus.run(get_job_state(q, answer.facts["job"])).value is State.pending
    assert bus.run(score(q.repeat, digest)) == following


def test_case_68_a_resent_run_of_a_repeat_runs_once(
    do: Do, bus: Bus, q: QueueKeys, digest: bytes
) -> None:
    answers = [do("run_repeat", digest, request_id="one-form") for _ in range(3)]
    assert [answer.outcome for answer in answers] == [
        Outcome.done, Outcome.already, Outcome.already,
    ]  # fmt: skip
    assert bus.run(command("ZCARD", q.pending)) == 1


def test_pause_resume_cancel(do: Do, bus: Bus, q: QueueKeys, digest: bytes) -> None:
    assert do("pause_repeat", digest).outcome is Outcome.done
    assert bus.run(command("HGET", q.repeat_record(digest), "py_paused_by")) == b"ada"
    assert do("pause_repeat", digest).outcome is Outcome.already
    assert do("resume_repeat", digest).outcome is Outcome.done
    assert do("resume_repeat", digest).outcome is Outcome.already
    assert do("cancel_repeat", digest).outcome is Outcome.invalid
    assert do("cancel_repeat", digest, confirm="cancel").outcome is Outcome.done
    assert bus.run(score(q.repeat, digest)) is None


@pytest.mark.parametrize("action", ["run_repeat", "pause_repeat", "resume_repeat", "cancel_repeat"])
def test_a_repeat_that_is_not_there_is_told_as_such(do: Do, q: QueueKeys, action: str) -> None:
    typed = {"confirm": "cancel"} if action == "cancel_repeat" else {}
    answer = do(action, b"nothing", **typed)
    assert (answer.outcome, answer.facts) == (Outcome.gone, {})
    assert answer.sentence.startswith("There is no repeat nothing in ")
    assert q.name.decode() in answer.sentence


def test_a_repeat_without_template_is_no_missing_one(do: Do, bus: Bus, q: QueueKeys) -> None:
    bus.run(command("HSET", q.repeat_record(b"bare"), "every_ms", "1000"))
    answer = do("run_repeat", b"bare")
    assert answer.outcome is Outcome.gone
    assert answer.sentence.startswith("bare has no template")


def test_cancelling_twice_is_told_as_such(do: Do, digest: bytes) -> None:
    do("cancel_repeat", digest, confirm="cancel")
    again = do("cancel_repeat", digest, confirm="cancel")
    assert again.word is Word.absent
    assert again.outcome is Outcome.already
    assert "ada did this at " in again.sentence


def test_a_parked_repeat_without_cadence_stays_parked(
    do: Do, bus: Bus, q: QueueKeys, digest: bytes
) -> None:
    do("pause_repeat", digest)
    bus.run(command("HSET", q.repeat_record(digest), "every_ms", "abc"))
    answer = do("resume_repeat", digest)
    assert answer.outcome is Outcome.invalid
    assert "cadence" in answer.sentence


# ---- boards ----------------------------------------------------------------------------------


@pytest.fixture
def game(bus: Bus, q: QueueKeys) -> Target:
    """Noor's place on the board of a game of this test's own, with 420."""
    bus.run(boards.fold(q.name, b"noor", 420))
    return Target("main", item=b"noor", game=q.name)


def test_a_rescore_against_what_is_held(do: Do, bus: Bus, game: Target) -> None:
    answer = do("rescore", target=game, score="400", expect="420")
    assert answer.outcome is Outcome.done
    assert answer.facts == {"expected": "420", "held": "400", "wanted": "400"}
    assert bus.run(score(keys.board(game.game), b"noor")) == 400


def test_a_rescore_against_another_total_shows_all_three(do: Do, bus: Bus, game: Target) -> None:
    bus.run(boards.fold(game.game, b"noor", 440))
    answer = do("rescore", target=game, score="400", expect="420")
    assert (answer.outcome, answer.word) == (Outcome.wrong_state, Word.moved)
    assert answer.facts == {"expected": "420", "held": "440", "wanted": "400"}
    assert bus.run(score(keys.board(game.game), b"noor")) == 440


def test_a_rescore_can_be_taken_back(do: Do, bus: Bus, game: Target) -> None:
    answer = do("rescore", target=game, score="400", expect="420")
    assert answer.undo is not None
    assert do(answer.undo.action, target=game, **answer.undo.params).outcome is Outcome.done
    assert bus.run(score(keys.board(game.game), b"noor")) == 420


REFUSED = [
    "1e3", "0x10", "1,000", "١٢٣", "NaN", "inf", "-inf", "", "9007199254740993", "0.1",
    "0.30000000000000004", "1e-320", "1 000", "--1", "½", "1_000",
]  # fmt: skip


@pytest.mark.parametrize("text", REFUSED)
def test_case_136_what_is_no_whole_score_is_refused_in_words(
    do: Do, bus: Bus, game: Target, text: str
) -> None:
    answer = do("rescore", target=game, score=text, expect="420")
    assert answer.outcome is Outcome.invalid
    assert answer.errors["score"]
    assert bus.run(score(keys.board(game.game), b"noor")) == 420


@pytest.mark.parametrize(
    ("text", "held"),
    [("-5", "-5"), ("0", "0"), ("-0", "0"), ("+7", "7"), ("007", "7"),
     ("9007199254740992", "9007199254740992")],
)  # fmt: skip
def test_case_136_what_is_accepted_is_read_again_and_shown(
    do: Do, game: Target, text: str, held: str
) -> None:
    answer = do("rescore", target=game, score=text, expect="420")
    assert answer.outcome is Outcome.done
    assert answer.facts["held"] == held


def test_case_138_a_player_who_left_is_not_brought_back(do: Do, bus: Bus, game: Target) -> None:
    bus.run(command("ZREM", keys.board(game.game), b"noor"))
    answer = do("rescore", target=game, score="400", expect="420")
    assert answer.outcome is Outcome.gone
    assert bus.run(score(keys.board(game.game), b"noor")) is None


def test_a_rescore_names_what_it_expects(do: Do, game: Target) -> None:
    assert do("rescore", target=game, score="400").outcome is Outcome.invalid


# ---- enqueue ---------------------------------------------------------------------------------


def test_enqueue_flat(do: Do, bus: Bus, q: QueueKeys) -> None:
    answer = do("enqueue", payload=b"\xff\xfe\x00bytes")
    assert answer.outcome is Outcome.done
    job = bus.run(get_job(q, answer.facts["job"])).value
    assert job is not None
    assert job.payload == b"\xff\xfe\x00bytes"


@pytest.mark.parametrize(
    ("asked", "state"),
    [
        ({"after": "1h"}, State.scheduled),
        ({"at": "2030-01-01T00:00:00Z"}, State.scheduled),
        ({"lane": "PRT0P2olO6ytJ5"}, State.in_lane),
        ({"lane": "PRT0P2olO6ytJ5", "after": "1h"}, State.scheduled),
        ({"lane": "PRT0P2olO6ytJ5", "at": "2030-01-01T00:00:00+01:00"}, State.scheduled),
    ],
)
def test_enqueue_elsewhere(
    do: Do, bus: Bus, q: QueueKeys, asked: dict[str, str], state: State
) -> None:
    answer = do("enqueue", payload="work", **asked)
    assert answer.outcome is Outcome.done
    assert bus.run(get_job_state(q, answer.facts["job"])).value is state


@pytest.mark.parametrize(
    "asked",
    [
        {"id": "short"}, {"lane": "nowhere"}, {"at": "soon"}, {"after": "-5m"}, {"after": "5"},
        {"at": "2030-01-01T00:00", "after": "5m"}, {"id": "CMD0P2olO6ytJ5"},
    ],
)  # fmt: skip
def test_enqueue_refuses_in_words(do: Do, bus: Bus, q: QueueKeys, asked: dict[str, str]) -> None:
    answer = do("enqueue", payload="x", **asked)
    assert answer.outcome is Outcome.invalid
    assert answer.sentence
    assert not bus.run(command("EXISTS", q.pending, q.schedule))


@pytest.mark.parametrize("name", [b"a b", b"{a}", b"", b"emq", b"x" * 129])
def test_a_queue_of_no_lawful_name_is_not_created(do: Do, name: bytes) -> None:
    answer = do("enqueue", target=Target("main", name), payload="x")
    assert answer.outcome is Outcome.invalid


def test_an_id_of_ones_own_makes_a_resend_answer_already(
    do: Do, mint: Callable[[], bytes], bus: Bus, q: QueueKeys
) -> None:
    job_id = mint().decode()
    assert do("enqueue", payload="x", id=job_id).outcome is Outcome.done
    again = do("enqueue", payload="x", id=job_id)
    assert (again.outcome, again.word) == (Outcome.already, Word.duplicate)
    assert "ada did this at " in again.sentence
    assert bus.run(command("ZCARD", q.pending)) == 1


def test_the_audit_keeps_no_payload(do: Do) -> None:
    from echomq_admin.models import AuditEntry

    answer = do("enqueue", payload="very secret text")
    entry = AuditEntry.objects.get(pk=answer.audit_id)
    assert "secret" not in str(entry.params) + entry.sentence
    assert entry.params["size"] == 16
    assert bytes(entry.item).decode() == answer.facts["job"]


def test_every_action_is_reached_and_says_something_for_every_word() -> None:
    from echomq_admin.actions import ACTIONS
    from echomq_admin.actions.action import Order, Result

    order: Any = Order(Target("main", b"q", b"item", b"game"), {}, "ada")
    facts = dict.fromkeys(
        ("job", "when", "held", "expected", "wanted", "became", "run_at", "was", "size", "to"),
        "x",
    )
    for action in ACTIONS.values():
        for word in Word:
            told = action.sentence(order, Result(word, facts=facts))
            assert told
            assert "{" not in told
