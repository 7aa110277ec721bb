"""What goes to which node in which round: nothing here has a socket."""

from __future__ import annotations

import contextlib

import pytest

from queue_core import routes as routing
from queue_core.errors import EchoMQError, ServerFault, UnavailableError, UnknownOutcomeError
from queue_core.exchange import ROUNDS, Cut, Learn, Send, exchange, lockstep
from queue_core.plans import Batch, Call
from queue_core.replies import double, fault, plain
from queue_core.routes import Routes, slot_of
from queue_core.scripts import script
from queue_core.servers import parse

CLUSTER = [
    [0, 8000, [b"a", 1, b"id"], [b"r", 9, b"id"]],
    [8001, 16383, [b"b", 2, b"id"]],
]


NO_SCRIPT = fault("NOSCRIPT x")


def routes(url: str = "redis+cluster://seed:1", answer: object = CLUSTER) -> Routes:
    """Routes that have learned this."""
    known = Routes(parse(url))
    if known.stale:
        asking = known.learn()
        next(asking)
        with pytest.raises(StopIteration):
            asking.send(answer)
    return known


def low(n: int = 0) -> bytes:
    """A key of node a."""
    return next(k for i in range(999) if slot_of(k := b"k%d.%d" % (n, i)) <= 8000)


def high(n: int = 0) -> bytes:
    """A key of node b."""
    return next(k for i in range(999) if slot_of(k := b"k%d.%d" % (n, i)) > 8000)


def drive(calls, known, *rounds):
    """Send the given answers round by round; what went out each time, and the replies."""
    went = []
    running = exchange(calls, known)
    try:
        out = next(running)
        for answers in rounds:
            went.append(out)
            out = running.send(answers)
    except StopIteration as end:
        return went, end.value
    went.append(out)
    raise AssertionError(went)


@pytest.mark.parametrize(
    ("key", "slot"),
    [
        (b"123456789", 12739), (b"{emq}:version", 9051), (b"emq:{cm}:pending", 9074),
        (b"{q1}", 7450), (b"cm.notify", 12817), (b"a{orders}b{x}", 105), (b"{}billing", None),
        (b"billing", 12682), (b"{billing", None),
    ],
)  # fmt: skip
def test_slots(key, slot):
    assert slot is None or slot_of(key) == slot
    assert slot_of(b"{}x") != slot_of(b"{}y")


def test_one_pipeline_per_node_and_round_and_replies_in_order():
    keys = [low(1), high(1), low(2), high(2), low(3)]
    calls = [Call("GET", (key,)) for key in keys]
    went, replies = drive(calls, routes(), [[0, 2, 4], [1, 3]])
    (sends,) = went
    assert [(send.node, len(send.words)) for send in sends] == [("a:1", 3), ("b:2", 2)]
    assert not any(send.writes for send in sends)
    assert replies == [0, 1, 2, 3, 4]


def test_a_lone_script_goes_by_its_name_and_is_loaded_where_that_is_unknown():
    call = script("enqueue").call((low(1), low(2)), b"b", b"i", b"p")
    went, replies = drive([call], routes(), [[NO_SCRIPT]], [[b"sha", [b"enqueued"]]])
    assert [word[0] for word in went[0][0].words] == ["EVALSHA"]
    assert [word[0] for word in went[1][0].words] == ["SCRIPT", "EVALSHA"]
    assert replies == [[b"enqueued"]]


def test_a_pipeline_loads_a_script_once_and_ahead():
    call = script("enqueue").call((low(1), low(2)), b"b", b"i", b"p")
    known = routes()
    went, _ = drive([call, Call("INCR", (low(),)), call], known, [[b"sha", [b"a"], 1, [b"b"]]])
    assert [word[0] for word in went[0][0].words] == ["SCRIPT", "EVALSHA", "INCR", "EVALSHA"]
    went, _ = drive([call, call], known, [[[b"a"], [b"b"]]])
    assert [word[0] for word in went[0][0].words] == ["EVALSHA", "EVALSHA"]


def test_only_what_met_no_script_is_sent_again():
    call = script("enqueue").call((low(1), low(2)), b"b", b"i", b"p")
    known = routes()
    drive([call, call], known, [[b"sha", [b"a"], [b"b"]]])
    calls = [call, Call("INCR", (low(),)), call]
    went, replies = drive(
        calls, known, [[NO_SCRIPT, 1, NO_SCRIPT]], [[b"sha", [b"enqueued"], [b"duplicate"]]]
    )
    assert [word[0] for word in went[1][0].words] == ["SCRIPT", "EVALSHA", "EVALSHA"]
    assert replies == [[b"enqueued"], 1, [b"duplicate"]]


