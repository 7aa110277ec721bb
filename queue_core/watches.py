"""Hearing at once that something has changed, without polling.

The server keeps in mind what a line has read and tells it once when that changes (CLIENT TRACKING
over RESP3, whoever writes it and in whatever language). So a look arms the watch, and looking again
arms it anew; a busy queue costs one message a look and no more. Where the server or its ACL refuses
that, the line waits for the ring's `wake` list instead, which tells of lanes only.
"""

from __future__ import annotations

import contextlib
import select
import socket
from collections.abc import Sequence
from typing import Protocol

from queue_core.errors import EchoMQError, ServerFault, UnavailableError
from queue_core.exchange import noted, words_of
from queue_core.links import Link
from queue_core.plans import Call, Reply
from queue_core.pools import Pools
from queue_core.routes import Words

ANY = b""
"""In place of a key: the server has told that anything may have changed."""


class Watches(Protocol):
    """A bus that gives watches."""

    def watch(self, key: bytes) -> Watch:
        """A line that hears when something of the key's slot changes."""


class Watch:
    """One watching line. Used by one thread at a time, but `nudge`, which any thread or signal
    handler may call. It opens when first used, and anew after a fault.

    `tracks` turns False where the server refuses to tell.
    """

    def __init__(self, pools: Pools, key: bytes) -> None:
        self.tracks = True
        self._pools = pools
        self._key = key
        self._link: Link | None = None
        self._blocked = False
        self._hear, self._nudge = socket.socketpair()
        self._hear.setblocking(False)
        self._nudge.setblocking(False)

    def look(self, call: Call) -> Reply | None:
        """Run a pure read; what it read is watched from now on, and what was heard so far is
        forgotten. None where the server does not tell, so that looking is no use. Raises as
        `Bus.run`."""
        link = self._stand()
        if not self.tracks:
            return None
        answer = self._asked(link, [words_of(call)])[0]
        if isinstance(answer, ServerFault) and answer.code == "NOSCRIPT" and call.script:
            load: Words = ("SCRIPT", "LOAD", call.script.source)
            answer = self._asked(link, [load, words_of(call)])[1]
        if isinstance(answer, EchoMQError):
            noted(answer, self._pools.routes)
            self._drop()
            raise answer
        return answer

    def wait(self, timeout_s: float, wake: bytes | None = None) -> list[bytes]:
        """Wait until what was looked at has changed, `timeout_s` at most, or less where somebody
        nudges; the keys that have changed, `ANY` for it may be any. Where the server does not tell,
        wait for the `wake` list. Raises `UnavailableError` where the line breaks."""
        return wait_any([self], timeout_s, wake)

    def nudge(self) -> None:
        """End the wait under way, or the next one."""
        with contextlib.suppress(OSError):  # one nudge that waits already is enough
            self._nudge.send(b"!")

    def close(self) -> None:
        """Give it up."""
        self._drop()
        self._hear.close()
        self._nudge.close()

    def _begin(self, poll: select.poll, timeout_s: float, wake: bytes | None) -> list[bytes]:
        """Join a wait; answers what has been heard before it."""
        poll.register(self._hear, select.POLLIN)
        link = self._link
        if link is None:
            return []
        try:
            if not self.tracks and wake is not None and not self._blocked:
                link.send([("BLPOP", wake, f"{max(timeout_s, 0.001):.3f}")])
                self._blocked = True
            poll.register(link, select.POLLIN)
            return self._heard(link, False)
        except OSError as error:
            self._drop()
            raise UnavailableError("LOST", f"the watching line: {error}") from None

    def _end(self, ready: set[int]) -> list[bytes]:
        """Leave a wait; answers what was heard."""
        if self._hear.fileno() in ready:
            self._hear.recv(4096)
        link = self._link
        if link is None or link.fileno() not in ready:
            return []
        try:
            return self._heard(link, True)
        except OSError as error:
            self._drop()
            raise UnavailableError("LOST", f"the watching line: {error}") from None

    def _heard(self, link: Link, readable: bool) -> list[bytes]:
        """The keys that have changed; a reply to the pop is as good as any."""
        keys: list[bytes] = []
        for one in link.said(readable):
            self._blocked = False
            told = isinstance(one, list) and one[:1] == [b"invalidate"] and one[1]
            keys += told or [ANY]
        return keys

    def _stand(self) -> Link:
        """The line, opened where there is none."""
        if self._link is not None:
            return self._link
        routes = self._pools.routes
        if not routes.current():
            self._pools.learn()
        link = self._pools.fresh(routes.node_of(Call("EXISTS", (self._key,))))
        said = self._asked(link, [("HELLO", 3), ("CLIENT", "TRACKING", "ON")])
        self.tracks = not any(isinstance(answer, EchoMQError) for answer in said)
        link.resp3 = link.resp3 or not isinstance(said[0], EchoMQError)
        self._link, self._blocked = link, False
        return link

    def _asked(self, link: Link, commands: list[Words]) -> list[Reply]:
        try:
            link.send(commands)
            return [link.read() for _ in commands]
        except OSError as error:
            link.close()
            self._link = None
            raise UnavailableError("LOST", f"{link.node}: {error or 'time is up'}") from None

    def _drop(self) -> None:
        link, self._link = self._link, None
        if link is not None:
            link.close()


def wait_any(watches: Sequence[Watch], timeout_s: float, wake: bytes | None = None) -> list[bytes]:
    """`Watch.wait` on several of them at once."""
    poll = select.poll()
    changed = [key for one in watches for key in one._begin(poll, timeout_s, wake)]
    wait_ms = 0.0 if changed else max(0.0, timeout_s * 1000)
    ready = {fd for fd, _ in poll.poll(wait_ms)}
    return changed + [key for one in watches for key in one._end(ready)]
