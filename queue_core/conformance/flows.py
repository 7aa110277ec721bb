"""Flows: parents held until their children are done or have failed (scenarios 47 to 55)."""

from queue_core.conformance.stage import Chapter, Stage
from queue_core.keys import QueueKeys
from queue_core.outcomes import Word
from queue_core.verbs import flows, settle
from queue_core.verbs.flows import FlowJob

chapter = Chapter()

HELD = "awaiting_children"


def _leaf(s: Stage, q: QueueKeys | None = None, ignored: bool = False) -> FlowJob:
    return FlowJob(s.mint(), b"child", queue=q, ignore_failure=ignored)


def _over(
    s: Stage, *children: FlowJob, q: QueueKeys | None = None, ignored: bool = False
) -> FlowJob:
    return FlowJob(s.mint(), b"P", children, q, ignored)


def _add(s: Stage, root: FlowJob, q: QueueKeys | None = None) -> None:
    s.expect("add", s.run(flows.add(q or s.q, root)), (Word.ok, None))


def _complete(s: Stage, job: FlowJob, q: QueueKeys | None = None, result: bytes = b"") -> None:
    """Claim the only claimable job and complete it, which is this one."""
    lease = s.held(q=q)
    s.expect("claimed", lease.id, job.id)
    word = s.run(settle.complete(q or s.q, lease.id, lease.token, result or b"r-" + lease.id))
    s.expect("complete", word, Word.ok)


def _kill(s: Stage, job: FlowJob, q: QueueKeys | None = None) -> None:
    """Claim jobs until this one is, and fail it for good."""
    lease = s.held(q=q)
    s.expect("claimed", lease.id, job.id)
    word = s.run(settle.retry(q or s.q, lease.id, lease.token, 0, 1, "boom"))
    s.expect("retry", word, Word.dead)


def _left(s: Stage, job: FlowJob, q: QueueKeys | None = None) -> int:
    return s.run(flows.dependencies(q or s.q, job.id))


def _is_held(s: Stage, job: FlowJob, q: QueueKeys | None = None) -> None:
    at = q or s.q
    s.state(job.id, HELD, at)
    s.expect("the parent in pending", s.score(at.pending, job.id), None)


def _is_free(s: Stage, job: FlowJob, q: QueueKeys | None = None) -> None:
    at = q or s.q
    s.expect("outstanding", _left(s, job, at), 0)
    s.state(job.id, "pending", at)
    s.expect("the parent's score", s.score(at.pending, job.id), 0.0)


def _values(s: Stage, job: FlowJob, q: QueueKeys | None = None) -> dict[bytes, bytes]:
    return s.run(flows.children_values(q or s.q, job.id))


def _failed(s: Stage, job: FlowJob, q: QueueKeys | None = None) -> dict[bytes, bytes]:
    flat = s.ask("HGETALL", (q or s.q).failed(job.id))
    return dict(zip(flat[::2], flat[1::2], strict=True))


def _outbox(s: Stage, q: QueueKeys | None = None) -> list[bytes]:
    return list(s.ask("LRANGE", (q or s.q).outbox, 0, 100))


def _deliver(s: Stage, expected: int, q: QueueKeys | None = None) -> None:
    s.expect("delivered", s.run(flows.deliver(q or s.q, 100)), expected)


def _is_dead(s: Stage, job: FlowJob, by: FlowJob, q: QueueKeys | None = None) -> None:
    at = q or s.q
    s.state(job.id, "dead", at)
    s.expect("dead score", s.score(at.dead, job.id), 0.0)
    s.expect("failed children", _failed(s, job, at), {by.id: b"boom"})


@chapter.scenario(47)
def flow_add(s: Stage) -> None:
    """A parent is held while its children can be claimed."""
    first, second = _leaf(s), _leaf(s)
    root = _over(s, first, second)
    _add(s, root)
    s.expect("dependencies", s.ask("GET", s.q.dependencies(root.id)), b"2")
    _is_held(s, root)
    s.expect("claims", [s.held().id, s.held().id], [first.id, second.id])


