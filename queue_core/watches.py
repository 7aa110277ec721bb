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
import time
from collections.abc import Sequence
from typing import Protocol

from queue_core.errors import EchoMQError, ForbiddenFault, ServerFault, UnavailableError
from queue_core.exchange import WAIT_SLACK_S, code_of, noted, words_of
from queue_core.links import Link
from queue_core.plans import Call, Reply
from queue_core.pools import Pools
from queue_core.remedies import of_silence
from queue_core.routes import Words

ANY = b""
"""In place of a key: the server has told that anything may have changed."""

TRACK: list[Words] = [("HELLO", 3), ("CLIENT", "TRACKING", "ON")]

POP_S = 5.0
"""How long a pop waits where the server does not tell: over several beats, so that a rest costs no
command of its own."""

UNTOLD = frozenset({"ASK", "TRYAGAIN"})
"""Refusals of a slot that is on its way: nothing tells of it until it has arrived."""


def told_of(said: Reply) -> list[bytes]:
    """The keys that something said unasked is about; a reply to a pop is as good as any, but that
    of one whose time was up, which tells of nothing."""
    if said is None:
        return []
    keys = said[1] if isinstance(said, list) and said[:1] == [b"invalidate"] else None
    return list(keys) if keys else [ANY]


def tracking(said: Sequence[Reply]) -> bool:
    """Whether the server will tell, by what it answered to `TRACK`. Raises the fault of one that
    cannot serve now."""
    for answer in said:
        if isinstance(answer, UnavailableError):
            raise answer
    return not any(isinstance(answer, EchoMQError) for answer in said)


class Watches(Protocol):
    """A bus that gives watches."""

    def watch(self, key: bytes, nudged: bool = True) -> Watch:
        """A line that hears when something of the key's slot changes."""


