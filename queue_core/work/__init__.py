"""Workers and pumps, for threads and for asyncio: the names that a program needs to run them.

from queue_core import connect
from queue_core.work import Consumer, Task

def handle(task: Task) -> None:
    print(task.payload)

Consumer(connect("redis://localhost:6379"), "mail", handle, concurrency=4).run()
"""

from queue_core.work.async_batch_consumer import AsyncBatchConsumer
from queue_core.work.async_consumer import AsyncConsumer
from queue_core.work.async_metronome import AsyncMetronome
from queue_core.work.async_pump import AsyncPump
from queue_core.work.backoff import Backoff, exponential, fixed, jitter
from queue_core.work.batch_consumer import BatchConsumer
from queue_core.work.cancel import Cancelled, CancelToken
from queue_core.work.consumer import Consumer
from queue_core.work.hands import Handler
from queue_core.work.loops import DEFAULT_POLICY
from queue_core.work.metronome import Metronome
from queue_core.work.piles import AsyncBatchHandler, BatchHandler
from queue_core.work.pump import Pump
from queue_core.work.serving import Policy
from queue_core.work.task import AsyncTask, Task
from queue_core.work.task_hands import AsyncHandler
from queue_core.work.verdicts import Dead, Done, Failed, Later, Verdict

__all__ = [
    "DEFAULT_POLICY",
    "AsyncBatchConsumer",
    "AsyncBatchHandler",
    "AsyncConsumer",
    "AsyncHandler",
    "AsyncMetronome",
    "AsyncPump",
    "AsyncTask",
    "Backoff",
    "BatchConsumer",
    "BatchHandler",
    "CancelToken",
    "Cancelled",
    "Consumer",
    "Dead",
    "Done",
    "Failed",
    "Handler",
    "Later",
    "Metronome",
    "Policy",
    "Pump",
    "Task",
    "Verdict",
    "exponential",
    "fixed",
    "jitter",
]
