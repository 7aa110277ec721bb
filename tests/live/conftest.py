"""A socket of the console, spoken to without a server in between."""

from __future__ import annotations

import json
from collections.abc import AsyncIterator, Callable, Iterator
from typing import Any

import pytest
from channels.testing import WebsocketCommunicator
from django.conf import settings as configured
from django.test import Client

from echomq_admin.live import observatory
from echomq_admin.live.page import to_path
from queue_core.keys import QueueKeys
from tests.console.conftest import ada, client_of, person, site  # noqa: F401


@pytest.fixture(autouse=True)
def db_of_threads(transactional_db: None) -> None:
    """The socket reads the database from threads, which see only what is committed."""


@pytest.fixture
def watched(site: Any) -> Iterator[Any]:  # noqa: F811
    """The site, with an observatory that knows nothing yet."""
    observatory.shut()
    yield site
    observatory.shut()


def cookie_of(client: Client) -> str:
    """The session of a signed-in browser, as its header."""
    name = configured.SESSION_COOKIE_NAME
    return f"{name}={client.cookies[name].value}"


class Tab:
    """One browser tab's socket."""

    def __init__(self, client: Client | None, origin: str = "http://localhost") -> None:
        from echomq_admin.asgi import application

        headers = [(b"host", b"localhost"), (b"origin", origin.encode())]
        if client is not None:
            headers.append((b"cookie", cookie_of(client).encode()))
        self.wire = WebsocketCommunicator(application, "/ws/live", headers)

    async def open(self) -> bool:
        return (await self.wire.connect(timeout=5))[0]

    async def say(self, **message: Any) -> None:
        await self.wire.send_to(json.dumps({"v": 1, **message}))

    async def frame(self, seconds: float = 5) -> dict[str, Any]:
        """The next frame."""
        got = await self.wire.receive_output(seconds)
        assert got["type"] == "websocket.send", got
        return json.loads(got["text"])

    async def until(self, wanted: Callable[[dict[str, Any]], bool]) -> list[dict[str, Any]]:
        """Frames up to the first that is wanted, each acknowledged."""
        frames = []
        for _ in range(40):
            frames.append(await self.frame())
            await self.say(ack={frames[-1]["topic"]: frames[-1]["seq"]})
            if wanted(frames[-1]):
                return frames
        raise AssertionError(f"not among {len(frames)} frames")

    async def closed(self, seconds: float = 6) -> int:
        """The code of the close, after whatever was still sent."""
        while True:
            got = await self.wire.receive_output(seconds)
            if got["type"] == "websocket.close":
                return got["code"]


@pytest.fixture
async def tab(watched: Any, ada: Any, client_of: Any) -> AsyncIterator[Callable[..., Any]]:  # noqa: F811
    """`await tab(user)`: an open socket of somebody signed in, Ada where nobody is named."""
    from asgiref.sync import sync_to_async

    opened: list[Tab] = []

    async def made(who: Any = None) -> Tab:
        client = await sync_to_async(client_of)(who or ada)
        made_tab = Tab(client)
        made_tab.client = client
        assert await made_tab.open()
        opened.append(made_tab)
        return made_tab

    yield made
    for one in opened:
        await one.wire.disconnect()


@pytest.fixture
def topic(q: QueueKeys) -> str:
    """The dead of this test's queue."""
    return f"main/dead/{to_path(q.name)}/~"
