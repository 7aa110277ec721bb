"""The whole keyspace of one queue of a test's own, read at one moment, and what must hold in it
whoever wrote it."""

from __future__ import annotations

import hashlib
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from queue_core.keys import QueueKeys
from queue_core.plans import Batch, Plan
from queue_core.scripts import Script
from tests.proof.model import ENDS, LATER, NOW

SETS = {b"pending": b"pending", b"active": b"active", b"schedule": b"scheduled", b"dead": b"dead"}
HELD = b"awaiting_children"

_READ = b"""#!lua flags=no-writes
local base, answer = ARGV[1], {}
local t = redis.call('TIME')
answer[1] = t[1] * 1000 + math.floor(t[2] / 1000)
for _, key in ipairs(redis.call('KEYS', base .. '*')) do
  local kind = redis.call('TYPE', key).ok
  local value = false
  if kind == 'string' then value = redis.call('GET', key)
  elseif kind == 'hash' then value = redis.call('HGETALL', key)
  elseif kind == 'list' then value = redis.call('LRANGE', key, 0, -1)
  elseif kind == 'stream' then
    value = {redis.call('XRANGE', key, '-', '+')}
    for _, one in ipairs(redis.call('XINFO', 'GROUPS', key)) do
      local held = redis.call('XPENDING', key, one[2], '-', '+', 1000)
      value[#value + 1] = {one[2], one[8], held}
    end
  elseif kind == 'set' then value = redis.call('SMEMBERS', key)
  elseif kind == 'zset' then value = redis.call('ZRANGE', key, 0, -1, 'WITHSCORES') end
  local ends = redis.call('PTTL', key) > 0 and 1 or 0
  answer[#answer + 1] = {string.sub(key, #base + 1), kind, value, ends}
end
return answer
"""
_WIPE = b"""#!lua
for _, key in ipairs(redis.call('KEYS', ARGV[1] .. '*')) do redis.call('DEL', key) end
return {'ok'}
"""


def _script(name: str, source: bytes, *flags: str) -> Script:
    sha = hashlib.sha1(source, usedforsecurity=False).hexdigest()
    reads = "no-writes" in flags
    verb = "EVALSHA_RO" if reads else "EVALSHA"
    args = (("pending",), ("base",), False, "", frozenset(flags), not reads, verb)
    return Script(name, source, sha, *args)


READ, WIPE = _script("keyspace_read", _READ, "no-writes"), _script("keyspace_wipe", _WIPE)


@dataclass(frozen=True)
class Keyspace:
    """Every key without its base, as bytes, dict, list, set or `Stream`, and its type; which of
    them end by themselves; `at_ms` by the server's clock."""

    at_ms: int
    keys: dict[bytes, Any]
    types: dict[bytes, bytes]
    ending: frozenset[bytes]

    @property
    def rows(self) -> dict[bytes, dict[bytes, bytes]]:
        """The jobs' rows by id."""
        found = {}
        for key, value in self.keys.items():
            if key.startswith(b"job:") and key.count(b":") == 1:
                found[key[4:]] = value
        return found

    def lanes(self) -> dict[bytes, dict[bytes, bytes]]:
        """What waits in each lane."""
        return {
            key[2:-8]: members
            for key, members in self.keys.items()
            if key.startswith(b"g:") and key.endswith(b":pending")
        }

    def places(self) -> dict[bytes, list[bytes]]:
        """Every set or lane that names an id."""
        found: dict[bytes, list[bytes]] = {}
        for name in SETS:
            for job_id in self.keys.get(name, {}):
                found.setdefault(job_id, []).append(name)
        for lane, members in self.lanes().items():
            for job_id in members:
                found.setdefault(job_id, []).append(b"lane " + lane)
        return found


def read(*queues: QueueKeys) -> Plan[list[Keyspace]]:
    """All of each queue, in one round trip."""
    replies = yield Batch(tuple(READ.call((q.pending,), q.base) for q in queues))
    for reply in replies:
        if isinstance(reply, Exception):
            raise reply
    return [_keyspace(reply) for reply in replies]


def wipe(*queues: QueueKeys) -> Plan[None]:
    """Delete all of each queue."""
    yield Batch(tuple(WIPE.call((q.pending,), q.base) for q in queues))


