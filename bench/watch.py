"""A browser's socket without a browser: it subscribes, acknowledges, and counts what it is sent."""

import asyncio
import json
import time
from typing import Any

from autobahn.asyncio.websocket import WebSocketClientFactory, WebSocketClientProtocol


class Watcher(WebSocketClientProtocol):  # type: ignore[misc]
    """One tab on one topic. `frames` are (seconds since the subscription, bytes) of each frame."""

    topic = ""

    def onOpen(self) -> None:  # noqa: N802 (the library's name)
        """Subscribe."""
        self.frames: list[tuple[float, int]] = []
        self.began = time.monotonic()
        self._say(sub=self.topic)

    def onMessage(self, payload: bytes, isBinary: bool) -> None:  # noqa: N802, N803, ARG002
        """Count a frame and acknowledge it."""
        self.frames.append((time.monotonic() - self.began, len(payload)))
        self._say(ack={self.topic: json.loads(payload)["seq"]})

    def _say(self, **message: Any) -> None:
        self.sendMessage(json.dumps({"v": 1, **message}).encode())


async def _watched(port: int, cookie: str, topic: str, seconds: float) -> list[tuple[float, int]]:
    factory = WebSocketClientFactory(
        f"ws://127.0.0.1:{port}/ws/live",
        origin=f"http://127.0.0.1:{port}",
        headers={"Cookie": cookie},
    )
    factory.protocol = type("Tab", (Watcher,), {"topic": topic})
    loop = asyncio.get_running_loop()
    transport, tab = await loop.create_connection(factory, "127.0.0.1", port)
    await asyncio.sleep(seconds)
    tab.sendClose()
    transport.close()
    return list(tab.frames)


def watch(port: int, cookie: str, topic: str, seconds: float) -> list[tuple[float, int]]:
    """Keep a tab open for so long; answers when each frame came and its size in bytes."""
    return asyncio.run(_watched(port, cookie, topic, seconds))
