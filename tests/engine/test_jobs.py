"""Verbs on one job (protocol part 4.5), and ours on scheduled jobs."""

import pytest

from queue_core.errors import InvalidError
from queue_core.outcomes import Word
from queue_core.reads.jobs import MOST_FIELDS, get_job, get_job_state
from queue_core.reads.pending import browse, pending_size
from queue_core.states import State
from queue_core.verbs import claims, jobs, lanes, settle
from tests.builders import HOUR, a_lane, command, row, score

FOREIGN = [b"123", b"007", b"1e5", b"null", b"__proto__", b"-", b"x" * 4096, b"end ", b"\xff\x00"]


def state(run, q, job):
    return run(get_job_state(q, job.id)).value


def test_data_and_progress_are_bytes(run, q, make):
    job = make.pending()
    assert run(jobs.update_data(q, job.id, b"\xff\x00")) is Word.ok
    assert run(jobs.update_progress(q, job.id, b"50")) is Word.ok
    found = run(get_job(q, job.id)).value
    assert (found.payload, found.progress) == (b"\xff\x00", b"50")


def test_data_is_replaced_only_where_it_is_what_was_seen(run, q, make):
    job = make.pending(b"\xffold")
    seen = jobs.digest(b"\xffold")
    assert run(jobs.update_data(q, job.id, b"new", seen)) is Word.ok
    assert run(jobs.update_data(q, job.id, b"newer", seen)) is Word.moved
    assert run(jobs.update_data(q, job.id, b"new", seen)) is Word.noop
    assert run(get_job(q, job.id)).value.payload == b"new"
    assert run(jobs.update_data(q, make.absent().id, b"x", seen)) is Word.gone
    run(command("HDEL", q.row(job.id), "payload"))
    assert run(jobs.update_data(q, job.id, b"first", jobs.digest(b""))) is Word.ok
    run(jobs.update_data(q, job.id, b"x" * 1_048_577))
    assert run(jobs.update_data(q, job.id, b"y", seen)) is Word.invalid


def test_logs_keep_their_order_and_their_bound(run, q, make):
    job = make.pending()
    assert [run(jobs.add_log(q, job.id, f"line {n}")) for n in (1, 2)] == [1, 2]
    assert run(jobs.add_log(q, job.id, b"line 3", keep=2)) == 2
    assert run(jobs.get_job_logs(q, job.id)) == [b"line 2", b"line 3"]
    assert run(jobs.get_job_logs(q, job.id, last=1)) == [b"line 3"]
    with pytest.raises(InvalidError):
        next(jobs.add_log(q, job.id, b"", keep=-1))


def test_nothing_is_written_for_a_job_that_is_gone(run, q, make):
    job = make.absent()
    assert run(jobs.update_data(q, job.id, b"x")) is Word.gone
    assert run(jobs.update_progress(q, job.id, b"x")) is Word.gone
    assert run(jobs.add_log(q, job.id, b"x")) is Word.gone
    assert run(jobs.get_job_logs(q, job.id)) is Word.gone
    assert run(jobs.remove_job(q, job.id)) is Word.gone
    assert run(jobs.reprocess_job(q, job.id)) is Word.gone
    assert run(get_job(q, job.id)).value is None
    assert run(command("EXISTS", q.logs(job.id))) == 0


def test_a_marked_job_is_not_removed(run, q, make):
    by_key, by_field = make.pending(), make.pending()
    run(command("SET", q.lock(by_key.id), "1"))
    run(command("HSET", q.row(by_field.id), "lock", "1"))
    for job in (by_key, by_field):
        assert run(jobs.remove_job(q, job.id)) is Word.locked
        assert run(jobs.remove_member(q, "pending", job.id)) is Word.locked
        assert state(run, q, job) is State.pending


def test_a_job_that_a_set_names_is_not_removed_as_one_that_none_does(run, q, make):
    held = (make.pending(), make.active(), make.scheduled(), make.dead(), make.in_lane(a_lane()))
    for job in held:
        for expected in ("unknown", "awaiting_children"):
            assert run(jobs.remove_job(q, job.id, expected=expected)) is Word.moved
        assert run(command("EXISTS", q.row(job.id))) == 1
    parent, lost = make.pending(), make.pending()
    run(command("ZREM", q.pending, parent.id, lost.id))
    run(command("HSET", q.row(parent.id), "state", "awaiting_children"))
    assert run(jobs.remove_job(q, parent.id, expected="unknown")) is Word.moved
    assert run(jobs.remove_job(q, lost.id, expected="awaiting_children")) is Word.moved
    assert run(jobs.remove_job(q, parent.id, expected="awaiting_children")) is Word.ok
    assert run(jobs.remove_job(q, lost.id, expected="unknown")) is Word.ok
    assert run(command("EXISTS", q.row(parent.id), q.row(lost.id))) == 0


