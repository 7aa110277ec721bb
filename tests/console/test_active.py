"""Held jobs and workers, as a browser gets them."""

import threading

from queue_core.verbs import claims
from queue_core.work.consumer import Consumer
from tests.builders import a_lane, command, server_ms
from tests.servers import PATIENCE_S, until


def test_who_holds_what_and_for_how_long(look, make, bus, q):
    lane = a_lane()
    make.in_lane(lane, b'{"text":"hello"}')
    bus.run(claims.lane_claim(q, 60_000, b"notify-2:7"))
    make.active()
    answer = look("active")
    rows = {row.id: row for row in answer.context["list"]["rows"]}
    text = answer.content.decode()
    assert len(rows) == 2
    assert "notify-2:7" in text
    assert "not in the registry" in text
    assert lane.decode() in text
    assert "the claim did not say who" in text
    assert all(not row.over for row in rows.values())


def test_a_lease_that_is_over_waits_for_the_reaper(look, make):
    make.expired()
    answer = look("active")
    text = answer.content.decode()
    assert "1 here past its lease" in text
    assert "over by" in text


def test_a_silent_holder_is_told(look, make, bus, q):
    make.pending()
    bus.run(claims.claim(q, 60_000, b"lost"))
    bus.run(command("ZADD", q.workers, 1, b"lost"))
    assert "heard of" in look("active").content.decode()


def test_a_score_that_is_no_moment(look, make, bus, q):
    made = make.active()
    bus.run(command("ZADD", q.active, "XX", "inf", made.id))
    answer = look("active")
    assert answer.status_code == 200
    assert ">inf<" in answer.content.decode()


def test_the_crew_with_its_silent_ones(look, make, bus, q):
    make.pending()
    now = bus.run(server_ms())
    bus.run(command("ZADD", q.workers, now, b"here<b>", now - 3_600_000, b"lost"))
    said = ("host", b"\xffmachine", "pid", 7, "concurrency", 4, "in_hand", 1, "quiet", 0)
    bus.run(command("HSET", q.worker(b"here<b>"), *said))
    text = look("workers").content.decode()
    assert "1 heard of lately, 2 in the registry" in text
    assert "⟨ff⟩machine" in text
    assert "here&lt;b&gt;" in text
    assert "1 of 4" in text
    assert "not heard of" in text
    assert "not enough data" in text


def test_two_workers_of_one_process_are_two(look, make, bus, q):
    """Each with what it holds: the one that is stopped takes the other's words with it no more."""
    begun, go_on = threading.Semaphore(0), threading.Event()

    def hold(task):
        begun.release()
        go_on.wait(PATIENCE_S)

    pair = [Consumer(bus, q.name, hold, label="mail") for _ in range(2)]
    for one in pair:
        make.pending()
        threading.Thread(target=one.run, daemon=True).start()
        assert begun.acquire(timeout=PATIENCE_S)
    try:
        until(lambda: bus.run(command("ZCARD", q.workers)) == 2, "both have said so")
        crew = look("workers")
        assert "2 heard of lately, 2 in the registry" in crew.content.decode()
        assert {row.seen.id for row in crew.context["rows"]} == {one.worker for one in pair}
        rows = look("active").context["list"]["rows"]
        assert {row.seen.holder.worker for row in rows} == {one.worker for one in pair}
        assert all(row.seen.holder.heard_ms is not None for row in rows)
    finally:
        go_on.set()
        for one in pair:
            one.stop()
    until(lambda: not bus.run(command("EXISTS", q.workers)), "both have left")