def test_a_server_that_loads_no_script_is_told_by_its_refusal():
    call = script("enqueue").call((low(1), low(2)), b"b", b"i", b"p")
    refusal = fault("NOPERM no right to script|load")
    for rounds in ([[NO_SCRIPT]], [[refusal, NO_SCRIPT]]), ([[refusal, NO_SCRIPT, NO_SCRIPT]],):
        size = 1 if len(rounds) == 2 else 2
        _, replies = drive([call] * size, routes(), *rounds)
        assert replies == [refusal] * size


def test_a_pure_read_goes_as_one():
    read = script("reads/get_counts")
    call = Call(read.name, (low(),), (), read)
    went, _ = drive([call], routes(), [[[b"x"]]])
    assert went[0][0].words[0][0] == "EVALSHA_RO"
    assert not went[0][0].writes


def test_moved_is_followed_and_learned_and_ask_is_followed_alone():
    key = low()
    known = routes()
    moved = fault(f"MOVED {slot_of(key)} b:2")
    running = exchange([Call("INCR", (key,))], known)
    assert next(running)[0].node == "a:1"
    assert isinstance(running.send([[moved]]), Learn)
    known.learned()
    assert running.send(None)[0].node == "b:2"

    known = routes()
    ask = fault(f"ASK {slot_of(key)} :3")
    went, replies = drive([Call("INCR", (key,))], known, [[ask]], [[b"OK", 7]])
    assert went[1] == [Send("a:3", [("ASKING",), ("INCR", key)], True)]
    assert replies == [7]


def test_what_was_sent_is_never_sent_again():
    calls = [Call("INCR", (low(),)), Call("GET", (low(),))]
    went, replies = drive(calls, routes(), [[Cut("gone"), Cut("gone")]])
    assert len(went) == 1
    assert isinstance(replies[0], UnknownOutcomeError)
    assert isinstance(replies[1], UnavailableError)


def test_what_was_never_sent_looks_for_another_server_once():
    known = routes()
    refused = UnavailableError("CONNECT", "nobody there")
    running = exchange([Call("INCR", (low(),)), Call("INCR", (high(),))], known)
    next(running)
    assert isinstance(running.send([[refused], [5]]), Learn)
    known.learned()
    again = running.send(None)
    assert [len(send.words) for send in again] == [1]
    with pytest.raises(StopIteration) as end:
        running.send([[refused]])
    assert end.value.value == [refused, 5]


def test_a_single_server_is_not_looked_for():
    refused = UnavailableError("CONNECT", "nobody there")
    went, replies = drive([Call("INCR", (b"k",))], routes("redis://h:1"), [[refused]])
    assert len(went) == 1
    assert replies == [refused]


def test_who_cannot_learn_says_so_for_what_is_left():
    known = routes()
    running = exchange([Call("INCR", (low(),)), Call("INCR", (high(),))], known)
    next(running)
    running.send([[UnavailableError("READONLY", "x")], [5]])
    lost = UnavailableError("NOROUTE", "nobody knows")
    with pytest.raises(StopIteration) as end:
        running.throw(lost)
    assert end.value.value == [lost, 5]


def test_a_script_is_not_run_where_only_a_part_of_its_keys_may_have_arrived():
    keys = (low(1), low(2))
    ask = fault(f"ASK {slot_of(keys[0])} b:2")
    went, replies = drive([script("enqueue").call(keys, b"b", b"i", b"p")], routes(), [[ask]])
    assert len(went) == 1
    assert isinstance(replies[0], UnavailableError)
    assert replies[0].code == "TRYAGAIN"


@pytest.mark.parametrize(
    ("name", "kind"), [("enqueue", UnknownOutcomeError), ("reads/waiting", UnavailableError)]
)
def test_a_script_that_was_broken_off_may_have_changed_something_if_it_writes(name, kind):
    broken = fault("ERR Attempted to access a non local key in a cluster node script: x")
    made = script(name)
    call = made.call((low(1),) * len(made.keys), *[b"x"] * len(made.args))
    _, replies = drive([call], routes(), [[broken]])
    assert isinstance(replies[0], kind)


def test_a_cluster_that_sends_us_around_is_unavailable():
    ask = fault(f"ASK {slot_of(low())} b:2")
    rounds = [[[b"OK", ask]]] * (ROUNDS - 1)
    went, replies = drive([Call("INCR", (low(),))], routes(), [[ask]], *rounds)
    assert len(went) == ROUNDS
    assert isinstance(replies[0], UnavailableError)


def test_a_slot_that_nobody_serves():
    known = routes(answer=[[0, 100, [b"a", 1, b"id"]]])
    _, replies = drive([Call("GET", (high(),)), Call("TIME")], known, [[1]])
    assert replies[0].code == "CLUSTERDOWN"
    assert replies[1] == 1


