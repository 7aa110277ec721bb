"""Jobs in a named state, made by the verbs that make them, and single commands as plans."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from queue_core.ids import Minter
from queue_core.jobs import Lease
from queue_core.keys import QueueKeys
from queue_core.plans import Arg, Call, Plan, Reply
from queue_core.states import State
from queue_core.verbs import admission, claims, settle

HOUR = 3_600_000
Run = Callable[[Plan[Any]], Any]
_LANES = Minter(1000)


def command(name: str, key: bytes, *args: Arg) -> Plan[Reply]:
    """One command on one key."""
    return (yield Call(name, (key,), args))


def raw(name: str, *args: Arg) -> Plan[Reply]:
    """One command that has no key."""
    return (yield Call(name, args=args))


def score(key: bytes, member: bytes) -> Plan[float | None]:
    """The score of a member, None where the set has none."""
    found = yield Call("ZSCORE", (key,), (member,))
    return None if found is None else float(found)


def row(q: QueueKeys, job_id: bytes) -> Plan[dict[bytes, bytes]]:
    """All fields of a job's row."""
    flat = yield Call("HGETALL", (q.row(job_id),))
    return dict(zip(flat[::2], flat[1::2], strict=True))


def server_ms() -> Plan[int]:
    """The server's clock."""
    seconds, micros = yield Call("TIME")
    return int(seconds) * 1000 + int(micros) // 1000


def a_lane() -> bytes:
    """A fresh lane's name."""
    return _LANES.mint(b"PRT")


@dataclass(frozen=True)
class Made:
    """A job, the token that its row answers to, and its lane."""

    id: bytes
    token: bytes
    group: bytes | None = None


class Builder:
    """Makes jobs of one queue in a named state."""

    def __init__(self, run: Run, q: QueueKeys, mint: Callable[[], bytes]) -> None:
        self.run, self.q, self.mint = run, q, mint

    def pending(self, payload: bytes = b"work") -> Made:
        """Waits in flat pending."""
        job = Made(self.mint(), b"0")
        self.run(admission.enqueue(self.q, job.id, payload))
        return job

    def in_lane(self, group: bytes | None = None, payload: bytes = b"work") -> Made:
        """Waits in a lane."""
        job = Made(self.mint(), b"0", group or a_lane())
        self.run(admission.lane_enqueue(self.q, job.group, job.id, payload))
        return job

    def active(self, group: bytes | None = None, lease_ms: int = HOUR) -> Made:
        """Claimed. In a lane it must be the only job that waits in any."""
        if group is not None:
            return self._held(self.in_lane(group), claims.lane_claim(self.q, lease_ms))
        return self._first_of_pending(self.pending, lease_ms)

    def _first_of_pending(self, made: Callable[[], Made], lease_ms: int = HOUR) -> Made:
        """A claimed job, with what waits meanwhile put aside."""
        aside = self.q.base + b"aside"
        waiting = self.run(command("EXISTS", self.q.pending))
        if waiting:
            self.run(command("RENAME", self.q.pending, aside))
        job = self._held(made(), claims.claim(self.q, lease_ms))
        if waiting:
            self.run(command("RENAME", aside, self.q.pending))
        return job

    def _held(self, job: Made, claim: Plan[Lease | None]) -> Made:
        lease = self.run(claim)
        assert lease is not None
        assert lease.id == job.id
        return Made(job.id, lease.token, job.group)

    def expired(self, group: bytes | None = None) -> Made:
        """Claimed, and its lease has run out."""
        job = self.active(group)
        self.run(command("ZADD", self.q.active, "XX", 1, job.id))
        return job

    def scheduled(self, group: bytes | None = None, delay_ms: int = HOUR) -> Made:
        """Waits for its time."""
        job = Made(self.mint(), b"0", group)
        if group is None:
            self.run(admission.enqueue_in(self.q, job.id, b"work", delay_ms))
        else:
            self.run(admission.lane_enqueue_in(self.q, group, job.id, b"work", delay_ms))
        return job

    def due(self, group: bytes | None = None) -> Made:
        """Scheduled for a moment that has passed."""
        job = self.scheduled(group)
        self.run(command("ZADD", self.q.schedule, "XX", 1, job.id))
        return job

    def dead(self, group: bytes | None = None) -> Made:
        """Gave up after its only attempt."""
        job = self.active(group)
        self.run(settle.retry(self.q, job.id, job.token, 0, 1, b"gave up"))
        return job

    def awaiting_children(self, children: int = 1) -> Made:
        """A flow's parent, held; its children are not made."""
        job = Made(self.mint(), b"0")
        fields = ("state", "awaiting_children", "attempts", "0", "payload", b"parent")
        self.run(command("HSET", self.q.row(job.id), *fields))
        self.run(command("SET", self.q.dependencies(job.id), children))
        return job

    def child(self, parent: Made, policy: str = "fp", parent_queue: str = "") -> Made:
        """A pending child of a flow."""
        job = self.pending()
        fields = ["parent", parent.id, "parent_policy", policy]
        fields += ["parent_queue", parent_queue] if parent_queue else []
        self.run(command("HSET", self.q.row(job.id), *fields))
        return job

    def held_child(self, parent: Made, policy: str = "fp", parent_queue: str = "") -> Made:
        """A child of a flow, claimed."""
        return self._first_of_pending(lambda: self.child(parent, policy, parent_queue))

    def unknown(self) -> Made:
        """A row that no set names."""
        job = self.pending()
        self.run(command("ZREM", self.q.pending, job.id))
        return job

    def absent(self) -> Made:
        """An id without a row."""
        return Made(self.mint(), b"0")

    def ghost(self, key: bytes) -> Made:
        """An id in a set, without a row."""
        job = self.absent()
        self.run(command("ZADD", key, 0, job.id))
        return job

    def orphan_row(self, key: bytes) -> Made:
        """An id in a set whose row says only a state, as another engine leaves it."""
        job = self.ghost(key)
        self.run(command("HSET", self.q.row(job.id), "state", "pending"))
        return job

    def state(self, state: State) -> Made:
        """A job in any state by its name."""
        if state in (State.active, State.dead, State.scheduled):
            made: Made = getattr(self, state)(None)
            return made
        plain: Made = getattr(self, state)()
        return plain
