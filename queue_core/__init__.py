"""A job queue on Valkey, wire-compatible with EchoMQ: the names an application needs.

from queue_core import Queue, connect
queue = Queue(connect("redis://localhost:6379"), "mail")
queue.enqueue("hello")
"""

from queue_core.application import Admitted
from queue_core.async_bus import async_connect
from queue_core.async_queue import AsyncQueue
from queue_core.bus import connect
from queue_core.errors import (
    EchoMQError,
    FenceError,
    ForbiddenFault,
    InvalidError,
    ServerFault,
    UnavailableError,
    UnknownOutcomeError,
)
from queue_core.ids import Identity, Minter, decode
from queue_core.jobs import Job, Lease
from queue_core.keys import QueueKeys
from queue_core.outcomes import OUTCOME_OF, Outcome, Word
from queue_core.plans import Plan
from queue_core.queue import Queue
from queue_core.reads.snapshot import Snapshot

__all__ = [
    "OUTCOME_OF",
    "Admitted",
    "AsyncQueue",
    "EchoMQError",
    "FenceError",
    "ForbiddenFault",
    "Identity",
    "InvalidError",
    "Job",
    "Lease",
    "Minter",
    "Outcome",
    "Plan",
    "Queue",
    "QueueKeys",
    "ServerFault",
    "Snapshot",
    "UnavailableError",
    "UnknownOutcomeError",
    "Word",
    "async_connect",
    "connect",
    "decode",
]
