"""A worker whose handler takes its time, as a process: `python -m tests.engine.stubborn KIND LOOP
URL QUEUE`. It says when a job is in hand and, where it ends in order, whether all was settled."""

from __future__ import annotations

import asyncio
import sys
import time
from collections.abc import Callable, Mapping, Sequence

from queue_core.async_bus import AsyncBus, async_connect
from queue_core.bus import Bus, connect
from queue_core.work.async_batch_consumer import AsyncBatchConsumer
from queue_core.work.async_consumer import AsyncConsumer
from queue_core.work.async_metronome import AsyncMetronome
from queue_core.work.batch_consumer import BatchConsumer
from queue_core.work.consumer import Consumer
from queue_core.work.metronome import Metronome
from queue_core.work.signals import (
    AsyncLoop,
    Loop,
    async_run_until_signalled,
    run_until_signalled,
)
from queue_core.work.task import AsyncTask, Task


def say(line: object) -> None:
    """To whoever started it, at once."""
    sys.stdout.write(f"{line}\n")
    sys.stdout.flush()


def handle(task: Task) -> None:
    """Takes as many seconds as its payload says, in a thread."""
    say("in hand")
    time.sleep(float(task.payload))


async def handle_awaited(task: AsyncTask) -> None:
    """The same, awaited."""
    say("in hand")
    try:
        await asyncio.sleep(float(task.payload))
    except asyncio.CancelledError:
        say("cancelled")
        raise


def handle_all(tasks: Sequence[Task]) -> Mapping[bytes, None]:
    """A batch, which takes as long as its first."""
    handle(tasks[0])
    return dict.fromkeys(task.id for task in tasks)


async def handle_all_awaited(tasks: Sequence[AsyncTask]) -> Mapping[bytes, None]:
    """The same, awaited."""
    await handle_awaited(tasks[0])
    return dict.fromkeys(task.id for task in tasks)


THREADED: dict[str, Callable[[Bus, str], Loop]] = {
    "consumer": lambda bus, name: Consumer(bus, name, handle),
    "batches": lambda bus, name: BatchConsumer(bus, name, handle_all),
    "metronome": lambda bus, name: Metronome(bus, {name: handle}),
}
AWAITED: dict[str, Callable[[AsyncBus, str], AsyncLoop]] = {
    "consumer": lambda bus, name: AsyncConsumer(bus, name, handle_awaited),
    "batches": lambda bus, name: AsyncBatchConsumer(bus, name, handle_all_awaited),
    "metronome": lambda bus, name: AsyncMetronome(bus, {name: handle_awaited}),
}


async def awaited(loop: str, url: str, name: str) -> bool:
    """An asyncio worker until it is signalled."""
    bus = await async_connect(url)
    try:
        return await async_run_until_signalled([AWAITED[loop](bus, name)], say)
    finally:
        await bus.close()


def main() -> None:
    """Be one of them."""
    kind, loop, url, name = sys.argv[1:]
    if kind == "awaited":
        say(asyncio.run(awaited(loop, url, name)))
    else:
        say(run_until_signalled([THREADED[loop](connect(url), name)], say))


if __name__ == "__main__":
    main()
