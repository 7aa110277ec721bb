"""Replays one file of the vectors on a real server and says where it differs."""

import json
import time
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import redis

from queue_core.plans import Plan
from tests.wire.adapter import answer
from tests.wire.better import FALL_BACK, Better
from tests.wire.values import Json, raw, written

VECTORS = Path(__file__).parent / "vectors"
SLACK_MS = 50
TTL_ROOM_MS = 10_000
MARK = "replay:read-until-here"

_DUMP = """
local out = {}
for _, pattern in ipairs(ARGV) do
  for _, key in ipairs(redis.call('KEYS', pattern)) do
    local kind = redis.call('TYPE', key).ok
    local value
    if kind == 'hash' then value = redis.call('HGETALL', key)
    elseif kind == 'zset' then value = redis.call('ZRANGE', key, 0, -1, 'WITHSCORES')
    elseif kind == 'list' then value = redis.call('LRANGE', key, 0, -1)
    elseif kind == 'set' then value = redis.call('SMEMBERS', key)
    else value = redis.call('GET', key) end
    local lock = -2
    if kind == 'hash' then  -- an older server knows no life of a field
      local life = redis.pcall('HPTTL', key, 'FIELDS', 1, 'lock')
      lock = life[1] or lock
    end
    out[#out + 1] = {key, kind, redis.call('PTTL', key), lock, value}
  end
end
return {out, redis.call('TIME')}
"""

Run = Callable[[Plan[Any]], Any]


@dataclass
class Differs(AssertionError):
    """A step whose reply, messages or keys are not as expected."""

    file: str
    step: int
    op: str
    found: list[str]

    def __str__(self) -> str:
        lines = "\n  ".join(self.found)
        return f"{self.file} step {self.step} {self.op}:\n  {lines}"


