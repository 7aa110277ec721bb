"""A line to a server that can fall silent without closing, as one does behind a lost network."""

from __future__ import annotations

import asyncio
import threading


class Line:
    """Takes connections on a port and passes what is said on, both ways, to a server's port."""

    def __init__(self, behind: int) -> None:
        self._behind = behind
        self._loop = asyncio.new_event_loop()
        self._thread = threading.Thread(target=self._loop.run_forever, daemon=True)
        self._thread.start()
        self._speaks: set[asyncio.StreamWriter] = set()
        self._pairs: set[asyncio.StreamWriter] = set()
        self._server = asyncio.run_coroutine_threadsafe(self._open(), self._loop).result(5)
        self.port: int = self._server.sockets[0].getsockname()[1]

    async def _open(self) -> asyncio.Server:
        return await asyncio.start_server(self._pass, "127.0.0.1", 0)

    async def _pass(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        inner, outer = await asyncio.open_connection("127.0.0.1", self._behind)
        self._speaks |= {writer, outer}
        self._pairs |= {writer, outer}
        await asyncio.gather(self._copy(reader, outer), self._copy(inner, writer))

    async def _copy(self, source: asyncio.StreamReader, sink: asyncio.StreamWriter) -> None:
        try:
            while data := await source.read(65_536):
                if sink in self._speaks:
                    sink.write(data)
                    await sink.drain()
            if sink in self._speaks:
                sink.close()
        except OSError:
            sink.close()

    def hush(self) -> None:
        """From now on nothing is heard on the connections that stand, nor are they closed. New
        ones are none the worse."""
        self._loop.call_soon_threadsafe(self._speaks.clear)

    def close(self) -> None:
        """End it."""

        async def ended() -> None:
            self._server.close()
            for writer in self._pairs:
                writer.transport.abort()
            while asyncio.all_tasks() - {asyncio.current_task()}:  # noqa: ASYNC110 (they end now)
                await asyncio.sleep(0.005)

        asyncio.run_coroutine_threadsafe(ended(), self._loop).result(5)
        self._loop.call_soon_threadsafe(self._loop.stop)
        self._thread.join()
        self._loop.close()