@chapter.scenario(48)
def flow_fanin(s: Stage) -> None:
    """The last child frees its parent; a child counts once."""
    first, second = _leaf(s), _leaf(s)
    root = _over(s, first, second)
    _add(s, root)
    _complete(s, first)
    s.expect("again", s.run(settle.complete(s.q, first.id, "1")), Word.gone)
    s.expect("outstanding", _left(s, root), 1)
    _is_held(s, root)
    _complete(s, second)
    s.expect("processed", set(_values(s, root)), {first.id, second.id})
    _is_free(s, root)
    lease = s.held()
    s.expect("claim", (lease.id, lease.payload, lease.attempts), (root.id, b"P", 1))


@chapter.scenario(49)
def flow_children_values(s: Stage) -> None:
    """Children's results are read as often as one likes."""
    first, second = _leaf(s), _leaf(s)
    root = _over(s, first, second)
    _add(s, root)
    s.expect("before", (_values(s, root), _left(s, root)), ({}, 2))
    wanted: dict[bytes, bytes] = {}
    for left, child in ((1, first), (0, second)):
        _complete(s, child)
        wanted[child.id] = b"r-" + child.id
        for _ in range(2):
            s.expect("values", (_values(s, root), _left(s, root)), (wanted, left))


@chapter.scenario(50)
def flow_cross_queue(s: Stage) -> None:
    """A child elsewhere tells its parent through its queue's outbox, once."""
    far = s.sub("xq")
    child = _leaf(s, far)
    root = _over(s, child)
    _add(s, root)
    _complete(s, child, far)
    told = _outbox(s, far)
    s.expect("outbox", len(told), 1)
    s.expect("active", s.size(far.active), 0)
    _is_held(s, root)
    _deliver(s, 1, far)
    _is_free(s, root)
    s.expect("values", _values(s, root), {child.id: b"r-" + child.id})
    s.ask("RPUSH", far.outbox, told[0])
    _deliver(s, 1, far)
    _is_free(s, root)
    s.expect("values after", _values(s, root), {child.id: b"r-" + child.id})
    s.expect("claim", s.held().id, root.id)
    s.finds_nothing("second claim")


@chapter.scenario(51)
def flow_fail_parent(s: Stage) -> None:
    """A child's death kills its parent, at once or by the outbox."""
    child = _leaf(s)
    root = _over(s, child)
    _add(s, root)
    _kill(s, child)
    _is_dead(s, root, child)
    far = s.sub("xq")
    child = _leaf(s, far)
    root = _over(s, child)
    _add(s, root)
    _kill(s, child, far)
    told = _outbox(s, far)
    s.expect("outbox", len(told), 1)
    s.state(child.id, "dead", far)
    _is_held(s, root)
    s.expect("outstanding", _left(s, root), 1)
    _deliver(s, 1, far)
    _is_dead(s, root, child)
    s.ask("RPUSH", far.outbox, told[0])
    _deliver(s, 1, far)
    _is_dead(s, root, child)


@chapter.scenario(52)
def flow_ignore_dep(s: Stage) -> None:
    """A death that the parent ignores counts as done."""
    first, second = _leaf(s, ignored=True), _leaf(s)
    root = _over(s, first, second)
    _add(s, root)
    _kill(s, first)
    s.expect("outstanding", _left(s, root), 1)
    _complete(s, second)
    _is_free(s, root)
    s.expect("ignored", s.run(flows.ignored_failures(s.q, root.id)), {first.id: b"boom"})
    s.expect("values", set(_values(s, root)), {second.id})
    s.expect("failed", _failed(s, root), {})
    s.expect("ignored of nobody", s.run(flows.ignored_failures(s.q, s.mint())), {})
    s.expect("claim", s.held().id, root.id)