@dataclass
class Replay:
    """One file against the servers of one bus. `times` holds, for each step run, the server's
    clock in ms before and after it. `home` is the server of a key where there are several, which
    share one clock."""

    file: str
    client: redis.Redis
    run: Run
    better: list[Better]
    home: Callable[[str], redis.Redis] | None = None
    times: list[tuple[int, int]] = field(default_factory=list)

    def __post_init__(self) -> None:
        self.scenario: Json = json.loads((VECTORS / f"{self.file}.json").read_text())
        self.queues: list[str] = self.scenario["queues"]
        self.listed = {one.step: one for one in self.better}
        self.fields_expire = bool(self.client.command_list(pattern="hpexpire"))
        lacking = [] if self.fields_expire else FALL_BACK
        self.fallen_back = {one.step: one for one in lacking if one.file == self.file}

    def __call__(self) -> None:
        """Run every step and hold it to the record. From the first step where we do better, each
        step starts from the recorded state, so that nothing after it goes unchecked."""
        self.wipe()
        first = min(self.listed, default=None)
        with self.listen() as listener:
            recorded: dict[str, Json] = {}
            for at, step in enumerate(self.scenario["steps"]):
                if first is not None and at > first:
                    self.wipe()
                    self.load(recorded)
                recorded = after(step, recorded)
                self.step(at, step, recorded, listener)

    def step(self, at: int, step: Json, recorded: dict[str, Json], listener: Any) -> None:
        """Run one step and compare."""
        before = self.now()
        reply = self.perform(step)
        dumped, done = self.dump()
        self.times.append((before, done))
        found = list(self.keys_differ(self.expected(at, recorded), dumped))
        better = self.listed.get(at)
        wanted = better.reply if better and better.reply is not None else step.get("reply")
        if not same_reply(wanted, reply):
            found.append(f"reply: expected {wanted!r}, got {reply!r}")
        messages = self.settle(listener)
        if messages != (expected := step.get("events", [])):
            found.append(f"events: expected {expected!r}, got {messages!r}")
        if found:
            raise Differs(self.file, at, step["op"], found)

    def perform(self, step: Json) -> Json:
        """The reply of one operation, None for those that have none."""
        op, args = step["op"], step["args"]
        if op == "sleep":
            time.sleep(args["ms"] / 1000)
            return None
        if op == "raw":
            words = [raw(word) for word in args["cmd"]]
            self.server_of(words[1].decode()).execute_command(*words)
            return None
        return self.run(answer(op, args))

    def server_of(self, key: str) -> redis.Redis:
        """The server that holds a key."""
        return self.home(key) if self.home else self.client

    def listen(self) -> Any:
        """A subscription to the events of the scenario's queues, in force."""
        channels = [MARK, *(f"emq:{{{name}}}:events" for name in self.queues)]
        listener = self.client.pubsub()
        listener.subscribe(*channels)
        for _ in channels:
            assert next(listener.listen())["type"] == "subscribe"
        return listener

    def settle(self, listener: Any) -> list[Json]:
        """The messages that the events channels carried up to now: each server's come before a
        mark that is sent through it."""
        marks = [self.server_of(pattern).publish(MARK, "") for pattern in self.patterns()]
        messages: list[Json] = []
        for message in listener.listen():
            if message["channel"] == MARK.encode():
                marks.pop()
                if not marks:
                    break
                continue
            channel = message["channel"].decode()
            messages.append({"channel": channel, "message": json.loads(message["data"])})
        return messages

    def now(self) -> int:
        """The server's clock in ms."""
        seconds, micros = self.client.time()
        return int(seconds) * 1000 + int(micros) // 1000

    def patterns(self) -> list[str]:
        """What matches every key of the scenario's queues."""
        return [f"emq:{{{name}}}:*" for name in self.queues]

    def wipe(self) -> None:
        """Delete every key of the scenario's queues."""
        for pattern in self.patterns():
            server = self.server_of(pattern)
            if keys := server.keys(pattern):
                server.delete(*keys)

    def dump(self) -> tuple[dict[str, Json], int]:
        """Every key of the scenario's queues, and when that was."""
        found: dict[str, Json] = {}
        for pattern in self.patterns():
            script = self.server_of(pattern).register_script(_DUMP)
            entries, (seconds, micros) = script(args=[pattern])
            found |= {entry[0].decode(): dumped(*entry[1:]) for entry in entries}
        return found, int(seconds) * 1000 + int(micros) // 1000

    def load(self, state: dict[str, Json]) -> None:
        """Bring the recorded keys back, with their clocks where this replay's steps ran."""
        for pattern in self.patterns():
            with self.server_of(pattern).pipeline(transaction=True) as pipe:
                for key, entry in state.items():
                    if key.startswith(pattern.removesuffix("*")):
                        self.load_key(pipe, key, entry)
                pipe.execute()

    def load_key(self, pipe: Any, key: str, entry: Json) -> None:
        """Bring one key back."""
        value = entry["value"]
        if entry["type"] == "hash":
            pipe.hset(key, mapping={name: raw(text) for name, text in value.items()})
        elif entry["type"] == "zset":
            pipe.zadd(key, {member: self.score(score) for member, score in value.items()})
        elif entry["type"] == "list":
            pipe.rpush(key, *map(raw, value))
        elif entry["type"] == "set":
            pipe.sadd(key, *map(raw, value))
        else:
            pipe.set(key, raw(value))
        if "ttl_ms" in entry:
            pipe.pexpire(key, entry["ttl_ms"]["at_most"])
        if "field_ttl_ms" in entry and self.fields_expire:
            pipe.hpexpire(key, entry["field_ttl_ms"]["lock"]["at_most"], "lock")

    def score(self, score: Json) -> float:
        """A score as this replay would have left it."""
        if isinstance(score, dict):
            return float(self.times[score["step"]][0] + score["now_plus"])
        return float(score)

    def expected(self, at: int, recorded: dict[str, Json]) -> dict[str, Json]:
        """What should be there after a step: the record, with what we do better laid over, and
        what this server cannot do."""
        changed = dict(recorded)
        for listed in (self.listed, self.fallen_back):
            if at in listed:
                changed |= listed[at].keys
        return {key: entry for key, entry in changed.items() if entry is not None}

    def keys_differ(self, expected: dict[str, Json], found: dict[str, Json]) -> Iterator[str]:
        """A sentence for every key that is not as expected."""
        for key in sorted(expected.keys() | found.keys()):
            if key not in found:
                yield f"{key}: missing, expected {expected[key]!r}"
            elif key not in expected:
                yield f"{key}: unexpected {found[key]!r}"
            elif not self.same_key(expected[key], found[key]):
                yield f"{key}: expected {expected[key]!r}, got {found[key]!r}"

    def same_key(self, expected: Json, found: Json) -> bool:
        """Whether a dumped key is what was expected, clocks and lives within their bounds."""
        if expected["type"] != found["type"] or not same_lives(expected, found):
            return False
        if expected["type"] != "zset":
            return bool(expected["value"] == found["value"])
        return self.same_scores(expected["value"], found["value"])

    def same_scores(self, expected: dict[str, Json], found: dict[str, float]) -> bool:
        """Clock scores lie in their step's window, and are the same where d and step are."""
        if expected.keys() != found.keys():
            return False
        moments: dict[tuple[int, int], float] = {}
        for member, wanted in expected.items():
            score = found[member]
            if not isinstance(wanted, dict):
                if float(wanted) != score:
                    return False
                continue
            before, done = self.times[wanted["step"]]
            plus = wanted["now_plus"]
            if not before + plus - SLACK_MS <= score <= done + plus + SLACK_MS:
                return False
            if moments.setdefault((wanted["step"], plus), score) != score:
                return False
        return True


