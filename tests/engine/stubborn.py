"""A worker whose handler takes its time, as a process: `python -m tests.engine.stubborn KIND URL
QUEUE`. It says when a job is in hand and, where it ends in order, whether all was settled."""

from __future__ import annotations

import asyncio
import sys
import time

from queue_core.async_bus import async_connect
from queue_core.bus import connect
from queue_core.work.async_consumer import AsyncConsumer
from queue_core.work.consumer import Consumer
from queue_core.work.signals import async_run_until_signalled, run_until_signalled
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


async def awaited(url: str, name: str) -> bool:
    """An asyncio worker until it is signalled."""
    bus = await async_connect(url)
    try:
        return await async_run_until_signalled([AsyncConsumer(bus, name, handle_awaited)], say)
    finally:
        await bus.close()


def main() -> None:
    """Be one of them."""
    kind, url, name = sys.argv[1:]
    if kind == "awaited":
        say(asyncio.run(awaited(url, name)))
    else:
        say(run_until_signalled([Consumer(connect(url), name, handle)], say))


if __name__ == "__main__":
    main()
