"""Pages of pending, lanes, active and dead: the store's order, whole walks, bounded looks."""

from itertools import pairwise

import pytest

from queue_core.reads import window
from queue_core.reads.schedule import Cursor
from queue_core.verbs import claims, queues
from tests.builders import a_lane, command
from tests.engine.test_cost import cost, crowd

ODD_IDS = [
    b"10", b"9", b"a", b"Z", "\U0001f600".encode(), "\uff5e".encode(), b"\xff", b"123", b"007",
    b"1e5", b"null", b"__proto__", b"constructor", b"-", b"x" * 4096, b"ends ", b"nul\0byte", b"",
]  # fmt: skip


def walk(run, look, size):
    """Every member of a set, page by page."""
    seen, cursor = [], None
    while True:
        page = run(look("after", cursor, size)).value
        seen += [row.member for row in page.rows]
        if not page.more_after:
            return seen
        cursor = page.cursor("last")


def test_pending_stands_as_the_next_claims_take_it(run, q, make):
    made = [make.pending().id for _ in range(5)]
    page = run(window.pending(q)).value
    assert [row.rank for row in page.rows] == [0, 1, 2, 3, 4]
    assert [row.member for row in page.rows] == sorted(made)
    taken = [run(claims.claim(q, 60_000)).id for _ in range(5)]
    assert taken == [row.member for row in page.rows]


def test_foreign_ids_stand_in_the_order_of_the_store(run, q):
    """Byte order, whatever the server's locale, also where the cursor stands (case 32)."""
    for member in ODD_IDS:
        run(command("ZADD", q.pending, 0, member))
    order = run(command("ZRANGE", q.pending, 0, -1))
    assert walk(run, lambda *at: window.pending(q, *at), 3) == order == sorted(ODD_IDS)


def test_a_set_of_one_score_is_walked_once_each(run, q):
    """Five thousand with the same lease end; pages of 50 (case 6)."""
    for start in range(0, 5_000, 500):
        words = [word for at in range(start, start + 500) for word in (77, b"m%05d" % at)]
        run(command("ZADD", q.active, *words))
    seen = walk(run, lambda *at: window.active(q, *at), 50)
    assert len(seen) == len(set(seen)) == 5_000


@pytest.mark.parametrize("newest", [False, True])
def test_a_page_goes_on_where_it_was_left_though_its_end_is_gone(run, q, newest):
    look = window.dead if newest else window.pending
    key = q.dead if newest else q.pending
    members = [b"%02d" % at for at in range(9)]
    for member in members:
        run(command("ZADD", key, 0, member))
    first = run(look(q, size=3)).value
    for row in first.rows[1:]:
        run(command("ZREM", key, row.member))
    after = run(look(q, "after", first.cursor("last"), 3)).value
    shown = members[::-1] if newest else members
    assert [row.member for row in after.rows] == shown[3:6]
    assert [row.rank for row in after.rows] == [1, 2, 3]
    before = run(look(q, "before", after.cursor("first"), 3)).value
    assert [row.member for row in before.rows] == [shown[0], *shown[3:5]], "a whole first page"


def test_other_scores_in_pending_are_shown_where_a_claim_finds_them(run, q, make):
    late = make.pending().id
    run(command("ZADD", q.pending, "XX", 5, late))
    early = make.pending().id
    run(command("ZADD", q.pending, "-inf", b"odd"))
    page = run(window.pending(q, size=1)).value
    members = [page.rows[0].member]
    while page.more_after:
        page = run(window.pending(q, "after", page.cursor("last"), 1)).value
        members.append(page.rows[0].member)
    assert members == [b"odd", early, late]


def test_the_dead_come_newest_first_with_their_error(run, q, make):
    made = [make.dead().id for _ in range(3)]
    page = run(window.dead(q)).value
    assert [row.member for row in page.rows] == made[::-1]
    assert page.rows[0].job.last_error == b"gave up"
    assert page.rows[0].job.tries == 1


def test_jobs_of_a_lane(run, q, make):
    group = a_lane()
    made = [make.in_lane(group).id for _ in range(3)]
    page = run(window.lane(q, group)).value
    assert [row.member for row in page.rows] == made
    assert page.rows[0].job.group == group


def test_who_holds_a_job_is_told_only_while_the_token_is_its(run, q, make):
    made = make.pending()
    run(claims.claim(q, 60_000, b"host:7:a"))
    run(command("ZADD", q.workers, 123, b"host:7:a"))
    holder = run(window.active(q)).value.rows[0].holder
    assert (holder.worker, holder.heard_ms) == (b"host:7:a", 123)
    run(command("HSET", q.row(made.id), "attempts", 9))
    assert run(window.active(q)).value.rows[0].holder is None


def test_orphans_and_other_types_are_marked(run, q, make):
    orphan = make.ghost(q.pending).id
    broken = make.ghost(q.pending).id
    run(command("RPUSH", q.row(broken), b"x"))
    page = run(window.pending(q)).value
    assert {row.member: row.job.found for row in page.rows} == {
        orphan: "orphan", broken: "wrongtype",
    }  # fmt: skip


def test_a_paused_queue_is_told(run, q):
    run(queues.pause(q))
    page = run(window.pending(q)).value
    assert (page.paused, page.total, page.rows) == (True, 0, ())


def test_payloads_too_long_for_a_list_are_measured(run, q, make):
    whole = make.pending(b"a" * window.WHOLE_PAYLOAD).id
    cut = make.pending(b"b" * (window.WHOLE_PAYLOAD + 1)).id
    huge = make.pending(b"c" * 70_000).id
    jobs = {row.member: row.job for row in run(window.pending(q)).value.rows}
    assert len(jobs[whole].payload_head) == jobs[whole].payload_size
    assert len(jobs[cut].payload_head) == window.WHOLE_PAYLOAD < jobs[cut].payload_size
    assert (jobs[huge].payload_head, jobs[huge].payload_size) == (b"", 70_000)


def test_errors_too_long_for_a_list_are_measured(run, q, make):
    made = make.dead()
    run(command("HSET", q.row(made.id), "last_error", b"e" * 70_000))
    job = run(window.dead(q)).value.rows[0].job
    assert (job.last_error, job.error_size) == (None, 70_000)


@pytest.mark.parametrize("name", ["pending", "active", "dead"])
def test_a_page_costs_what_it_shows(run, q, name):
    """One round trip, and commands bounded by the page, wherever in a crowd it lies."""
    look, key = getattr(window, name), getattr(q, name)
    run(look(q))
    crowd(run, q, key)
    middle = Cursor("1500", b"ZZZ%011d" % 1499)
    trips, commands = cost(run, look(q, "after", middle, 10))
    assert trips == 1
    assert commands <= 10 * 6 + 30


def test_pages_follow_without_gap_or_overlap(run, q):
    crowd(run, q, q.pending)
    seen = walk(run, lambda *at: window.pending(q, *at), 700)
    assert len(seen) == 3000
    assert all(left < right for left, right in pairwise(seen))
