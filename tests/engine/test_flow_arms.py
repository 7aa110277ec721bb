"""What a settle tells the parent of a flow (protocol parts 7.2 and 7.3)."""

from queue_core.keys import queue
from queue_core.outcomes import Word
from queue_core.reads.jobs import get_job_state
from queue_core.states import State
from queue_core.verbs import admission, claims, due, jobs, settle
from tests.builders import HOUR, a_lane, command, score


def state(run, q, job):
    return run(get_job_state(q, job.id)).value


def outbox(run, q):
    return run(command("LRANGE", q.outbox, 0, 20))


def test_the_last_child_releases_its_parent(run, q, make):
    parent = make.awaiting_children(2)
    one = make.held_child(parent)
    assert run(settle.complete(q, one.id, one.token, b"r1")) is Word.ok
    assert state(run, q, parent) is State.awaiting_children
    two = make.held_child(parent)
    assert run(settle.complete(q, two.id, two.token)) is Word.ok
    assert state(run, q, parent) is State.pending
    assert run(command("HGET", q.processed(parent.id), one.id)) == b"r1"
    assert run(command("HGET", q.processed(parent.id), two.id)) == two.id
    assert run(claims.claim(q, HOUR)).payload == b"parent"


def test_a_child_of_another_queue_writes_to_the_outbox(run, q, make):
    parent = make.absent()
    child = make.held_child(parent, parent_queue="other")
    assert run(settle.complete(q, child.id, child.token, b"a\x00b")) is Word.ok
    assert outbox(run, q) == [b"\x00".join((b"other", parent.id, child.id, b"a\x00b"))]


def test_a_parent_queue_that_is_its_own_is_served_at_once(run, q, make):
    parent = make.awaiting_children()
    child = make.held_child(parent, parent_queue=q.name.decode())
    run(settle.complete(q, child.id, child.token))
    assert state(run, q, parent) is State.pending
    assert outbox(run, q) == []


def test_a_dead_child_takes_its_parent_along(run, q, make):
    parent = make.awaiting_children(2)
    child = make.held_child(parent)
    assert run(settle.retry(q, child.id, child.token, 0, 1, b"boom")) is Word.dead
    assert state(run, q, parent) is State.dead
    assert run(command("HGET", q.failed(parent.id), child.id)) == b"boom"
    assert run(command("HGET", q.metrics_failed, "count")) == b"1"


def test_an_ignored_death_counts_as_finished(run, q, make):
    parent = make.awaiting_children(2)
    ignored = make.held_child(parent, "id")
    run(settle.retry(q, ignored.id, ignored.token, 0, 1, b"boom"))
    assert run(command("HGET", q.unsuccessful(parent.id), ignored.id)) == b"boom"
    assert state(run, q, parent) is State.awaiting_children
    other = make.held_child(parent)
    run(settle.complete(q, other.id, other.token))
    assert state(run, q, parent) is State.pending


def test_a_death_climbs_to_the_grandparent_by_the_outbox(run, q, make):
    root, node = make.absent(), make.awaiting_children()
    run(command("HSET", q.row(node.id), "parent", root.id, "parent_policy", "id"))
    leaf = make.held_child(node)
    run(settle.retry(q, leaf.id, leaf.token, 0, 1, b"boom\x00"))
    assert outbox(run, q) == [
        b"\x00".join((b"", b"fail", q.name, root.id, node.id, b"id", b"boom\x00"))
    ]


def test_a_death_in_another_queue_names_its_policy(run, q, make):
    parent = make.absent()
    for policy in ("fp", "id", "odd"):
        child = make.held_child(parent, policy, parent_queue="other")
        run(settle.retry(q, child.id, child.token, 0, 1, b"e"))
    written = [entry.split(b"\x00")[5] for entry in outbox(run, q)]
    assert written == [b"fp", b"id", b"fp"]


def test_row_08_a_reaped_child_completed_by_its_old_holder_is_counted(run, q, make):
    parent = make.awaiting_children()
    child = make.held_child(parent)
    run(command("ZADD", q.active, 1, child.id))
    run(due.reap(q))
    assert run(settle.complete(q, child.id, child.token, b"r")) is Word.ok
    assert state(run, q, parent) is State.pending
    assert run(command("HGET", q.processed(parent.id), child.id)) == b"r"


def test_row_08_a_reaped_child_of_another_queue_is_told(run, q, make):
    parent = make.absent()
    child = make.held_child(parent, parent_queue="other")
    run(command("ZADD", q.active, 1, child.id))
    run(due.reap(q))
    run(settle.complete(q, child.id, child.token, b"r"))
    assert len(outbox(run, q)) == 1


