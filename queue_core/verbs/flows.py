"""Flows: a parent that is held until its children are done (protocol part 7).

Children may live in other queues and have children themselves. A flow of one queue is written
whole by one script. One over several queues is looked at first and then written level by level
from its root, so that every parent is held before its children can run; only a race with
another writer can stop it half-way, and then its root stays held.
"""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass

from queue_core import ids
from queue_core.errors import EchoMQError, InvalidError
from queue_core.keys import QueueKeys, found
from queue_core.numbers import whole
from queue_core.outcomes import Word
from queue_core.plans import Arg, Batch, Call, Plan, Reply
from queue_core.replies import word
from queue_core.scripts import script

MAX_DEPTH = 8
"""Levels of a flow, its root counted."""

PAGE = 200
"""Fields of a hash that one step of a read asks for."""

MOST_DELIVERED = 1000
"""Outbox entries that one delivery reads."""

_ADD = script("flow_add")
_FREE = script("reads/flow_free")
_DELIVER = script("flow_deliver")
_FAIL = script("flow_fail")


@dataclass(frozen=True, slots=True)
class FlowJob:
    """One job of a flow. `queue` is its own queue, by default its parent's. A child that dies
    fails its parent, or counts as done where `ignore_failure` is set."""

    id: bytes
    payload: bytes
    children: tuple["FlowJob", ...] = ()
    queue: QueueKeys | None = None
    ignore_failure: bool = False


@dataclass(frozen=True, slots=True)
class _Node:
    q: QueueKeys
    level: int
    id: bytes
    args: tuple[Arg, ...]


def add(q: QueueKeys, root: FlowJob) -> Plan[tuple[Word, bytes | None]]:
    """Write a flow whose root lives in `q` and has one child or more.

    Answers `(ok, None)`, or a refusal with the id it is about, nothing written: `kind`,
    `duplicate` (the id has a row), `flow_cycle` (the id stands twice), `flow_too_deep` (over 8
    levels). Raises `InvalidError` for an ill-formed id or a root without children, which would
    be held for ever.
    """
    if not root.children:
        raise InvalidError("a flow has at least one child")
    refusal, nodes = _unfold(q, root)
    if refusal:
        return refusal
    queues = _by_queue(nodes)
    if len(queues) > 1:
        checks = [
            _FREE.call((of[0].q.pending,), of[0].q.base, *(n.id for n in of)) for of in queues
        ]
        for reply in (yield Batch(tuple(checks))):
            if (refused := _refused(reply)) is not None:
                return refused
    for level in _levels(nodes) if len(queues) > 1 else [nodes]:
        writes = [
            _ADD.call((of[0].q.pending,), of[0].q.base, *_flat(of)) for of in _by_queue(level)
        ]
        for reply in (yield Batch(tuple(writes))):
            if (refused := _refused(reply)) is not None:
                return refused
    return Word.ok, None


def add_many(
    q: QueueKeys, roots: Iterable[FlowJob]
) -> Plan[list[tuple[Word, bytes | None] | InvalidError]]:
    """Write flows one after the other; the verdicts in their order, an ill-formed one as its
    fault. One that is refused stops no other."""
    verdicts: list[tuple[Word, bytes | None] | InvalidError] = []
    for root in roots:
        try:
            verdicts.append((yield from add(q, root)))
        except InvalidError as fault:
            verdicts.append(fault)
    return verdicts


def deliver(q: QueueKeys, batch: int) -> Plan[int]:
    """Tell parents what children of `q` left in its outbox, up to `batch` and never over 1000
    entries, oldest first; answers how many. Stops before an entry that it cannot read or deliver,
    which stays.

    An entry is removed by its value after it was delivered, so that several pumps of ours, or a
    crash in between, neither lose nor double one.
    """
    most = min(whole(batch, "a batch"), MOST_DELIVERED)
    entries = yield Call("LRANGE", (q.outbox,), (0, most - 1))
    calls: list[Call] = []
    for entry in entries:
        call = _delivery(entry)
        if call is None:
            break
        calls.append(call)
    if not calls:
        return 0
    delivered = 0
    for reply in (yield Batch(tuple(calls))):
        if isinstance(reply, EchoMQError):
            break
        delivered += 1
    if delivered:
        done = entries[:delivered]
        yield Batch(tuple(Call("LREM", (q.outbox,), (1, entry)) for entry in done))
    return delivered


