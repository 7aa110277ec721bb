"""The verbs of repeats and flows, and the reads, in the same shape as the other verbs."""

from __future__ import annotations

from random import Random

from queue_core.keys import QueueKeys
from queue_core.outcomes import Word
from queue_core.reads import counts, limits, metrics, pending
from queue_core.reads import jobs as job_reads
from queue_core.states import State
from queue_core.verbs import flows, lanes, repeats
from queue_core.verbs.flows import FlowJob
from tests.proof.administration import Administered
from tests.proof.model import Job, passed
from tests.proof.verbs import HOUR, NAMES
from tests.proof.world import FOREIGN, GROUPS, IDS, World, command, verb

JUNK = b"junk"
"""An outbox entry that nobody can read."""
LONG = 10**14
"""A period whose next slot lies beyond every clock, and so is known."""
STATES = {
    "pending": State.pending, "lane": State.in_lane, "active": State.active, "dead": State.dead,
    "schedule": State.scheduled, "held": State.awaiting_children,
}  # fmt: skip


# ---- repeats -------------------------------------------------------------------------------------


@verb(2)
def repeat_register(w: World, hand: Random) -> None:
    q, model = w.pick(hand)
    name, every, first = hand.choice(NAMES), hand.choice([HOUR, LONG]), hand.choice([0, HOUR])
    plan = repeats.register(q, name, every, b"template", first)
    expected = model.register(name, every, b"template", first)
    w.do(f"repeat_register {name!r} {every} {first}", plan, expected)


@verb(2)
def repeat_cancel(w: World, hand: Random) -> None:
    q, model = w.pick(hand)
    name = hand.choice(NAMES)
    w.do(f"repeat_cancel {name!r}", repeats.cancel(q, name), model.cancel(name))


@verb(2)
def repeat_due(w: World, hand: Random) -> None:
    q, model = w.pick(hand)
    expected = {name for name, one in model.repeats.items() if passed(one.score)}
    plan = repeats.due(q, 10)
    w.do("repeat_due", plan, expected, lambda answer: {one.name for one in answer})
    w.do("repeat_count", repeats.count(q), len(model.repeats))


@verb(2)
def repeat_advance(w: World, hand: Random) -> None:
    q, model = w.pick(hand)
    name, every = hand.choice(NAMES), hand.choice([1, LONG])
    plan = repeats.advance(q, name, every, 1000)
    w.do(f"repeat_advance {name!r} {every}", plan, model.advance(name, every, 1000))


@verb(2)
def repeat_fire(w: World, hand: Random) -> None:
    q, model = w.pick(hand)
    name, job_id, expected = hand.choice(NAMES), hand.choice(IDS), hand.choice([1000, 1001])
    plan = repeats.repeat_fire(q, name, str(expected), job_id)
    answer = model.fire(name, expected, job_id)
    w.do(f"repeat_fire {name!r} {expected} {job_id!r}", plan, answer)


@verb(2)
def repeat_run_now(w: World, hand: Random) -> None:
    q, model = w.pick(hand)
    name, job_id = hand.choice(NAMES), hand.choice(IDS)
    plan = repeats.run_now(q, name, job_id)
    w.do(f"repeat_run_now {name!r} {job_id!r}", plan, model.run_repeat(name, job_id))


@verb(2)
def repeat_pause(w: World, hand: Random) -> None:
    q, model = w.pick(hand)
    name, by = hand.choice(NAMES), hand.choice([b"ann", b"bob"])
    w.do(f"repeat_pause {name!r}", repeats.pause(q, name, by), model.park_repeat(name, by))


@verb(2)
def repeat_resume(w: World, hand: Random) -> None:
    q, model = w.pick(hand)
    name = hand.choice(NAMES)
    w.do(f"repeat_resume {name!r}", repeats.resume(q, name), model.unpark_repeat(name))


# ---- flows ---------------------------------------------------------------------------------------


