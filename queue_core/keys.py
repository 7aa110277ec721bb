"""Every key of docs/wire.md, made here and nowhere else (protocol part 2).

`QueueKeys` carries the fixed keys of one queue ready-made; the keys of one job, lane or
repeat are its methods. Names are bytes: what discovery found is used as found.
"""

from queue_core.names import as_bytes, check_queue

VERSION = b"{emq}:version"
NODE_PREFIX = b"echomq:py:node:"


class QueueKeys:
    """The keys of one queue. All share the hash tag `{name}`, so one slot of a Cluster."""

    __slots__ = (
        "active", "base", "dead", "events", "gactive", "glimit", "gweight", "limiter", "meta",
        "metrics_completed", "metrics_failed", "name", "outbox", "paused", "pending", "repeat",
        "ring", "schedule", "wake", "workers",
    )  # fmt: skip

    def __init__(self, name: bytes) -> None:
        base = b"emq:{" + name + b"}:"
        self.name = name
        self.base = base
        self.pending = base + b"pending"
        self.active = base + b"active"
        self.schedule = base + b"schedule"
        self.dead = base + b"dead"
        self.ring = base + b"ring"
        self.paused = base + b"paused"
        self.glimit = base + b"glimit"
        self.gactive = base + b"gactive"
        self.gweight = base + b"gweight"
        self.wake = base + b"wake"
        self.meta = base + b"meta"
        self.metrics_completed = base + b"metrics:completed"
        self.metrics_failed = base + b"metrics:failed"
        self.limiter = base + b"limiter"
        self.repeat = base + b"repeat"
        self.outbox = base + b"flow:outbox"
        self.events = base + b"events"
        self.workers = base + b"workers"

    def row(self, job_id: bytes) -> bytes:
        """HASH, the job itself."""
        return self.base + b"job:" + job_id

    def logs(self, job_id: bytes) -> bytes:
        """LIST, the lines a handler wrote."""
        return self.row(job_id) + b":logs"

    def lock(self, job_id: bytes) -> bytes:
        """STRING with PX, the marker that makes a removal refuse."""
        return self.row(job_id) + b":lock"

    def dependencies(self, job_id: bytes) -> bytes:
        """STRING, children of a flow parent still outstanding."""
        return self.row(job_id) + b":dependencies"

    def processed(self, job_id: bytes) -> bytes:
        """HASH, child id to result."""
        return self.row(job_id) + b":processed"

    def failed(self, job_id: bytes) -> bytes:
        """HASH, child id to the error that failed the parent."""
        return self.row(job_id) + b":failed"

    def unsuccessful(self, job_id: bytes) -> bytes:
        """HASH, child id to an error the parent ignores."""
        return self.row(job_id) + b":unsuccessful"

    def lane(self, group: bytes) -> bytes:
        """ZSET, the jobs that wait in one lane."""
        return self.base + b"g:" + group + b":pending"

    def dedup(self, did: bytes) -> bytes:
        """STRING, the job id that owns a dedup id."""
        return self.base + b"de:" + did

    def repeat_record(self, name: bytes) -> bytes:
        """HASH, cadence and template of one repeat."""
        return self.base + b"repeat:" + name

    def repeat_runs(self, name: bytes) -> bytes:
        """LIST, ours: the last runs of one repeat."""
        return self.base + b"py:runs:" + name

    def worker(self, worker_id: bytes) -> bytes:
        """HASH with TTL, ours: what one worker says of itself."""
        return self.base + b"worker:" + worker_id

    def stream(self, name: bytes) -> bytes:
        """STREAM, records of one name."""
        return self.base + b"stream:" + name

    def parked(self, name: bytes) -> bytes:
        """STREAM, ours: records of a stream that a consumer group gave up."""
        return self.base + b"py:parked:" + name

    def archived(self, name: bytes) -> bytes:
        """STRING, the archive watermark of a stream."""
        return self.stream(name) + b":archived"


def queue(name: bytes | str) -> QueueKeys:
    """The keys of a queue we create or serve; `InvalidError` for a name we must not create."""
    return QueueKeys(check_queue(name))


def found(name: bytes | str) -> QueueKeys:
    """The keys of a queue that discovery found, whatever it is called."""
    return QueueKeys(as_bytes(name))


def node_lease(node: int) -> bytes:
    """STRING with PX, ours: who mints under this node number."""
    return NODE_PREFIX + str(node).encode()


def board_prefix(game: bytes) -> bytes:
    """What the keys of one game of codemojex begin with. They have no hash tag, so in a Cluster
    each is on a slot of its own."""
    return b"cm:" + game + b":"


def board(game: bytes) -> bytes:
    """ZSET of codemojex: player, best total."""
    return board_prefix(game) + b"board"


def board_base(game: bytes) -> bytes:
    """HASH of codemojex: player, best total, the authority beside the board."""
    return board_prefix(game) + b"base"


def game(name: bytes, part: bytes) -> bytes:
    """Another key of a codemojex game: `started`, `closed`, `players`, `attempts`."""
    return b"cm:" + name + b":" + part
