"""The rest of the pure model: what operators do to jobs, lanes, repeats and whole queues, and how
all of it must look in the keyspace."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from queue_core.outcomes import Word
from tests.proof.families import Hashes
from tests.proof.model import ENDS, LATER, NOW, PAST_MS, Job, Queue, Score, passed

PARKED_MS = 9_007_199_254_740_991
RUNS_KEPT = 50
SETS = ("pending", "active", "schedule", "dead")
FREE_STATES = {"pending": Word.noop, "lane": Word.noop, "active": Word.noop}


@dataclass
class Repeat:
    """A repeat: when it runs next, its record, and what it kept when it was parked."""

    every_ms: int
    template: bytes
    score: Score
    by: bytes | None = None
    planned: Score | None = None


class Administered(Queue):
    """A queue with everything that may be done to it. `fields_end` is whether its server lets the
    fields of a row end by themselves; where it does not, no marker is set as a field."""

    def __init__(self, name: bytes, fields_end: bool = True) -> None:
        super().__init__(name)
        self.fields_end = fields_end
        self.repeats: dict[bytes, Repeat] = {}
        self.runs: dict[bytes, list[bytes]] = {}

    # ---- one job -----------------------------------------------------------------------------

    def locked(self, job: Job) -> bool:
        """Whether a worker marked it as in its hands."""
        return job.id in self.locks or b"lock" in job.row

    def remove(self, job_id: bytes, dedup: bytes, seen: str | None = None) -> Word:
        """Remove a job wherever it is, or only one that no set names."""
        job = self.jobs.get(job_id)
        if job is None:
            return Word.gone
        if self.locked(job):
            return Word.locked
        if seen and (seen, job.place) != ("awaiting_children", "held"):
            return Word.moved
        self.forget(job)
        if self.dedups.get(dedup) == job_id:
            del self.dedups[dedup]
        self.drop_log(job_id)
        return Word.ok

    def remove_member(self, place: str, job_id: bytes, group: bytes) -> Word:
        """Remove a job from the one set it is in."""
        job = self.jobs.get(job_id)
        if job is None or job.place != place or (place == "lane" and job.group != group):
            return Word.gone
        return self.remove(job_id, b"")

    def reprocess(self, job_id: bytes) -> Word:
        """A dead job waits again."""
        job = self.jobs.get(job_id)
        if job is None:
            return Word.gone
        if job.place != "dead":
            return Word.not_dead
        job.row.pop(b"last_error", None)
        self.wait(job)
        return Word.ok

    def reschedule(self, job_id: bytes, run_at_ms: int, expected: Score | None) -> Word:
        """Another instant."""
        job = self.jobs.get(job_id)
        if job is None:
            return Word.gone
        if job.place != "schedule":
            return Word.not_scheduled
        if job.score == run_at_ms:
            return Word.noop
        if expected not in (None, job.score):
            return Word.moved
        job.score = run_at_ms
        return Word.ok

    def run_now(self, job_id: bytes) -> Word:
        """As if it were due."""
        job = self.jobs.get(job_id)
        if job is None:
            return Word.gone
        if job.place != "schedule":
            return FREE_STATES.get(job.place, Word.not_scheduled)
        self.wait(job)
        return Word.ok

    def change(self, job_id: bytes, name: bytes, value: bytes) -> Word:
        """One field of a row."""
        if job_id not in self.jobs:
            return Word.gone
        self.jobs[job_id].row[name] = value
        return Word.ok

    def add_log(self, job_id: bytes, line: bytes, keep: int) -> int | Word:
        """A line of a log."""
        if job_id not in self.jobs:
            return Word.gone
        self.ending.discard(job_id)
        lines = self.logs.setdefault(job_id, [])
        lines.append(line)
        del lines[: -keep if keep else 0]
        return len(lines)

    def track(self, job_id: bytes, token: bytes) -> Word:
        """Mark a job as held."""
        if job_id not in self.jobs:
            return Word.gone
        self.locks[job_id] = token
        if self.fields_end:
            self.jobs[job_id].row[b"lock"] = token
        return Word.ok

    def untrack(self, job_id: bytes) -> Word:
        """Take the marks away."""
        marks = [self.locks.pop(job_id, None)]
        if job_id in self.jobs:
            marks.append(self.jobs[job_id].row.pop(b"lock", None))
        return Word.ok if any(mark is not None for mark in marks) else Word.noop

    def beat(self, pairs: list[tuple[bytes, bytes]]) -> list[bytes]:
        """Extend leases, and marks where there are any."""
        failed = self.extend_many(pairs)
        for job_id, token in pairs:
            if job_id not in failed and b"lock" in self.jobs[job_id].row:
                self.jobs[job_id].row[b"lock"] = token
        return failed

    # ---- lanes -------------------------------------------------------------------------------

    def reassign(self, job_id: bytes, group: bytes) -> Word:
        """To another lane."""
        job = self.jobs.get(job_id)
        if job is None or job.group is None:
            return Word.not_found
        if job.group == group:
            return Word.noop
        if job.place != "lane":
            return Word.not_pending
        source, job.row[b"group"] = job.group, group
        self.offer(group)
        self.retire(source)
        return Word.reassigned

    def park(self, group: bytes) -> Word:
        """Serve a lane no more."""
        fresh = group not in self.parked
        self.parked.add(group)
        self.retire(group)
        return Word.ok if fresh else Word.noop

    def unpark(self, group: bytes) -> Word:
        """Serve it again."""
        was = group in self.parked
        self.parked.discard(group)
        self.offer(group)
        return Word.ok if was else Word.noop

    def limit(self, group: bytes, ceiling: int | None, seen: int | str | None) -> Word:
        """A lane's ceiling."""
        return self._bound(self.ceilings, group, ceiling, seen)

    def weight(self, group: bytes, share: int | None, seen: int | str | None) -> Word:
        """A lane's share."""
        return self._bound(self.weights, group, share, seen)

    def _bound(
        self, bounds: dict[bytes, int], group: bytes, number: int | None, seen: int | str | None
    ) -> Word:
        before = bounds.get(group)
        if seen is not None and before != number and before != (None if seen == "none" else seen):
            return Word.moved
        if number is None:
            bounds.pop(group, None)
        else:
            bounds[group] = number
        self.retire(group)
        self.offer(group)
        return Word.noop if before == number else Word.ok

    def drain_lane(self, group: bytes) -> int:
        """Delete what waits in it."""
        return self._erase_all(self.at("lane", group))

    # ---- the queue ---------------------------------------------------------------------------

    def pause(self) -> Word:
        """Claims find nothing."""
        fresh = b"paused" not in self.meta
        self.meta[b"paused"] = b"1"
        return Word.ok if fresh else Word.noop

    def resume(self) -> Word:
        """Claims go on."""
        return Word.noop if self.meta.pop(b"paused", None) is None else Word.ok

    def set_meta(self, wanted: dict[bytes, int | None]) -> Word:
        """Numbers that an operator sets or lifts."""
        changed = False
        for name, number in wanted.items():
            text = None if number is None else b"%d" % number
            changed = changed or self.meta.get(name) != text
            self.meta.pop(name, None)
            if text is not None:
                self.meta[name] = text
        return Word.ok if changed else Word.noop

    def drain(self, include_schedule: bool) -> int:
        """Delete what waits outside the lanes."""
        removed = self._erase_all(self.at("pending"))
        return removed + (self._erase_all(self.at("schedule")) if include_schedule else 0)

    def _erase_all(self, jobs: list[Job]) -> int:
        for job in jobs:
            self.erase(job)
        return len(jobs)

    def obliterate(self, force: bool) -> tuple[Word, int]:
        """Destroy a paused queue. Parents that wait for jobs of this queue go with them, others
        stay, as do dedup ids and what outlives a row."""
        if b"paused" not in self.meta:
            return Word.not_paused, 0
        if self.at("active") and not force:
            return Word.active, 0
        removed = len(self.repeats)
        for place in ("active", "pending", "schedule", "dead", "lane"):
            for job in self.at(place):
                removed += 1
                self._wipe(job)
        kept = (self.jobs, self.logs, self.ending, self.locks, self.dedups, self.flows)
        Administered.__init__(self, self.name, self.fields_end)
        self.jobs, self.logs, self.ending, self.locks, self.dedups, self.flows = kept
        return Word.ok, removed

    def _wipe(self, job: Job) -> None:
        self.erase(job)
        parent = self.jobs.get(job.row.get(b"parent", b""))
        if parent and b"parent_queue" not in job.row and parent.place == "held":
            self._wipe(parent)

    # ---- repeats -----------------------------------------------------------------------------

    def register(self, name: bytes, every_ms: int, template: bytes, first_in_ms: int) -> Word:
        """A new repeat."""
        if name in self.repeats:
            return Word.exists
        self.repeats[name] = Repeat(every_ms, template, LATER if first_in_ms else NOW)
        return Word.registered

    def cancel(self, name: bytes) -> Word:
        """Forget it."""
        self.runs.pop(name, None)
        return Word.absent if self.repeats.pop(name, None) is None else Word.cancelled

    def advance(self, name: bytes, every_ms: int, now_ms: int) -> Word:
        """One period from a caller's now."""
        if name not in self.repeats:
            return Word.absent
        if self.repeats[name].by is not None:
            return Word.paused
        self.repeats[name].score = now_ms + every_ms
        return Word.advanced

    def fire(self, name: bytes, expected: Score, job_id: bytes) -> Word:
        """One due occurrence."""
        one = self.repeats.get(name)
        if one is None:
            return Word.absent
        if one.by is not None:
            return Word.paused
        if one.score != expected or not passed(one.score):
            return Word.moved
        if job_id in self.jobs:
            return Word.duplicate
        self._run(name, one, job_id, b"%d" % expected)
        one.score = _next_slot(int(expected), one.every_ms)
        return Word.fired

    def run_repeat(self, name: bytes, job_id: bytes) -> Word:
        """One run because somebody asked."""
        if job_id in self.jobs:
            return Word.duplicate
        if name not in self.repeats:
            return Word.absent
        self._run(name, self.repeats[name], job_id, None)
        return Word.enqueued

    def _run(self, name: bytes, one: Repeat, job_id: bytes, due: bytes | None) -> None:
        row = {b"payload": one.template, b"py_repeat": name} | ({b"py_due": due} if due else {})
        self.jobs[job_id] = Job(job_id, "pending", row)
        self.runs.setdefault(name, []).insert(0, (due or b"-") + b" " + job_id)
        del self.runs[name][RUNS_KEPT:]

    def park_repeat(self, name: bytes, by: bytes) -> Word:
        """Let it rest."""
        one = self.repeats.get(name)
        if one is None:
            return Word.absent
        if one.by is not None:
            return Word.noop
        one.by, one.planned, one.score = by, one.score, PARKED_MS
        return Word.ok

    def unpark_repeat(self, name: bytes) -> Word:
        """Let it run again."""
        one = self.repeats.get(name)
        if one is None:
            return Word.absent
        if one.by is None:
            return Word.noop
        planned = one.planned
        if isinstance(planned, int) and passed(planned):
            planned = _next_slot(planned, one.every_ms)
        one.score, one.by, one.planned = LATER if planned == NOW else planned or LATER, None, None
        return Word.ok

    # ---- the keyspace ------------------------------------------------------------------------

    def keyspace(self) -> dict[bytes, Any]:
        """Every key of the queue, without its base, and what it must hold."""
        keys: dict[bytes, Any] = {}
        for place in SETS:
            keys[place.encode()] = {job.id: job.score for job in self.at(place)}
        groups = {job.group for job in self.jobs.values() if job.group}
        for group in groups:
            keys[b"g:%b:pending" % group] = dict.fromkeys(
                (job.id for job in self.at("lane", group)), 0
            )
        for job in self.jobs.values():
            keys[b"job:" + job.id] = {b"state": job.state, b"attempts": job.token} | job.row
        keys[b"gactive"] = _texts({g: held for g in groups if (held := self.in_flight(g))})
        keys[b"glimit"], keys[b"gweight"] = _texts(self.ceilings), _texts(self.weights)
        keys[b"ring"], keys[b"paused"], keys[b"meta"] = self.ring, self.parked, self.meta
        keys[b"wake"], keys[b"flow:outbox"] = [b"1"] * self.wakes, self.outbox
        keys[b"limiter"] = b"%d" % self.spent if self.spent else None
        for name, count in (("completed", self.completed), ("failed", self.failed)):
            keys[b"metrics:" + name.encode()] = _texts({b"count": count} if count else {})
        for job_id, lines in self.logs.items():
            keys[b"job:%b:logs" % job_id] = [ENDS, *lines] if job_id in self.ending else lines
        keys |= {b"job:%b:lock" % job_id: token for job_id, token in self.locks.items()}
        keys |= {b"de:" + dedup: owner for dedup, owner in self.dedups.items()}
        keys |= _hanging(self.flows)
        keys[b"repeat"] = {name: one.score for name, one in self.repeats.items()}
        keys |= {b"repeat:" + name: _record(one) for name, one in self.repeats.items()}
        keys |= {b"py:runs:" + name: runs for name, runs in self.runs.items()}
        return {key: value for key, value in keys.items() if value}


def _next_slot(slot_ms: int, every_ms: int) -> Score:
    """The slot after one that has passed: known where one period reaches beyond every clock."""
    return slot_ms + every_ms if every_ms > PAST_MS * 10**7 else LATER


def _texts(numbers: dict[bytes, int]) -> dict[bytes, bytes]:
    return {name: b"%d" % number for name, number in numbers.items()}


def _hanging(flows: Hashes) -> dict[bytes, Any]:
    keys: dict[bytes, Any] = {
        b"job:%b:dependencies" % parent: b"%d" % left for parent, left in flows.dependencies.items()
    }
    for name in ("processed", "failed", "unsuccessful"):
        for parent, told in getattr(flows, name).items():
            keys[b"job:%b:%b" % (parent, name.encode())] = told
    return keys


def _record(one: Repeat) -> dict[bytes, Any]:
    record = {b"every_ms": b"%d" % one.every_ms, b"template": one.template}
    if one.by is None:
        return record
    planned = one.planned if isinstance(one.planned, str) else b"%d" % (one.planned or 0)
    return record | {b"py_paused_by": one.by, b"py_paused_at": "clock", b"py_next": planned}
