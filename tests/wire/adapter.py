"""Every operation of the vectors as a plan over our verbs, answering as the vectors write it."""

# ruff: noqa: A001, A002 - arguments are named as the vectors name them

from collections.abc import Iterable
from typing import Any

from queue_core.errors import EchoMQError, InvalidError
from queue_core.jobs import Lease
from queue_core.keys import QueueKeys, found
from queue_core.outcomes import Word
from queue_core.plans import Plan
from queue_core.reads import counts as counting
from queue_core.reads import jobs as looking
from queue_core.reads import limits, metrics, pending
from queue_core.verbs import (
    admission,
    claims,
    due,
    flows,
    jobs,
    lanes,
    locks,
    queues,
    repeats,
    settle,
)
from tests.wire.values import Json, raw, written

DONE = {Word.ok, Word.noop}
EMPTY: Json = {"empty": True}


def ok(value: Json = None) -> Json:
    """Success."""
    return {"ok": value}


def said(word: Word, *fine: Word) -> Json:
    """A verdict that carries its own name where it is one of `fine`, null where it only says
    that it is done, else a refusal."""
    if word in fine:
        return ok(word.value)
    return ok() if word in DONE else {"error": word.value}


def lease(job: Lease) -> Json:
    """A claim, with its lane where it came from one."""
    value = {"id": job.id.decode(), "payload": written(job.payload), "attempts": job.attempts}
    return value if job.group is None else {**value, "group": job.group.decode()}


def leases(held: list[Lease]) -> Json:
    """Several claims, or empty."""
    return ok([lease(job) for job in held]) if held else EMPTY


def texts(values: Iterable[bytes]) -> list[str]:
    """Ids as text."""
    return [value.decode() for value in values]


def mapping(values: dict[bytes, bytes]) -> Json:
    """Fields and values."""
    return {name.decode(): written(value) for name, value in values.items()}


def answer(op: str, args: dict[str, Json]) -> Plan[Json]:
    """The reply to one step. What the gate refuses before anything is sent is `invalid`."""
    words = dict(args)
    try:
        return (yield from getattr(Adapter(found(words.pop("queue"))), op)(**words))
    except InvalidError:
        return {"error": "invalid"}


