"""Boards, awaited."""

import asyncio
import os

from queue_core import async_connect, boards


async def main() -> None:
    bus = await async_connect(os.environ.get("BUS_URL", "redis://localhost:6379"))
    print(await bus.run(boards.fold("go", "ada", 40)))
    print(await bus.run(boards.fold("go", "bob", 70)))
    print(await bus.run(boards.fold("go", "ada", 30)))
    print(await bus.run(boards.rescore("go", "ada", 90, expected="40")))
    print(await bus.run(boards.rescore("go", "ada", 95, expected="40")))
    print((await bus.run(boards.top("go", 10))).value)
    await bus.close()


asyncio.run(main())