class Watch:
    """One watching line. Used by one thread at a time, but `nudge`, which any thread or signal
    handler may call. It opens when first used, and anew after a fault. One that is never `nudged`,
    since it is waited for beside another that is, holds no more than its line.

    `tracks` turns False where the server refuses to tell. A line that fell silent, neither closed
    nor answering, is noticed by the next look, once a command's time is up.
    """

    def __init__(self, pools: Pools, key: bytes, nudged: bool = True) -> None:
        self.tracks = True
        self._pools = pools
        self._key = key
        self._link: Link | None = None
        self._popping_until: float | None = None
        self._aside: list[bytes] = []
        self._nudges: tuple[socket.socket, ...] = socket.socketpair() if nudged else ()
        for end in self._nudges:
            end.setblocking(False)

    def look(self, call: Call) -> Reply | None:
        """Run a pure read; the keys of its slot that it read are watched from now on, and what was
        heard of `call.keys` so far is forgotten. None where the server does not tell, or not now,
        so that only looking again tells more. Raises as `Bus.run`."""
        answer = self._looked(call)
        if isinstance(answer, EchoMQError) and code_of(answer) == "MOVED":
            answer = self._looked(call)
        self._aside = [key for key in self._aside if key not in call.keys]
        if not isinstance(answer, EchoMQError):
            return answer
        if code_of(answer) in UNTOLD:
            return None
        raise answer

    def _looked(self, call: Call) -> Reply | EchoMQError | None:
        """The answer; the line is given up where it is a fault."""
        link = self._stand()
        if not self.tracks:
            return None
        answer = self._asked(link, [words_of(call)])[0]
        if isinstance(answer, ServerFault) and answer.code == "NOSCRIPT" and call.script:
            load: Words = ("SCRIPT", "LOAD", call.script.source)
            answer = self._asked(link, [load, words_of(call)])[1]
        if isinstance(answer, ForbiddenFault):
            self.tracks = False
            return None
        if isinstance(answer, EchoMQError):
            noted(answer, self._pools.routes)
            self._drop()
        return answer

    def wait(self, timeout_s: float, wake: bytes | None = None) -> list[bytes]:
        """Wait until what was looked at has changed, `timeout_s` at most, or less where somebody
        nudges; the keys that have changed, `ANY` for it may be any. Where the server does not tell,
        wait for the `wake` list. Raises `UnavailableError` where the line breaks."""
        return wait_any([self], timeout_s, wake)

    def nudge(self) -> None:
        """End the wait under way, or the next one."""
        for end in self._nudges[1:]:
            with contextlib.suppress(OSError):  # one nudge that waits already is enough
                end.send(b"!")

    def close(self) -> None:
        """Give it up."""
        self._drop()
        for end in self._nudges:
            end.close()

    # ---- a wait ------------------------------------------------------------------------------

    def _begin(self, poll: select.poll, wake: bytes | None) -> list[bytes]:
        """Join a wait; answers what has been heard before it."""
        for end in self._nudges[:1]:
            poll.register(end, select.POLLIN)
        heard, self._aside = self._aside, []
        link = self._link
        if link is None:
            return heard
        try:
            if not self.tracks and wake is not None:
                self._pop(link, wake)
            poll.register(link, select.POLLIN)
            return heard + self._heard(link, False)
        except OSError as error:
            raise self._lost(error) from None

    def _pop(self, link: Link, wake: bytes) -> None:
        """Have a pop wait on the line, one at a time."""
        now = time.monotonic()
        if self._popping_until is None:
            link.send([("BLPOP", wake, f"{POP_S:.3f}")])
            self._popping_until = now + POP_S + WAIT_SLACK_S
        elif now > self._popping_until:
            raise TimeoutError("time is up")

    def _end(self, ready: set[int]) -> list[bytes]:
        """Leave a wait; answers what was heard."""
        for end in self._nudges[:1]:
            if end.fileno() in ready:
                end.recv(4096)
        link = self._link
        if link is None or link.fileno() not in ready:
            return []
        try:
            return self._heard(link, True)
        except OSError as error:
            raise self._lost(error) from None

    def _heard(self, link: Link, readable: bool) -> list[bytes]:
        """The keys that have changed."""
        keys: list[bytes] = []
        for one in link.said(readable):
            self._popping_until = None
            keys += told_of(one)
        return keys

    # ---- the line ----------------------------------------------------------------------------

    def _stand(self) -> Link:
        """The line, opened where there is none, and anew where another server serves the key by
        now. One that is kept knows nothing of its bus having been closed."""
        self._pools.serves()
        routes = self._pools.routes
        if not routes.current():
            self._pools.learn()
        node = routes.node_of(Call("EXISTS", (self._key,)))
        if self._link is not None and self._link.node == node:
            return self._link
        self._drop()
        try:
            link = self._pools.fresh(node)
            self._link, self._popping_until = link, None
            self.tracks = tracking(self._asked(link, TRACK))
        except EchoMQError as fault:
            noted(fault, routes)
            self._drop()
            raise
        link.resp3 = link.resp3 or self.tracks
        link.aside = []
        return link

    def _asked(self, link: Link, commands: list[Words]) -> list[Reply]:
        try:
            link.send(commands)
            answers = [link.read() for _ in commands]
        except OSError as error:
            raise self._lost(error) from None
        if link.aside:
            self._aside += [key for said in link.aside for key in told_of(said)]
            link.aside.clear()
        return answers

    def _lost(self, error: OSError) -> UnavailableError:
        """Give up a line that broke, and what rests beside it; another server may serve by now."""
        if self._link is not None:
            self._pools.lost(self._link)
        self._drop()
        return UnavailableError("LOST", f"the watching line: {of_silence(error)}")

    def _drop(self) -> None:
        link, self._link = self._link, None
        if link is not None:
            self._aside.append(ANY)  # nothing tells any more of what was looked at
            link.close()


def wait_any(watches: Sequence[Watch], timeout_s: float, wake: bytes | None = None) -> list[bytes]:
    """`Watch.wait` on several of them at once."""
    heard = wait_each([(one, wake) for one in watches], timeout_s)
    return [key for keys in heard for key in keys]


def wait_each(watches: Sequence[tuple[Watch, bytes | None]], timeout_s: float) -> list[list[bytes]]:
    """`Watch.wait` on several of them at once, each with a `wake` list of its own: what each has
    heard, in order."""
    poll = select.poll()
    before = [one._begin(poll, wake) for one, wake in watches]
    wait_ms = 0.0 if any(before) else max(0.0, round(timeout_s * 1000, 3))  # made whole, upwards
    ready = {fd for fd, _ in poll.poll(wait_ms)}
    return [keys + one._end(ready) for keys, (one, _) in zip(before, watches, strict=True)]
