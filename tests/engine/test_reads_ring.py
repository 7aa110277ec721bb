"""The ring and its lanes: order of turns, and why a lane has none."""

from queue_core.reads.ring import LANE_WINDOW, Siding, ring
from queue_core.verbs import claims, lanes, queues
from tests.builders import a_lane, command
from tests.engine.test_cost import cost


def filled(make, jobs=3):
    """A fresh lane in which jobs wait."""
    name = a_lane()
    for _ in range(jobs):
        make.in_lane(name)
    return name


def test_lanes_stand_in_the_order_of_their_turns(run, q, make):
    names = [filled(make) for _ in range(3)]
    seen = run(ring(q)).value
    assert [lane.name for lane in seen.turns] == names
    for turn in range(3):
        assert run(claims.lane_claim(q, 60_000)).group == seen.turns[turn].name
    again = run(ring(q)).value
    assert [lane.name for lane in again.turns] == names
    assert [lane.in_flight for lane in again.turns] == [1, 1, 1]
    assert [lane.depth for lane in again.turns] == [2, 2, 2]


def test_what_a_lane_says_of_itself(run, q, make):
    name = filled(make)
    run(lanes.limit(q, name, 3))
    run(lanes.weight(q, name, 2))
    lane = run(ring(q)).value.named(name)
    assert (lane.limit, lane.weight, lane.takes, lane.parked) == (3, 2, 2, False)
    assert lane.oldest_ms is not None
    assert lane.siding is None


def test_row_54_lanes_out_of_the_ring_are_found_and_say_why(run, q, make):
    paused, full, idle, lost = (filled(make) for _ in range(4))
    run(lanes.pause(q, paused))
    run(lanes.limit(q, full, 1))
    while run(ring(q)).value.named(full).in_flight == 0:
        run(claims.lane_claim(q, 60_000))
    run(command("DEL", q.lane(idle)))
    run(command("LREM", q.ring, 0, idle))
    run(lanes.limit(q, idle, 5))
    run(command("LREM", q.ring, 0, lost))
    run(command("HSET", q.glimit, lost, 9))
    seen = run(ring(q)).value
    assert {name: seen.named(name).siding for name in (paused, full, idle, lost)} == {
        paused: Siding.paused, full: Siding.at_limit, idle: Siding.idle, lost: Siding.left_out,
    }  # fmt: skip


def test_hostile_numbers_and_names_break_nothing(run, q):
    name = b"\xff lane\n"
    run(command("RPUSH", q.ring, name))
    run(command("HSET", q.glimit, name, b"many"))
    run(command("HSET", q.gactive, name, b"-3"))
    run(command("HSET", q.gweight, name, b"0"))
    run(command("SET", q.lane(name), b"not a set"))
    seen = run(ring(q))
    lane = seen.value.named(name)
    assert (lane.depth, lane.limit, lane.in_flight, lane.takes) == (None, None, 0, 1)
    assert not seen.complete


def test_a_million_lanes_would_cost_a_window(run, q):
    """Lanes beyond the window are counted and not looked at, and the read says so."""
    for start in range(0, 3_000, 500):
        run(command("RPUSH", q.ring, *(b"L%05d" % at for at in range(start, start + 500))))
        limits = [word for at in range(start, start + 500) for word in (b"M%05d" % at, 5)]
        run(command("HSET", q.glimit, *limits))
    run(ring(q))
    trips, commands = cost(run, ring(q, b"L02999"))
    assert trips == 1
    assert commands <= (LANE_WINDOW + 1) * 6 + 20
    seen = run(ring(q, b"L02999"))
    assert not seen.complete
    assert "lanes were looked at" in seen.why
    assert seen.value.known >= 3_000
    assert seen.value.named(b"L02999") is not None


def test_a_paused_queue_is_told(run, q):
    run(queues.pause(q))
    seen = run(ring(q))
    assert (seen.value.queue_paused, seen.value.lanes, seen.complete) == (True, (), True)