def test_a_slot_that_nobody_served_is_asked_for_again():
    known = routes(answer=[[0, 8000, [b"a", 1, b"id"]]])
    with pytest.raises(UnavailableError):
        known.node_of(Call("GET", (high(),)))
    assert not known.current()


def test_a_node_that_went_since_it_was_chosen_is_a_fault_that_may_be_led_around():
    known = routes()
    chosen = known.node_of(Call("GET", (low(),)))
    asking = known.learn()
    next(asking)
    with pytest.raises(StopIteration):
        asking.send([[0, 16383, [b"b", 2, b"id"]]])
    with pytest.raises(UnavailableError) as gone:
        known.address_of(chosen)
    assert gone.value.code == "CONNECT"


def asked_by(known, silent, passes=lambda: None):
    """Learn where so many hosts are silent, for a time that passes; whom it asked."""
    asked, asking = [], known.learn()
    with contextlib.suppress(StopIteration):
        question = next(asking)
        while True:
            host = question.address.host
            asked.append(host)
            told = [b"p", b"1"]
            if host in silent:
                passes()
                told = UnavailableError("CONNECT", "time is up")
            question = asking.send(told)
    return asked


def test_who_told_last_is_asked_first():
    known = Routes(parse("redis+sentinel://silent,speaks/house"))
    asked = asked_by(known, {"silent"}) + asked_by(known, {"silent"})
    assert asked == ["silent", "speaks", "speaks"]


@pytest.mark.parametrize(
    ("url", "current"), [("redis+cluster://seed:1", False), ("redis://h:1", True)]
)
def test_a_node_that_is_cut_off_is_no_reason_to_ask_where_there_is_nobody_to_ask(url, current):
    known = routes(url)
    down = fault("CLUSTERDOWN The cluster is down")
    went, replies = drive([Call("INCR", (low(),))], known, [[down]])
    assert (len(went), replies) == (1, [down])
    assert known.current() is current


def test_who_told_what_has_failed_is_asked_last():
    known = Routes(parse("redis+sentinel://cut-off,knows,knows-too/house"))
    assert asked_by(known, set()) == ["cut-off"]
    known.stale = True
    assert asked_by(known, set()) == ["knows"]


@pytest.mark.parametrize(("asking_s", "trusted_s"), [(0.0, 1), (3.0, 30)])
def test_where_all_are_silent_none_is_asked_so_often(monkeypatch, asking_s, trusted_s):
    now = [0.0]
    monkeypatch.setattr(routing, "monotonic", lambda: now[0])
    known = Routes(parse("redis+sentinel://a/house"))

    def passes():
        now[0] += asking_s

    asked_by(known, set())
    now[0] += 1.1
    assert not known.current()
    assert asked_by(known, {"a"}, passes) == ["a"]
    now[0] += trusted_s - 0.1
    assert known.current()
    now[0] += 0.2
    assert not known.current()


def test_plans_advance_together():
    def plan(n):
        first = yield Call("A", (), (n,))
        both = yield Batch((Call("B"), Call("C")))
        return [first, both]

    def failing():
        yield Call("D")
        raise UnavailableError("X", "own")

    rounds = lockstep([plan(1), failing(), plan(2)])
    assert [call.name for call in next(rounds)] == ["A", "D", "A"]
    assert [call.name for call in rounds.send([1, 0, fault("ERR no")])] == ["B", "C"]
    with pytest.raises(StopIteration) as end:
        rounds.send([2, 3])
    first, second, third = end.value.value
    assert first == [1, [2, 3]]
    assert isinstance(second, EchoMQError)
    assert isinstance(third, ServerFault)


@pytest.mark.parametrize(
    ("number", "text"),
    [
        (3.0, b"3"), (1.5, b"1.5"), (0.1, b"0.1"), (-0.0, b"-0"), (0.0, b"0"),
        (float("inf"), b"inf"), (float("-inf"), b"-inf"), (1795972472544.0, b"1795972472544"),
    ],
)  # fmt: skip
def test_doubles_print_as_the_server_prints_them(number, text):
    assert double(number) == text


def test_replies_of_the_newer_protocol_take_the_older_shape():
    assert plain({b"a": 1.5, b"b": {b"c": None}}) == [b"a", b"1.5", b"b", [b"c", None]]
    assert plain([True, False, None, 7, b"x"]) == [1, 0, None, 7, b"x"]
    assert plain([[b"m", 1.0], [b"n", 2.5]]) == [b"m", b"1", b"n", b"2.5"]
    assert plain([[b"m", b"1"], [b"n", b"2"]]) == [[b"m", b"1"], [b"n", b"2"]]
    assert plain([]) == []