def _flow(w: World, hand: Random) -> tuple[QueueKeys, FlowJob]:
    """A flow of two levels or three, over one queue or several."""
    q, _ = w.pick(hand)
    free = hand.sample(IDS, 5)
    elsewhere = hand.choice([q, q, *w.keys])
    wild = hand.random() < 0.02
    grandchildren = tuple(
        FlowJob(job_id, b"leaf", (), hand.choice([None, *w.keys]), hand.random() < 0.4)
        for job_id in free[3:] * (hand.random() < 0.4)
    )
    child_id = FOREIGN if wild else free[1]
    children = (
        FlowJob(child_id, b"child", grandchildren, elsewhere, hand.random() < 0.4),
        FlowJob(free[2], b"child", (), None, hand.random() < 0.4),
    )
    return q, FlowJob(free[0], b"root", children[: hand.randint(1, 2)])


@verb(2)
def flow_add(w: World, hand: Random) -> None:
    q, root = _flow(w, hand)
    expected = _write(w, q, root)
    w.do(f"flow_add in {q.name!r} {root}", flows.add(q, root), expected, alone=True)


@verb(1)
def flow_add_many(w: World, hand: Random) -> None:
    q, first = _flow(w, hand)
    roots = [first, _flow(w, hand)[1]]
    expected = [_write(w, q, root) for root in roots]
    w.do(f"flow_add_many in {q.name!r} {roots}", flows.add_many(q, roots), expected, alone=True)


def _write(w: World, q: QueueKeys, root: FlowJob) -> tuple[Word, bytes | None]:
    """What adding a flow does to the models: all of it or nothing."""
    nodes: list[tuple[FlowJob, Administered, Job | None]] = []
    ahead: list[tuple[FlowJob, QueueKeys, FlowJob | None, Administered | None]] = [
        (root, q, None, None)
    ]
    for one, home, parent, parent_home in ahead:
        at = one.queue or home
        model, row = w.models[at.name], {b"payload": one.payload}
        if parent and parent_home:
            row |= {b"parent": parent.id, b"parent_policy": b"id" if one.ignore_failure else b"fp"}
            row |= {b"parent_queue": parent_home.name} if parent_home is not model else {}
        nodes.append((one, model, Job(one.id, "held" if one.children else "pending", row)))
        ahead.extend((child, at, one, model) for child in one.children)
    homes = list(dict.fromkeys(model.name for _, model, _ in nodes))
    for one, model, _ in sorted(nodes, key=lambda node: homes.index(node[1].name)):
        if one.id[:3] != b"JOB":
            return Word.kind, one.id
        if one.id in model.jobs:
            return Word.duplicate, one.id
    for one, model, job in nodes:
        model.jobs[one.id] = job
        if one.children:
            model.flows.forget(one.id)
            model.flows.dependencies[one.id] = len(one.children)
    return Word.ok, None


@verb(2)
def flow_deliver(w: World, hand: Random) -> None:
    q, model = w.pick(hand)
    batch = hand.choice([1, 100])
    read = model.outbox[:batch]
    entries = read[: read.index(JUNK)] if JUNK in read else read
    model.outbox = model.outbox[len(entries) :]
    for entry in entries:
        if entry.startswith(b"\0"):
            home, *words = entry[6:].split(b"\0", 4)
            w.models[home].deliver_death(*words)
        else:
            home, *words = entry.split(b"\0", 3)
            w.models[home].fan_in(*words)
    w.do(f"flow_deliver {q.name!r} {batch}", flows.deliver(q, batch), len(entries), alone=True)


@verb(1)
def a_malformed_entry(w: World, hand: Random) -> None:
    """Somebody else writes into an outbox."""
    q, model = w.pick(hand)
    if JUNK in model.outbox:
        return
    model.outbox.append(JUNK)
    w.do("junk in the outbox", command("RPUSH", q.outbox, JUNK), len(model.outbox))