class Adapter:
    """The operations on one queue."""

    def __init__(self, q: QueueKeys) -> None:
        self.q = q

    # admission, claim, settlement

    def enqueue(self, id: str, payload: Json) -> Plan[Json]:
        word = yield from admission.enqueue(self.q, id, raw(payload))
        return said(word, Word.enqueued, Word.duplicate)

    def enqueue_at(self, id: str, payload: Json, run_at_ms: int) -> Plan[Json]:
        word = yield from admission.enqueue_at(self.q, id, raw(payload), run_at_ms)
        return said(word, Word.scheduled, Word.duplicate)

    def enqueue_in(self, id: str, payload: Json, delay_ms: int) -> Plan[Json]:
        word = yield from admission.enqueue_in(self.q, id, raw(payload), delay_ms)
        return said(word, Word.scheduled, Word.duplicate)

    def enqueue_many(self, items: list[Json]) -> Plan[Json]:
        words = yield from admission.enqueue_many(
            self.q, [(item["id"], raw(item["payload"])) for item in items]
        )
        return ok([self._item(word) for word in words])

    def _item(self, word: Word | EchoMQError) -> Json:
        if isinstance(word, EchoMQError):
            raise word
        fine = word in (Word.enqueued, Word.duplicate)
        return word.value if fine else {"error": word.value}

    def claim(self, lease_ms: int) -> Plan[Json]:
        held = yield from claims.claim(self.q, lease_ms)
        return EMPTY if held is None else ok(lease(held))

    def claim_batch(self, size: int, lease_ms: int) -> Plan[Json]:
        return leases((yield from claims.claim_batch(self.q, size, lease_ms)))

    def complete(self, id: str, token: int, result: Json = None) -> Plan[Json]:
        text = None if result is None else raw(result)
        return said((yield from settle.complete(self.q, id, str(token), text)))

    def retry(
        self, id: str, token: int, delay_ms: int, max_attempts: int, error: Json
    ) -> Plan[Json]:
        word = yield from settle.retry(self.q, id, str(token), delay_ms, max_attempts, raw(error))
        return said(word, Word.scheduled, Word.dead)

    def delay(self, id: str, token: int, ms: int, mode: Any = "in") -> Plan[Json]:
        return said((yield from settle.delay(self.q, id, str(token), ms, mode)))

    def promote(self, batch: int) -> Plan[Json]:
        return ok((yield from due.promote(self.q, batch)))

    def reap(self) -> Plan[Json]:
        return ok((yield from due.reap(self.q)))

    def extend_lock(self, id: str, token: int, lease_ms: int) -> Plan[Json]:
        return said((yield from settle.extend_lock(self.q, id, str(token), lease_ms)))

    def extend_locks(self, held: list[list[Any]], lease_ms: int) -> Plan[Json]:
        pairs = [(id, str(token)) for id, token in held]
        return ok(texts((yield from settle.extend_locks(self.q, pairs, lease_ms))))

    def browse(self, n: int) -> Plan[Json]:
        return ok(texts((yield from pending.browse(self.q, n)).value))

    def pending_size(self) -> Plan[Json]:
        return ok((yield from pending.pending_size(self.q)).value)

    # one job

    def update_data(self, id: str, payload: Json) -> Plan[Json]:
        return said((yield from jobs.update_data(self.q, id, raw(payload))))

    def update_progress(self, id: str, progress: Json) -> Plan[Json]:
        return said((yield from jobs.update_progress(self.q, id, raw(progress))))

    def add_log(self, id: str, line: Json, keep: int = 0) -> Plan[Json]:
        kept = yield from jobs.add_log(self.q, id, raw(line), keep)
        return said(kept) if isinstance(kept, Word) else ok(kept)

    def get_job_logs(self, id: str) -> Plan[Json]:
        lines = yield from jobs.get_job_logs(self.q, id)
        return said(lines) if isinstance(lines, Word) else ok([written(x) for x in lines])

    def remove_job(self, id: str, dedup_id: str | None = None) -> Plan[Json]:
        return said((yield from jobs.remove_job(self.q, id, dedup_id)))

    def reprocess_job(self, id: str) -> Plan[Json]:
        return said((yield from jobs.reprocess_job(self.q, id)))

    def get_job(self, id: str) -> Plan[Json]:
        row = yield from looking.get_job(self.q, id)
        return {"absent": True} if row.value is None else ok(mapping(row.value.fields))

    def get_job_state(self, id: str) -> Plan[Json]:
        return ok((yield from looking.get_job_state(self.q, id)).value.value)

    def get_dedup_job_id(self, dedup_id: str) -> Plan[Json]:
        owner = yield from jobs.get_dedup_job_id(self.q, dedup_id)
        return {"absent": True} if owner is None else ok(owner.decode())

    def stalled_check(self, max_stalled: int = 1, limit: int = 100) -> Plan[Json]:
        recovered, dead = yield from due.check_stalled(self.q, max_stalled, limit)
        return ok({"recovered": texts(recovered), "dead": texts(dead)})

    def job_stalled(self, id: str) -> Plan[Json]:
        return ok((yield from metrics.job_stalled(self.q, id)))

    # lanes

    def lane_enqueue(self, group: str, id: str, payload: Json) -> Plan[Json]:
        word = yield from admission.lane_enqueue(self.q, group, id, raw(payload))
        return said(word, Word.enqueued, Word.duplicate)

    def lane_claim(self, lease_ms: int) -> Plan[Json]:
        held = yield from claims.lane_claim(self.q, lease_ms)
        return EMPTY if held is None else ok(lease(held))

    def lane_wclaim(self, lease_ms: int) -> Plan[Json]:
        return leases((yield from claims.lane_claim_weighted(self.q, lease_ms)))

    def lane_bclaim(self, lease_ms: int) -> Plan[Json]:
        return leases((yield from claims.lane_claim_batch(self.q, lease_ms)))

    def lane_weight(self, group: str, weight: int) -> Plan[Json]:
        return said((yield from lanes.weight(self.q, group, weight)))

    def lane_limit(self, group: str, limit: int) -> Plan[Json]:
        return said((yield from lanes.limit(self.q, group, limit)))

    def lane_pause(self, group: str) -> Plan[Json]:
        return said((yield from lanes.pause(self.q, group)))

    def lane_resume(self, group: str) -> Plan[Json]:
        return said((yield from lanes.resume(self.q, group)))

    def lane_reassign(self, id: str, group: str) -> Plan[Json]:
        word = yield from lanes.reassign(self.q, id, group)
        return said(word, Word.reassigned, Word.noop)

    def lane_drain(self, group: str) -> Plan[Json]:
        return ok((yield from lanes.drain(self.q, group)))

    def lane_reap_group(self, group: str, limit: int = 100) -> Plan[Json]:
        return ok((yield from due.reap_group(self.q, group, limit)))

    def lane_depth(self, group: str) -> Plan[Json]:
        return ok((yield from lanes.depth(self.q, group)))

    def lane_depths(self, groups: list[str]) -> Plan[Json]:
        depths = yield from lanes.depths(self.q, groups)
        return ok({name.decode(): waiting for name, waiting in depths.items()})

    # whole queue

    def queue_pause(self) -> Plan[Json]:
        return said((yield from queues.pause(self.q)))

    def queue_resume(self) -> Plan[Json]:
        return said((yield from queues.resume(self.q)))

    def queue_drain(self, include_schedule: bool = False) -> Plan[Json]:
        return ok((yield from queues.drain(self.q, include_schedule)))

    def queue_obliterate(self, force: bool = False, budget: int = 1000) -> Plan[Json]:
        word, _ = yield from queues.obliterate(self.q, force, budget)
        return said(word, Word.more)

    def get_counts(self, states: list[str]) -> Plan[Json]:
        counts = yield from counting.get_counts(self.q, states)
        return said(counts) if isinstance(counts, Word) else ok(counts.value)

    def get_metrics(self, which: Any) -> Plan[Json]:
        read = yield from metrics.get_metrics(self.q, which)
        return ok({"count": read.value.count, "data_points": read.value.data_points})

    def get_rate_limit_ttl(self, max_jobs: int = 0) -> Plan[Json]:
        return ok((yield from limits.rate_limit_ttl(self.q, max_jobs)))

    def get_global_rate_limit(self) -> Plan[Json]:
        return ok((yield from limits.global_rate_limit(self.q)))

    def is_maxed(self) -> Plan[Json]:
        return said((yield from limits.is_maxed(self.q)))

    # repeatables

    def repeat_register(
        self, name: str, every_ms: int, template: Json, first_in_ms: int = 0
    ) -> Plan[Json]:
        word = yield from repeats.register(self.q, name, every_ms, raw(template), first_in_ms)
        return said(word, Word.registered, Word.exists)

    def repeat_cancel(self, name: str) -> Plan[Json]:
        word = yield from repeats.cancel(self.q, name)
        return said(word, Word.cancelled, Word.absent)

    def repeat_due(self, limit: int) -> Plan[Json]:
        return ok(
            [
                {
                    "name": one.name.decode(),
                    "every_ms": None if one.every_ms is None else written(one.every_ms),
                    "template": None if one.template is None else written(one.template),
                }
                for one in (yield from repeats.due(self.q, limit))
            ]
        )

    def repeat_advance(self, name: str, every_ms: int) -> Plan[Json]:
        word = yield from repeats.advance(self.q, name, every_ms)
        return said(word, Word.advanced, Word.absent)

    def repeat_count(self) -> Plan[Json]:
        return ok((yield from repeats.count(self.q)))

    # flows

    def flow_add(self, parent: Json, children: list[Json]) -> Plan[Json]:
        root = flows.FlowJob(
            parent["id"].encode(), raw(parent["payload"]), tuple(map(_child, children))
        )
        word, _ = yield from flows.add(self.q, root)
        if word is not Word.ok:
            return {"error": word.value}
        if any(child.children for child in root.children):
            return ok({"tree": _tree(root)})
        return ok({"parent": root.id.decode(), "children": texts(c.id for c in root.children)})

    def flow_deliver(self, batch: int) -> Plan[Json]:
        return ok((yield from flows.deliver(self.q, batch)))

    def flow_dependencies(self, id: str) -> Plan[Json]:
        return ok((yield from flows.dependencies(self.q, id)))

    def flow_children_values(self, id: str) -> Plan[Json]:
        return ok(mapping((yield from flows.children_values(self.q, id))))

    def flow_ignored_failures(self, id: str) -> Plan[Json]:
        return ok(mapping((yield from flows.ignored_failures(self.q, id))))

    # held jobs

    def lock_track(self, id: str, token: int, marker_ttl_ms: int) -> Plan[Json]:
        return said((yield from locks.lock_track(self.q, id, str(token), marker_ttl_ms)))

    def lock_untrack(self, id: str) -> Plan[Json]:
        return said((yield from locks.lock_untrack(self.q, id)))

    def lock_beat(self, held: list[list[Any]], lease_ms: int, marker_ttl_ms: int) -> Plan[Json]:
        pairs = [(id, str(token)) for id, token in held]
        dropped = yield from locks.lock_beat(self.q, pairs, lease_ms, marker_ttl_ms)
        return ok({"extended": len(held) - len(dropped), "dropped": texts(dropped)})


def _child(spec: Json) -> flows.FlowJob:
    queue = spec.get("queue")
    return flows.FlowJob(
        spec["id"].encode(),
        raw(spec["payload"]),
        tuple(map(_child, spec.get("children", ()))),
        found(queue) if queue else None,
        spec.get("ignore_dependency_on_failure", False),
    )


def _tree(job: flows.FlowJob) -> Json:
    return [job.id.decode(), [_tree(child) for child in job.children]]
