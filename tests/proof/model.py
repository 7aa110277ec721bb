"""What a queue is, told without a server: the pure model that the engine is held against.

A job is one object with one place, so the model cannot lose or double one; counters are counted,
not kept. Only the ring is a list, as its order decides who is served. Clocks are words here: a
score that the server's clock made is `NOW` (it has passed) or `LATER`; scores that a caller gave
are numbers. Each method is a verb of the engine, takes what the verb takes and answers what it
must answer.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from queue_core.outcomes import Word
from tests.proof.families import Families

NOW, LATER = "now", "later"
ENDS = "it ends by itself"
PAST_MS = 1_000_000
"""Scores up to here have passed, whatever the clock says."""
WAKES = 64

Score = int | str


def passed(score: Score) -> bool:
    """Whether an instant has passed."""
    return score == NOW if isinstance(score, str) else score <= PAST_MS


@dataclass(eq=False)
class Job:
    """One life of one id. `row` holds the fields beside `state` and `attempts`."""

    id: bytes
    place: str
    row: dict[bytes, bytes]
    attempts: int = 0
    score: Score = 0

    @property
    def group(self) -> bytes | None:
        """Its lane."""
        return self.row.get(b"group")

    @property
    def token(self) -> bytes:
        """What settles it now."""
        return b"%d" % self.attempts

    @property
    def state(self) -> bytes:
        """The word that its row must carry."""
        words = {"lane": "pending", "schedule": "scheduled", "held": "awaiting_children"}
        return words.get(self.place, self.place).encode()


class Queue(Families):
    """One queue and what its verbs do to it."""

    def __init__(self, name: bytes) -> None:
        super().__init__()
        self.name = name
        self.jobs: dict[bytes, Job] = {}
        self.ring: list[bytes] = []
        self.parked: set[bytes] = set()
        self.ceilings: dict[bytes, int] = {}
        self.weights: dict[bytes, int] = {}
        self.wakes = 0
        self.meta: dict[bytes, bytes] = {}
        self.spent = 0
        self.completed = self.failed = 0
        self.logs: dict[bytes, list[bytes]] = {}
        self.ending: set[bytes] = set()
        self.locks: dict[bytes, bytes] = {}
        self.dedups: dict[bytes, bytes] = {}

    # ---- what is where -----------------------------------------------------------------------

    def at(self, place: str, group: bytes | None = None) -> list[Job]:
        """The jobs in one place, in byte order of their ids."""
        found = [
            job
            for job in self.jobs.values()
            if job.place == place and (group is None or job.group == group)
        ]
        return sorted(found, key=lambda job: job.id)

    def in_flight(self, group: bytes) -> int:
        """How many jobs of a lane are held."""
        return len(self.at("active", group))

    def servable(self, group: bytes) -> bool:
        """Whether a claim may be sent to this lane."""
        ceiling = self.ceilings.get(group)
        full = ceiling is not None and self.in_flight(group) >= ceiling
        return bool(self.at("lane", group)) and group not in self.parked and not full

    def offer(self, group: bytes) -> None:
        """Put a lane into the ring where it can be served and is not there yet."""
        if self.servable(group) and group not in self.ring:
            self.ring.append(group)
            self.wakes = min(WAKES, self.wakes + 1)

    def retire(self, group: bytes) -> None:
        """Take a lane out of the ring where it cannot be served any more."""
        if group in self.ring and not self.servable(group):
            self.ring.remove(group)

    def wait(self, job: Job) -> None:
        """Let a job wait for a claim, in its lane where it has one."""
        job.place, job.score = ("lane" if job.group else "pending"), 0
        if job.group:
            self.offer(job.group)

    def leave(self, job: Job, place: str, score: Score = 0) -> str:
        """Move a job out of where it waits or is held; answers where it was."""
        came_from, job.place, job.score = job.place, place, score
        if job.group and came_from == "active":
            self.offer(job.group)
        elif job.group:
            self.retire(job.group)
        return came_from

    def forget(self, job: Job) -> None:
        """Remove a job, its row with it."""
        self.leave(job, "gone")
        del self.jobs[job.id]

    def drop_log(self, job_id: bytes) -> None:
        """Remove a log, one that would end by itself too."""
        self.logs.pop(job_id, None)
        self.ending.discard(job_id)

    def erase(self, job: Job) -> None:
        """Remove a job and all that hangs on it."""
        self.forget(job)
        self.drop_log(job.id)
        self.locks.pop(job.id, None)
        self.flows.forget(job.id)

    # ---- admission and claims ----------------------------------------------------------------

    def admit(
        self, job_id: bytes, payload: bytes, group: bytes | None = None, score: Score | None = None
    ) -> Word:
        """Any of the six verbs that bring one job in."""
        if job_id[:3] != b"JOB":
            return Word.kind
        if job_id in self.jobs:
            return Word.duplicate
        row = {b"payload": payload} | ({b"group": group} if group else {})
        self.jobs[job_id] = job = Job(job_id, "new", row)
        if score is None:
            self.wait(job)
            return Word.enqueued
        job.place, job.score = "schedule", score
        return Word.scheduled

    def room(self, wanted: int) -> int:
        """How many a claim may take."""
        if b"paused" in self.meta:
            return 0
        if b"py_enforce" in self.meta:
            if ceiling := int(self.meta.get(b"concurrency", b"0")):
                wanted = min(wanted, ceiling - len(self.at("active")))
            if most := int(self.meta.get(b"max", b"0")):
                wanted = min(wanted, most - self.spent)
        return wanted

    def claim(self, size: int, worker: bytes) -> list[Job]:
        """The oldest of flat pending."""
        return self._take(self.at("pending")[: max(0, self.room(size))], worker)

    def lane_claim(self, most: int, worker: bytes, share: str = "one") -> list[Job]:
        """Of the lane at the ring's head: one job, its weight, or all."""
        wanted = self.room(most)
        if wanted < 1 or not self.ring:
            return []
        group = self.ring.pop(0)
        self.ring.append(group)
        if share == "weight":
            wanted = min(wanted, self.weights.get(group, 1))
        if share != "one" and group in self.ceilings:
            wanted = min(wanted, self.ceilings[group] - self.in_flight(group))
        taken = self._take(self.at("lane", group)[:wanted], worker)
        self.retire(group)
        return taken

    def lane_claim_full(self, least: int, most: int, worker: bytes) -> list[Job]:
        """Of the first lane that has a full batch: `least`, or all that its ceiling allows."""
        wanted = self.room(most)
        for group in self.ring[:64] if wanted > 0 else []:
            waiting = self.at("lane", group)
            free = self.ceilings.get(group, 10**9) - self.in_flight(group)
            ready = min(len(waiting), free)
            if ready < 1:
                self.ring.remove(group)
            elif ready >= min(least, free):
                self.ring.remove(group)
                self.ring.append(group)
                taken = self._take(waiting[: min(wanted, ready)], worker)
                self.retire(group)
                return taken
        return []

    def _take(self, jobs: list[Job], worker: bytes) -> list[Job]:
        for job in jobs:
            job.place, job.score = "active", LATER
            job.attempts += 1
            if worker:
                job.row[b"py_held"] = worker + b":" + job.token
        if b"py_enforce" in self.meta and int(self.meta.get(b"max", b"0")):
            self.spent += len(jobs)
        return jobs

    # ---- settles -----------------------------------------------------------------------------

    def refusal(self, job_id: bytes, token: bytes) -> Word | None:
        """Why a token settles nothing."""
        job = self.jobs.get(job_id)
        if job is None:
            return Word.gone
        return None if job.token == token else Word.stale

    def complete(self, job_id: bytes, token: bytes, result: bytes) -> Word:
        """Done."""
        if refusal := self.refusal(job_id, token):
            return refusal
        job = self.jobs[job_id]
        if self.leave(job, "gone") != "dead":
            self.child_done(job, result)
        del self.jobs[job_id]
        if b"py_logs_ms" in self.meta and job_id in self.logs:
            self.ending.add(job_id)
        self.completed += 1
        return Word.ok

    def retry(self, job_id: bytes, token: bytes, delay_ms: int, most: int, error: bytes) -> Word:
        """Failed: later again, or dead."""
        if refusal := self.refusal(job_id, token):
            return refusal
        job = self.jobs[job_id]
        if job.attempts >= most:
            self.bury(job, error)
            return Word.dead
        self.leave(job, "schedule", NOW if delay_ms <= 0 else LATER)
        job.row[b"last_error"] = error
        return Word.scheduled

    def bury(self, job: Job, error: bytes) -> None:
        """A job is dead; the parent of a flow is told."""
        self.leave(job, "dead")
        job.row[b"last_error"] = error
        self.failed += 1
        self.child_died(job, error)

    def delay(self, job_id: bytes, token: bytes, score: Score) -> Word:
        """Put off."""
        if refusal := self.refusal(job_id, token):
            return refusal
        self.leave(self.jobs[job_id], "schedule", score)
        return Word.ok

    def extend(self, job_id: bytes, token: bytes) -> Word:
        """A lease from now on."""
        if refusal := self.refusal(job_id, token):
            return refusal
        if self.jobs[job_id].place != "active":
            return Word.not_held
        self.jobs[job_id].score = LATER
        return Word.ok

    def extend_many(self, pairs: list[tuple[bytes, bytes]]) -> list[bytes]:
        """The ids that were not extended."""
        return [job_id for job_id, token in pairs if self.extend(job_id, token) is not Word.ok]

    # ---- time --------------------------------------------------------------------------------

    def due(self, place: str) -> list[Job]:
        """Jobs whose score has passed, in the set's order; those of one clock's now come last."""
        late = [job for job in self.at(place) if passed(job.score)]
        return sorted(late, key=lambda job: (job.score == NOW, job.score))

    def promote(self, batch: int) -> int:
        """Due jobs wait."""
        moved = self.due("schedule")[:batch]
        for job in moved:
            self.wait(job)
        return len(moved)

    def reap(self, group: bytes | None = None, limit: int = 100) -> int:
        """Jobs whose lease ran out wait again."""
        back = [job for job in self.due("active")[:limit] if group in (None, job.group)]
        for job in back:
            self.return_one(job)
        return len(back)

    def return_one(self, job: Job) -> None:
        """A job that is held by nobody any more waits again."""
        self.leave(job, "gone")
        self.wait(job)

    def check_stalled(self, most: int, limit: int = 100) -> tuple[list[bytes], list[bytes]]:
        """The same, and dead at the `most`-th time."""
        recovered, dead = [], []
        for job in self.due("active")[:limit]:
            stalls = int(job.row.get(b"stalled", b"0")) + 1
            job.row[b"stalled"] = b"%d" % stalls
            if stalls < most:
                self.return_one(job)
                recovered.append(job.id)
            else:
                self.bury(job, b"stalled")
                dead.append(job.id)
        return recovered, dead

    def view(self) -> dict[str, Any]:
        """Numbers that reads answer."""
        counts = {name: len(self.at(name)) for name in ("pending", "active", "schedule", "dead")}
        return counts | {"completed": self.completed, "failed": self.failed}