def after(step: Json, before: dict[str, Json]) -> dict[str, Json]:
    """The recorded keys after a step."""
    if "after" in step:
        return dict(step["after"])
    changed = before | step["changed"]
    return {key: entry for key, entry in changed.items() if entry is not None}


def dumped(kind: bytes, life: int, lock_life: int, value: Any) -> Json:
    """A key as the record writes it, scores and lives as numbers."""
    entry: Json = {"type": kind.decode()}
    if kind == b"hash":
        entry["value"] = {name.decode(): written(text) for name, text in _pairs(value)}
    elif kind == b"zset":
        entry["value"] = {member.decode(): float(score) for member, score in _pairs(value)}
    elif kind == b"string":
        entry["value"] = written(value)
    else:
        texts = [written(item) for item in value]
        entry["value"] = sorted(texts, key=str) if kind == b"set" else texts
    if life >= 0:
        entry["ttl_ms"] = life
    if lock_life >= 0:
        entry["field_ttl_ms"] = {"lock": lock_life}
    return entry


def same_lives(expected: Json, found: Json) -> bool:
    """Whether key and lock field expire, or do not, as expected."""
    lives = [
        (expected.get("ttl_ms"), found.get("ttl_ms")),
        (
            expected.get("field_ttl_ms", {}).get("lock"),
            found.get("field_ttl_ms", {}).get("lock"),
        ),
    ]
    return all(
        life is None if bound is None else life is not None and within(bound, life)
        for bound, life in lives
    )


def within(bound: Json, life: int) -> bool:
    """Whether a remaining life in ms is one the record allows."""
    most = bound["at_most"]
    return bool(bound.get("above", most - TTL_ROOM_MS) < life <= most)


def same_reply(expected: Json, found: Json) -> bool:
    """Whether a reply is the recorded one; details of a refusal are nobody's business."""
    if isinstance(expected, dict):
        if isinstance(expected.get("ok"), dict) and "at_most" in expected["ok"]:
            return within(expected["ok"], found["ok"])
        expected = {name: value for name, value in expected.items() if name != "detail"}
    return bool(expected == found)


def _pairs(flat: list[bytes]) -> Iterable[tuple[bytes, bytes]]:
    return zip(flat[::2], flat[1::2], strict=True)