def undelivered(q: QueueKeys, size: int = 100) -> Plan[list[tuple[bytes, bool]]]:
    """The oldest entries of the outbox, up to `size` and never over 1000, as they are, and whether
    each can be read: the first that cannot holds up all behind it (part 10, row 36)."""
    most = min(whole(size, "a page"), MOST_DELIVERED)
    entries = yield Call("LRANGE", (q.outbox,), (0, most - 1))
    return [(entry, _delivery(entry) is not None) for entry in entries]


def skip(q: QueueKeys, entry: bytes) -> Plan[Word]:
    """Take an entry that cannot be read out of the outbox, by its value, so that those behind it
    are delivered; an operator's choice, since a parent may wait for what it told. Answers `ok`,
    `gone` (it is not there) or `invalid` (it can be read; nothing changed)."""
    if _delivery(entry) is not None:
        return Word.invalid
    removed = yield Call("LREM", (q.outbox,), (1, entry))
    return Word.ok if removed else Word.gone


def dependencies(q: QueueKeys, job_id: bytes | str) -> Plan[int]:
    """How many children of a parent are outstanding; 0 where it is none or has gone."""
    return int((yield Call("GET", (q.dependencies(ids.check(job_id)),))) or 0)


def children_values(q: QueueKeys, job_id: bytes | str) -> Plan[dict[bytes, bytes]]:
    """The results of completed children, child id to result, read in pages."""
    return (yield from _hash(q.processed(ids.check(job_id))))


def ignored_failures(q: QueueKeys, job_id: bytes | str) -> Plan[dict[bytes, bytes]]:
    """The errors of children whose death the parent ignores, child id to error."""
    return (yield from _hash(q.unsuccessful(ids.check(job_id))))


def _hash(key: bytes) -> Plan[dict[bytes, bytes]]:
    fields: dict[bytes, bytes] = {}
    cursor: Arg = 0
    while True:
        cursor, flat = yield Call("HSCAN", (key,), (cursor, "COUNT", PAGE))
        fields.update(zip(flat[::2], flat[1::2], strict=True))
        if int(cursor) == 0:
            return fields


def _unfold(q: QueueKeys, root: FlowJob) -> tuple[tuple[Word, bytes | None] | None, list[_Node]]:
    """Every job of a flow, parents before their children; or why it is refused."""
    nodes: list[_Node] = []
    seen: set[bytes] = set()
    ahead: list[tuple[FlowJob, QueueKeys, _Node | None]] = [(root, q, None)]
    for job, home, parent in ahead:
        job_id = ids.check(job.id)
        level = parent.level + 1 if parent else 1
        if level > MAX_DEPTH:
            return (Word.flow_too_deep, job_id), []
        if job_id in seen:
            return (Word.flow_cycle, job_id), []
        seen.add(job_id)
        at = job.queue or home
        up, up_queue = (parent.id, parent.q.name) if parent else (b"", b"")
        policy = "id" if job.ignore_failure else "fp"
        elsewhere = up_queue if parent and up_queue != at.name else b""
        args = (job_id, job.payload, up, elsewhere, policy, len(job.children))
        nodes.append(node := _Node(at, level, job_id, args))
        ahead.extend((child, at, node) for child in job.children)
    return None, nodes


def _by_queue(nodes: Iterable[_Node]) -> list[list[_Node]]:
    homes: dict[bytes, list[_Node]] = {}
    for node in nodes:
        homes.setdefault(node.q.name, []).append(node)
    return list(homes.values())


def _levels(nodes: list[_Node]) -> Iterator[list[_Node]]:
    for level in range(1, nodes[-1].level + 1):
        yield [node for node in nodes if node.level == level]


def _flat(nodes: Iterable[_Node]) -> Iterator[Arg]:
    for node in nodes:
        yield from node.args


def _refused(reply: Reply) -> tuple[Word, bytes | None] | None:
    if isinstance(reply, EchoMQError):
        raise reply
    verdict = word(reply)
    return None if verdict is Word.ok else (verdict, reply[1])


def _delivery(entry: bytes) -> Call | None:
    """The script call that an outbox entry asks for, None for one that is malformed.

    A completion is `queue NUL parent NUL child NUL result`; a death is an empty field, `fail`,
    and the same with the policy before the error. Result and error may hold any byte.
    """
    death = entry.startswith(b"\0")
    if death and not entry.startswith(b"\0fail\0"):
        return None
    fields = entry[6:].split(b"\0", 4) if death else entry.split(b"\0", 3)
    if len(fields) != (5 if death else 4) or not ids.is_id(fields[1]):
        return None
    q = found(fields[0])
    if death:
        return _FAIL.call((q.row(fields[1]), q.pending, q.dead), q.base, *fields[1:])
    return _DELIVER.call((q.row(fields[1]), q.pending), q.base, *fields[1:])