def test_remove_lets_go_of_its_own_dedup_id_only(run, q, make):
    job = make.pending()
    run(command("SET", q.dedup(b"mine"), job.id))
    run(command("SET", q.dedup(b"other"), "JOB0NgWEfAEJfs"))
    run(jobs.add_log(q, job.id, b"line"))
    assert run(jobs.get_dedup_job_id(q, b"mine")) == job.id
    assert run(jobs.remove_job(q, job.id, b"mine")) is Word.ok
    assert run(jobs.get_dedup_job_id(q, b"mine")) is None
    assert run(jobs.get_dedup_job_id(q, b"other")) is not None
    assert run(command("EXISTS", q.logs(job.id))) == 0


def test_row_10_a_removed_job_leaves_its_lane_and_its_place(run, q, make):
    lane = a_lane()
    run(lanes.limit(q, lane, 1))
    held = make.active(lane)
    waiting = make.in_lane(lane)
    assert run(jobs.remove_job(q, held.id)) is Word.ok
    assert run(command("HLEN", q.gactive)) == 0
    assert run(command("LRANGE", q.ring, 0, 5)) == [lane]
    assert run(jobs.remove_job(q, waiting.id)) is Word.ok
    assert run(command("EXISTS", q.lane(lane))) == 0
    assert run(command("LLEN", q.ring)) == 0
    assert run(settle.complete(q, held.id, held.token)) is Word.gone


def test_row_11_a_grouped_job_is_reprocessed_into_its_lane(run, q, make):
    lane = a_lane()
    job = make.dead(lane)
    assert run(jobs.reprocess_job(q, job.id)) is Word.ok
    assert state(run, q, job) is State.in_lane
    assert run(command("LRANGE", q.ring, 0, 5)) == [lane]
    fields = run(row(q, job.id))
    assert b"last_error" not in fields
    assert fields[b"attempts"] == b"1"
    assert run(claims.lane_claim(q, HOUR)).attempts == 2


def test_row_11_a_flat_job_is_reprocessed_into_pending(run, q, make):
    job = make.dead()
    assert run(jobs.reprocess_job(q, job.id)) is Word.ok
    assert state(run, q, job) is State.pending
    assert run(jobs.reprocess_job(q, job.id)) is Word.not_dead


def test_a_dead_id_without_data_is_gone_and_stays_where_it_is(run, q, make):
    for job in (make.ghost(q.dead), make.orphan_row(q.dead)):
        assert run(jobs.reprocess_job(q, job.id)) is Word.gone
        assert run(score(q.dead, job.id)) == 0


def test_reschedule_moves_only_what_is_as_it_was_seen(run, q, make):
    job = make.scheduled()
    run(command("ZADD", q.schedule, "1700000000123.5", job.id))
    moved = jobs.reschedule(q, job.id, 5_000, b"1700000000123")
    assert run(moved) is Word.moved
    assert run(jobs.reschedule(q, job.id, 5_000, b"1700000000123.5")) is Word.ok
    assert run(score(q.schedule, job.id)) == 5_000
    assert run(jobs.reschedule(q, job.id, 5_000, b"1700000000123.5")) is Word.noop
    assert run(jobs.reschedule(q, job.id, 6_000)) is Word.ok
    assert run(jobs.reschedule(q, make.absent().id, 1)) is Word.gone
    with pytest.raises(InvalidError):
        next(jobs.reschedule(q, job.id, 2**53))


@pytest.mark.parametrize("odd", ["-inf", "-9000000000000000", "1e300"])
def test_any_score_can_be_mended_and_run(run, q, make, odd):
    mended, ran = make.scheduled(), make.scheduled()
    run(command("ZADD", q.schedule, odd, mended.id, odd, ran.id))
    assert run(jobs.reschedule(q, mended.id, 7)) is Word.ok
    assert run(jobs.run_now(q, ran.id)) is Word.ok
    assert state(run, q, ran) is State.pending


def test_run_now_moves_one_of_many_at_the_same_instant(run, q, make):
    made = [make.scheduled() for _ in range(5)]
    run(command("ZADD", q.schedule, *(word for job in made for word in (HOUR**2, job.id))))
    assert run(jobs.run_now(q, made[2].id)) is Word.ok
    assert run(jobs.run_now(q, made[2].id)) is Word.noop
    assert run(command("ZCARD", q.schedule)) == 4
    assert run(row(q, made[2].id))[b"state"] == b"pending"