@chapter.scenario(53)
def flow_add_bulk(s: Stage) -> None:
    """One bad flow stops no other. It is held for ever, or better, nothing of it is written."""
    good = [_over(s, _leaf(s)) for _ in range(2)]
    bad = _over(s, FlowJob(s.mint("ORD"), b"x", queue=s.sub("xq")))
    verdicts = s.run(flows.add_many(s.q, [good[0], bad, good[1]]))
    words = [one[0] if isinstance(one, tuple) else one for one in verdicts]
    s.expect("verdicts", words, [Word.ok, Word.kind, Word.ok])
    for root in good:
        _is_held(s, root)
    left = s.field(bad.id, "state")
    s.holds("the bad parent is held or absent", left in (HELD.encode(), None), left)
    s.expect("claims", [s.held().id, s.held().id], [root.children[0].id for root in good])
    s.finds_nothing("third claim")


@chapter.scenario(54)
def flow_grandchild(s: Stage) -> None:
    """Completion climbs level by level, in one queue and over three."""
    for mid, far in ((s.q, s.q), (s.sub("mid"), s.sub("far"))):
        leaf = _leaf(s, far)
        node = _over(s, leaf, q=mid)
        root = _over(s, node)
        _add(s, root)
        _is_held(s, node, mid)
        _is_held(s, root)
        for child, at, parent, up in ((leaf, far, node, mid), (node, mid, root, s.q)):
            _complete(s, child, at)
            if at is not up:
                _is_held(s, parent, up)
                _deliver(s, 1, at)
            _is_free(s, parent, up)
            s.expect("values", _values(s, parent, up), {child.id: b"r-" + child.id})
        _complete(s, root)


@chapter.scenario(55)
def flow_grandchild_fail(s: Stage) -> None:
    """Death climbs one level a delivery, until a parent ignores it."""
    leaf = _leaf(s)
    node = _over(s, leaf)
    root = _over(s, node)
    _add(s, root)
    _kill(s, leaf)
    _is_dead(s, node, leaf)
    told = _outbox(s)
    _deliver(s, 1)
    _is_dead(s, root, node)
    s.ask("RPUSH", s.q.outbox, told[0])
    _deliver(s, 1)
    _is_dead(s, root, node)
    _four_levels(s)
    _over_three_queues(s)
    _ignored_at_the_top(s)


def _four_levels(s: Stage) -> None:
    leaf = _leaf(s)
    low = _over(s, leaf)
    high = _over(s, low)
    root = _over(s, high)
    _add(s, root)
    _kill(s, leaf)
    _is_dead(s, low, leaf)
    for parent, child in ((high, low), (root, high)):
        _is_held(s, parent)
        _deliver(s, 1)
        _is_dead(s, parent, child)
    _deliver(s, 0)


def _over_three_queues(s: Stage) -> None:
    mid, far = s.sub("mid"), s.sub("far")
    leaf = _leaf(s, far)
    node = _over(s, leaf, q=mid)
    root = _over(s, node)
    _add(s, root)
    _kill(s, leaf, far)
    for child, at, parent, up in ((leaf, far, node, mid), (node, mid, root, s.q)):
        _is_held(s, parent, up)
        told = _outbox(s, at)
        s.expect("outbox", len(told), 1)
        _deliver(s, 1, at)
        _is_dead(s, parent, child, up)
        s.ask("RPUSH", at.outbox, told[0])
        _deliver(s, 1, at)
        _is_dead(s, parent, child, up)


def _ignored_at_the_top(s: Stage) -> None:
    leaf = _leaf(s)
    node = _over(s, leaf, ignored=True)
    root = _over(s, node)
    _add(s, root)
    _kill(s, leaf)
    _is_dead(s, node, leaf)
    _deliver(s, 1)
    _is_free(s, root)
    s.expect("ignored", s.run(flows.ignored_failures(s.q, root.id)), {node.id: b"boom"})
    s.expect("failed", _failed(s, root), {})