@verb(2)
def flow_skip(w: World, hand: Random) -> None:
    """An operator looks at what holds an outbox up, and takes it away."""
    q, model = w.pick(hand)
    expected = [(entry, entry != JUNK) for entry in model.outbox[:3]]
    w.do(f"undelivered {q.name!r}", flows.undelivered(q, 3), expected)
    word = Word.ok if JUNK in model.outbox else Word.gone
    model.outbox = [entry for entry in model.outbox if entry != JUNK]
    w.do(f"flow_skip {q.name!r}", flows.skip(q, JUNK), word)


# ---- reads ---------------------------------------------------------------------------------------


@verb(2)
def read_counts(w: World, hand: Random) -> None:
    q, model = w.pick(hand)
    w.do("get_counts", counts.get_counts(q), model.view(), lambda found: found.value)


@verb(2)
def read_job(w: World, hand: Random) -> None:
    q, model = w.pick(hand)
    job = model.jobs.get(job_id := hand.choice(IDS))
    state = STATES[job.place] if job else State.absent
    text = f"read {q.name!r} {job_id!r}"
    w.do(text, job_reads.get_job_state(q, job_id), state, lambda found: found.value)
    payload = job.row[b"payload"] if job else None
    stalled = job is not None and int(job.row.get(b"stalled", b"0")) > 0
    w.do(text, metrics.job_stalled(q, job_id), stalled)
    plan = job_reads.get_job(q, job_id)
    w.do(text, plan, payload, lambda found: found.value and found.value.payload)


@verb(2)
def read_lanes(w: World, hand: Random) -> None:
    q, model = w.pick(hand)
    depths = {group: len(model.at("lane", group)) for group in GROUPS}
    w.do("lane_depths", lanes.depths(q, GROUPS), depths)
    w.do("lane_depth", lanes.depth(q, GROUPS[0]), depths[GROUPS[0]])


@verb(2)
def read_queue(w: World, hand: Random) -> None:
    q, model = w.pick(hand)
    newest = [job.id for job in model.at("pending")][::-1][:3]
    w.do("browse", pending.browse(q, 3), newest, lambda found: found.value)
    plan = metrics.get_metrics(q, "completed")
    w.do("get_metrics", plan, model.completed, lambda found: found.value.count)
    most = int(model.meta.get(b"concurrency", b"0"))
    full = Word.rate if 0 < most <= len(model.at("active")) else Word.ok
    w.do("is_maxed", limits.is_maxed(q), full)
    size = len(model.at("pending"))
    w.do("pending_size", pending.pending_size(q), size, lambda found: found.value)


@verb(1)
def read_limits(w: World, hand: Random) -> None:
    q, model = w.pick(hand)
    names = (b"max", b"concurrency", b"py_window_ms")
    rate, most, window_ms = (int(model.meta.get(name, b"0")) for name in names)
    held = len(model.at("active"))
    enforced = b"py_enforce" in model.meta
    expected = (rate, most, window_ms, model.spent, held, enforced, model.spent > 0)
    w.do("limits", limits.limits(q), expected, lambda found: _bounds(found.value))
    w.do("global_rate_limit", limits.global_rate_limit(q), rate)
    w.do("rate_limit_ttl", limits.rate_limit_ttl(q), 0 < rate <= model.spent, bool)


def _bounds(seen: limits.Limits) -> tuple[int | bool, ...]:
    numbers = (seen.rate, seen.concurrency, seen.window_ms, seen.spent, seen.active)
    return *numbers, seen.enforced, seen.resets_in_ms > 0


@verb(2)
def read_flow(w: World, hand: Random) -> None:
    q, model = w.pick(hand)
    job_id = hand.choice(IDS)
    left = model.flows.dependencies.get(job_id, 0)
    w.do(f"dependencies {job_id!r}", flows.dependencies(q, job_id), left)
    values = dict(model.flows.processed.get(job_id, {}))
    w.do(f"children_values {job_id!r}", flows.children_values(q, job_id), values)
    ignored = dict(model.flows.unsuccessful.get(job_id, {}))
    w.do(f"ignored_failures {job_id!r}", flows.ignored_failures(q, job_id), ignored)