def test_row_13_a_stalled_child_tells_its_parent(run, q, make):
    parent = make.awaiting_children()
    child = make.held_child(parent)
    run(command("ZADD", q.active, 1, child.id))
    assert run(due.check_stalled(q)) == ([], [child.id])
    assert state(run, q, parent) is State.dead
    assert run(command("HGET", q.failed(parent.id), child.id)) == b"stalled"


def test_row_33_a_dead_parent_is_not_released_by_a_reprocessed_child(run, q, make):
    parent = make.awaiting_children()
    child = make.held_child(parent)
    run(settle.retry(q, child.id, child.token, 0, 1, b"e"))
    run(jobs.reprocess_job(q, child.id))
    again = run(claims.claim(q, HOUR))
    assert run(settle.complete(q, again.id, again.token)) is Word.ok
    assert state(run, q, parent) is State.dead
    assert run(score(q.pending, parent.id)) is None


def test_row_33_an_ignored_child_is_counted_once(run, q, make):
    parent = make.awaiting_children(2)
    child = make.held_child(parent, "id")
    run(settle.retry(q, child.id, child.token, 0, 1, b"e"))
    run(jobs.reprocess_job(q, child.id))
    again = run(claims.claim(q, HOUR))
    run(settle.complete(q, again.id, again.token, b"late"))
    assert state(run, q, parent) is State.awaiting_children
    assert run(command("GET", q.dependencies(parent.id))) == b"1"
    assert run(command("HGET", q.processed(parent.id), child.id)) == b"late"


def test_row_33_a_running_parent_is_left_to_its_holder(run, q, make):
    parent = make.awaiting_children(2)
    first = make.held_child(parent)
    run(settle.retry(q, first.id, first.token, 0, 1, b"e"))
    run(jobs.reprocess_job(q, parent.id))
    held = run(claims.claim(q, HOUR))
    assert held.id == parent.id
    second = make.held_child(parent)
    run(settle.retry(q, second.id, second.token, 0, 1, b"e2"))
    assert state(run, q, parent) is State.active
    assert run(score(q.dead, parent.id)) is None


def test_row_34_a_removed_parent_is_not_made_anew(run, q, make):
    parent = make.awaiting_children()
    done, failed, ignored = make.child(parent), make.child(parent), make.child(parent, "id")
    assert run(jobs.remove_job(q, parent.id)) is Word.ok
    assert len(run(claims.claim_batch(q, 3, HOUR))) == 3
    assert run(settle.complete(q, done.id, 1)) is Word.ok
    assert run(settle.retry(q, failed.id, 1, 0, 1, b"e")) is Word.dead
    assert run(settle.retry(q, ignored.id, 1, 0, 1, b"e")) is Word.dead
    assert state(run, q, parent) is State.absent
    assert run(command("ZCARD", q.pending)) == 0
    assert run(score(q.dead, parent.id)) is None


def test_a_queue_named_like_a_pattern_is_told_apart(run, make, q, mint):
    twin = queue(q.name.decode() + ".x")
    parent = make.absent()
    child = make.held_child(parent, parent_queue=twin.name.decode())
    run(settle.complete(q, child.id, child.token))
    assert outbox(run, q)[0].startswith(twin.name + b"\x00")


def test_a_parent_whose_key_is_no_row_keeps_no_child_from_settling(run, q, make):
    parent = make.absent()
    run(command("RPUSH", q.row(parent.id), "a line"))
    done, failed = make.held_child(parent), make.held_child(parent)
    assert run(settle.complete(q, done.id, done.token)) is Word.ok
    assert run(settle.retry(q, failed.id, failed.token, 0, 1, b"e")) is Word.dead
    assert run(command("LLEN", q.row(parent.id))) == 1
    assert run(score(q.pending, parent.id)) is None


def test_a_job_that_took_a_removed_parents_id_is_left_in_its_lane(run, q, make):
    parent = make.awaiting_children()
    child = make.held_child(parent)
    run(jobs.remove_job(q, parent.id))
    lane = a_lane()
    run(admission.lane_enqueue(q, lane, parent.id, b"another"))
    assert run(settle.retry(q, child.id, child.token, 0, 1, b"boom")) is Word.dead
    assert state(run, q, parent) is State.in_lane
    assert run(score(q.dead, parent.id)) is None
    assert run(claims.lane_claim(q, HOUR)).payload == b"another"
