"""What another engine of the wire may find in a queue, and what would surprise it."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator
from typing import Any

from tests.proof.keyspace import SETS, Keyspace

TYPES = {
    rb"pending|active|schedule|dead|repeat|g:\w{14}:pending": b"zset",
    rb"ring|wake|flow:outbox|job:\w{14}:logs": b"list",
    rb"paused": b"set",
    rb"glimit|gactive|gweight|meta|metrics:(completed|failed)|repeat:.+": b"hash",
    rb"job:\w{14}|job:\w{14}:(processed|failed|unsuccessful)": b"hash",
    rb"limiter|de:[\w.-]+|job:\w{14}:(lock|dependencies)": b"string",
    rb"stream:[\w.-]+:archived": b"string",
    rb"stream:[\w.-]+": b"stream",
}
"""The keys of docs/wire.md, part 2.1."""

OURS = {
    rb"workers": b"zset", rb"worker:.+": b"hash", rb"py:runs:.+": b"list",
    rb"py:parked:.+": b"stream",
}  # fmt: skip
"""The keys of our own, which it never reads."""

FIELDS = {
    b"state", b"attempts", b"payload", b"group", b"last_error", b"progress", b"stalled", b"parent",
    b"parent_queue", b"parent_policy", b"lock",
}  # fmt: skip
STATES = {b"pending", b"active", b"scheduled", b"dead", b"awaiting_children"}
SETTINGS = {b"paused", b"concurrency", b"max"}
RECORD = {b"every_ms", b"template"}


def surprises(space: Keyspace) -> Iterator[str]:
    """What no engine of the wire would have left, in words."""
    for key, kind in space.types.items():
        fits = [of for names, of in (TYPES | OURS).items() if re.fullmatch(names, key)]
        if kind not in fits:
            yield f"the key {key!r} is a {kind!r}"
            return
    yield from _fields(space)
    yield from _scores(space)
    yield from _lists(space)


def _unknown(fields: dict[bytes, bytes], known: set[bytes]) -> set[bytes]:
    """Fields that are neither the wire's nor ours by their prefix."""
    return {name for name in fields.keys() - known if not name.startswith(b"py_")}


def _fields(space: Keyspace) -> Iterator[str]:
    for job_id, row in space.rows.items():
        if _unknown(row, FIELDS) or row.get(b"state") not in STATES or b"payload" not in row:
            yield f"{job_id!r} has the row {row}"
        elif not row[b"attempts"].isdigit():
            yield f"{job_id!r} was tried {row[b'attempts']!r} times"
    for key, value in space.keys.items():
        known: set[bytes] | None = SETTINGS if key == b"meta" else None
        known = RECORD if key.startswith(b"repeat:") else known
        if known is not None and _unknown(value, known):
            yield f"{key!r} holds {value}"


def _scores(space: Keyspace) -> Iterator[str]:
    """Each id waits in one place, has a row, and stands by its name where it has no time."""
    named = Counter(job_id for job_id, places in space.places().items() for _ in places)
    for job_id, times in named.items():
        if times > 1 or job_id not in space.rows:
            yield f"{job_id!r} stands in {space.places()[job_id]}, rows are {list(space.rows)}"
    timeless: dict[bytes, Any] = {name: space.keys.get(name, {}) for name in (b"pending", b"dead")}
    for name, members in (timeless | space.lanes()).items():
        if set(members.values()) - {b"0"}:
            yield f"{name!r} has scores: {members}"
    for name, state in SETS.items():
        for job_id in space.keys.get(name, {}):
            if space.rows.get(job_id, {}).get(b"state") != state:
                yield f"{job_id!r} is in {name!r} and says {space.rows.get(job_id)}"


def _lists(space: Keyspace) -> Iterator[str]:
    ring, wake = space.keys.get(b"ring", []), space.keys.get(b"wake", [])
    if len(ring) != len(set(ring)) or set(ring) & space.keys.get(b"paused", set()):
        yield f"the ring is {ring}"
    if set(wake) - {b"1"} or len(wake) > 64:
        yield f"wakes are {wake}"
    for name in (b"gactive", b"glimit", b"gweight"):
        if any(not text.isdigit() or text == b"0" for text in space.keys.get(name, {}).values()):
            yield f"{name!r} is {space.keys[name]}"
    for entry in space.keys.get(b"flow:outbox", []):
        if entry.count(b"\0") < 3:
            yield f"the outbox holds {entry!r}"