def test_run_now_enters_the_lane_and_offers_it(run, q, make):
    lane = a_lane()
    job = make.scheduled(lane)
    assert run(jobs.run_now(q, job.id)) is Word.ok
    assert run(jobs.run_now(q, job.id)) is Word.noop
    assert run(command("LRANGE", q.ring, 0, 5)) == [lane]
    assert run(claims.lane_claim(q, HOUR)).id == job.id
    assert run(jobs.run_now(q, job.id)) is Word.noop


def test_what_has_no_row_is_neither_run_nor_moved_nor_touched(run, q, make):
    ghost = make.ghost(q.schedule)
    assert run(jobs.run_now(q, ghost.id)) is Word.gone
    assert run(jobs.reschedule(q, ghost.id, 5)) is Word.gone
    assert run(score(q.schedule, ghost.id)) == 0


def test_foreign_members_are_moved_run_and_removed_by_their_exact_bytes(run, q):
    def there(member):
        run(command("HSET", q.row(member), "state", "scheduled", "attempts", 0, "payload", "p"))
        run(command("ZADD", q.schedule, HOUR, member))

    for member in FOREIGN:
        there(member)
    for member in FOREIGN:
        assert run(jobs.reschedule(q, member, 9)) is Word.ok
        assert run(jobs.run_now(q, member)) is Word.ok
        assert run(score(q.pending, member)) == 0
        assert run(jobs.remove_member(q, "schedule", member)) is Word.gone
        assert run(jobs.remove_member(q, "pending", member)) is Word.ok
        assert run(command("EXISTS", q.row(member))) == 0
    assert run(command("ZCARD", q.schedule)) == 0


def test_a_member_that_names_another_s_key_takes_nothing_along(run, q, make):
    job = make.pending()
    run(jobs.add_log(q, job.id, b"line"))
    run(command("HSET", q.processed(job.id), "JOB0NgWEfAEJfs", "result"))
    for suffix in (b":logs", b":processed"):
        run(command("ZADD", q.dead, 0, job.id + suffix))
        assert run(jobs.remove_member(q, "dead", job.id + suffix)) is Word.ok
    assert run(jobs.get_job_logs(q, job.id)) == [b"line"]
    assert run(command("HLEN", q.processed(job.id))) == 1


def test_a_row_stays_while_another_set_names_it(run, q, make):
    job = make.pending()
    run(command("ZADD", q.dead, 0, job.id))
    assert run(jobs.remove_member(q, "dead", job.id)) is Word.ok
    assert state(run, q, job) is State.pending


def test_a_member_removed_from_a_lane_or_from_active_leaves_the_counts_right(run, q, make):
    lane = a_lane()
    held = make.active(lane)
    waiting = make.in_lane(lane)
    assert run(jobs.remove_member(q, "active", held.id)) is Word.ok
    assert run(command("HLEN", q.gactive)) == 0
    assert run(jobs.remove_member(q, "lane", waiting.id, lane)) is Word.ok
    assert run(command("LLEN", q.ring)) == 0
    assert run(row(q, waiting.id)) == {}
    with pytest.raises(InvalidError):
        next(jobs.remove_member(q, "repeat", b"x"))


def test_row_30_a_job_in_its_lane_is_told_apart(run, q, make):
    assert state(run, q, make.in_lane()) is State.in_lane
    assert state(run, q, make.unknown()) is State.unknown


def test_a_row_with_more_fields_than_engines_write_is_read_in_part(run, q, make):
    job = make.pending()
    more = [word for n in range(MOST_FIELDS) for word in (f"x{n}", "y")]
    run(command("HSET", q.row(job.id), *more))
    found = run(get_job(q, job.id))
    assert not found.complete
    assert found.value.fields == {b"state": b"pending", b"attempts": b"0", b"payload": b"work"}


def test_fields_that_are_no_number_are_none(run, q, make):
    job = make.pending()
    for text in ("abc", "-1", "", "1" * 30):
        run(command("HSET", q.row(job.id), "attempts", text))
        found = run(get_job(q, job.id)).value
        assert found.attempts is None
        assert found.fields[b"attempts"] == text.encode()


def test_browse_shows_the_newest_first_and_says_when_there_are_more(run, q, make):
    made = [make.pending().id for _ in range(4)]
    newest = run(browse(q, 2))
    assert (newest.value, newest.complete) == (made[:1:-1], False)
    assert run(browse(q, 9)).value == made[::-1]
    assert run(pending_size(q)).value == 4