def _keyspace(reply: list[Any]) -> Keyspace:
    shapes = {
        b"hash": lambda flat: dict(zip(flat[::2], flat[1::2], strict=True)),
        b"zset": lambda flat: dict(zip(flat[::2], flat[1::2], strict=True)),
        b"set": set,
        b"stream": _stream,
    }
    found = reply[1:]
    return Keyspace(
        reply[0],
        {key: shapes.get(kind, lambda as_is: as_is)(value) for key, kind, value, _ in found},
        {key: kind for key, kind, *_ in found},
        frozenset(key for key, *_, ends in found if ends),
    )


def _stream(reply: list[Any]) -> tuple[list[Any], dict[bytes, Any]]:
    """Its entries, place and fields; its groups, each with the last place that it handed out and
    who holds what after how many deliveries."""
    entries, *groups = reply
    told = {
        name: (last, {place: (who, times) for place, who, _, times in held})
        for name, last, held in groups
    }
    return [(place, tuple(fields)) for place, fields in entries], told


def violations(space: Keyspace) -> Iterator[str]:
    """What does not hold, in words; nothing where all is well."""
    yield from _misplaced(space)
    yield from _miscounted(space)


def _misplaced(space: Keyspace) -> Iterator[str]:
    places = space.places()
    for job_id, row in space.rows.items():
        named = places.pop(job_id, [])
        state = row.get(b"state")
        expected = [name for name, word in SETS.items() if word == state]
        if state == b"pending" and b"group" in row:
            expected = [b"lane " + row[b"group"]]
        if state == HELD:
            expected = []
        if named != expected or (not expected and state != HELD):
            yield f"{job_id!r} is {state!r} and stands in {named}"
        if b"payload" not in row or not row.get(b"attempts", b"").isdigit():
            yield f"{job_id!r} is no whole job: {row}"
    for job_id, named in places.items():
        yield f"{job_id!r} has no row and stands in {named}"


def _miscounted(space: Keyspace) -> Iterator[str]:
    keys, rows = space.keys, space.rows
    held = Counter(
        group for job_id in keys.get(b"active", {}) if (group := rows[job_id].get(b"group"))
    )
    counted = {group: int(count) for group, count in keys.get(b"gactive", {}).items()}
    if counted != dict(held):
        yield f"lanes hold {dict(held)} and count {counted}"
    ring, parked = keys.get(b"ring", []), keys.get(b"paused", set())
    if len(set(ring)) < len(ring):
        yield f"the ring names a lane twice: {ring}"
    lanes = space.lanes()
    for lane in {*lanes, *ring}:
        ceiling = keys.get(b"glimit", {}).get(lane)
        full = ceiling is not None and held[lane] >= int(ceiling)
        served = lane in lanes and lane not in parked and not full
        if served != (lane in ring):
            yield f"{lane!r} can be served: {served}, is in the ring: {lane in ring}"
    wake = keys.get(b"wake", [])
    if set(wake) - {b"1"} or len(wake) > 64:
        yield f"wakes are {wake}"


def told(space: Keyspace) -> dict[bytes, Any]:
    """The keyspace in the words of the pure model: instants that a clock made are `NOW` or
    `LATER`, marks of the moment are left out."""
    found: dict[bytes, Any] = {}
    for key, value in space.keys.items():
        if key in (*SETS, b"repeat") or key.endswith(b":pending"):
            value = {member: _score(score, space.at_ms) for member, score in value.items()}
        elif key.startswith((b"job:", b"repeat:")) and isinstance(value, dict):
            value = dict(value)
            if b"py_held" in value:
                value[b"py_held"] = value[b"py_held"].rpartition(b":")[0]
            if b"py_paused_at" in value:
                value[b"py_paused_at"] = "clock"
            if b"py_next" in value:
                kept = _score(value[b"py_next"], space.at_ms)
                value[b"py_next"] = kept if isinstance(kept, str) else value[b"py_next"]
        elif key in space.ending and key.endswith(b":logs"):
            value = [ENDS, *value]
        elif key.startswith(b"py:parked:"):
            value = [fields for _, fields in value[0]]
        elif key.startswith(b"py:runs:"):
            value = [due + b" " + job_id for due, _, job_id in (run.split(b" ") for run in value)]
        found[key] = value
    return found


def _score(text: bytes, at_ms: int) -> int | str:
    """Scores of this century, and those one longest period later, are a clock's."""
    number = float(text)
    if 10**12 < number < 9 * 10**12 or 101 * 10**12 < number < 109 * 10**12:
        return NOW if number <= at_ms else LATER
    return int(number)
