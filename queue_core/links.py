"""One blocking connection: a socket and a parser. It raises what went wrong with the line, and
hands error replies on as faults; the bus decides what either means."""

from __future__ import annotations

import select
import socket
import ssl
import struct
import threading
from collections.abc import Callable
from time import monotonic
from typing import Any, cast

import hiredis

from queue_core.errors import UnavailableError
from queue_core.plans import Reply
from queue_core.remedies import of_greeting
from queue_core.replies import fault, plain
from queue_core.routes import Words
from queue_core.servers import Address

NOT_YET: Any = object()
AWAKE_S = 0.000_3
"""How long an answer is awaited before the thread sleeps for it: what a server takes that was just
woken itself. One that is awake takes a tenth of it."""

ASLEEP_S = (0.004, 0.064)
"""How long answers are slept for at once after one that did not come in that time, the first time
and at most: twice as long each time in between."""

_CHUNK = 65_536
_pack: Callable[[Words], bytes] = cast(Any, hiredis.pack_command)  # its stub knows one word


def packed(commands: list[Words]) -> bytes:
    """Commands as the wire has them."""
    if len(commands) == 1:
        return _pack(commands[0])
    return b"".join(map(_pack, commands))


def reader() -> hiredis.Reader:
    """A parser whose error replies are faults, and to which bytes that are no reply are a broken
    line."""
    return hiredis.Reader(ConnectionError, fault, notEnoughData=NOT_YET)


class Vigil:
    """Staying awake for an answer that is as good as there, since to sleep and be woken takes
    longer than the server needs for most. One thread of a bus does at a time: where another asks
    meanwhile, the core is better left to it. After that, and after an answer that did not come,
    the server being far or without a core of its own now, the next ones are slept for.
    """

    def __init__(self) -> None:
        self._sleep_until = 0.0
        self._sleep_s = ASLEEP_S[0]
        self._lock = threading.Lock()

    def keep(self, poll: select.poll) -> None:
        """Wait for a moment without sleeping until something can be read."""
        now, here = monotonic(), poll.poll
        if now < self._sleep_until:
            return
        if not self._lock.acquire(blocking=False):
            self._sleep_until = now + ASLEEP_S[1]
            return
        try:
            until = now + AWAKE_S
            while not (came := here(0)) and self._sleep_until <= now < until:
                now = monotonic()
            if came:
                self._sleep_s = ASLEEP_S[0]
            elif now >= until:
                self._sleep_until = now + self._sleep_s
                self._sleep_s = min(2 * self._sleep_s, ASLEEP_S[1])
        finally:
            self._lock.release()


class Link:
    """One connection to one server. Used by one thread at a time.

    `node` is its server's name; `claimed` whether the version fence was seen to be ours; `aside`
    where whatever comes unasked between replies is put, None for nowhere.
    """

    __slots__ = (
        "_poll", "_reader", "_socket", "_vigil", "aside", "claimed", "node", "resp3", "timeout_s",
    )  # fmt: skip

    def __init__(self, address: Address, timeout_s: float, vigil: Vigil | None = None) -> None:
        """Connect. `UnavailableError` with code CONNECT where nobody answers."""
        self.node = address.name
        self.claimed = False
        self.resp3 = False
        self.aside: list[Reply] | None = None
        self.timeout_s = timeout_s
        self._vigil = vigil or Vigil()
        self._reader = reader()
        try:
            if address.port:
                self._socket = socket.create_connection((address.host, address.port), timeout_s)
                self._socket.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
                self._socket.setsockopt(socket.SOL_SOCKET, socket.SO_KEEPALIVE, 1)
            else:
                self._socket = socket.socket(socket.AF_UNIX)
                self._socket.settimeout(timeout_s)
                self._socket.connect(address.host)
        except OSError as error:
            raise UnavailableError("CONNECT", f"cannot connect to {self.node}: {error}") from None
        self._poll = select.poll()
        self._poll.register(self._socket, select.POLLIN)

    def secure(self, context: ssl.SSLContext, host: str) -> None:
        """Go over to TLS."""
        try:
            self._socket = context.wrap_socket(self._socket, server_hostname=host)
        except OSError as error:
            self.close()
            raise UnavailableError(
                "CONNECT", f"no TLS with {self.node}: {error}{of_greeting(error)}"
            ) from None

    def timeout(self, seconds: float) -> None:
        """How long a reply may take from now on. Kept by the system, where it can be: Python's own
        time-out asks the system once more before each send and each receive."""
        self.timeout_s = seconds
        if isinstance(self._socket, ssl.SSLSocket):
            self._socket.settimeout(seconds)
            return
        micros = max(1, round(seconds * 1_000_000))  # none would be for ever
        span = struct.pack("@ll", *divmod(micros, 1_000_000))
        self._socket.settimeout(None)
        self._socket.setsockopt(socket.SOL_SOCKET, socket.SO_RCVTIMEO, span)
        self._socket.setsockopt(socket.SOL_SOCKET, socket.SO_SNDTIMEO, span)

    def lives(self) -> bool:
        """Whether an idle connection may still be used: nothing came in while it rested."""
        return not self._poll.poll(0) or self._heard_tls_alone()

    def _heard_tls_alone(self) -> bool:
        """Whether what came in was for TLS itself, a new key or ticket, and not the end."""
        if not isinstance(self._socket, ssl.SSLSocket):
            return False
        self._socket.settimeout(0)
        try:
            self._socket.recv(1)
        except ssl.SSLWantReadError:
            self._socket.settimeout(self.timeout_s)
            return True
        except OSError:
            pass
        return False

    def send(self, commands: list[Words]) -> None:
        """Hand commands over. `OSError` where not all of them left."""
        self._socket.sendall(packed(commands))

    def read(self) -> Reply:
        """The next reply, an error reply as its fault. `OSError` where the line broke or the
        time is up."""
        parser = self._reader
        reply = parser.gets()
        while reply is NOT_YET or type(reply) is hiredis.PushNotification:
            if reply is NOT_YET:
                self._vigil.keep(self._poll)
                self._hear()
            elif self.aside is not None:
                self.aside.append(list(reply))
            reply = parser.gets()
        return plain(reply) if self.resp3 else reply

    def read_push(self) -> Reply:
        """The next thing the server says, a push or a reply."""
        reply = self._reader.gets()
        while reply is NOT_YET:
            self._hear()
            reply = self._reader.gets()
        return list(reply) if isinstance(reply, list) else reply

    def fileno(self) -> int:
        """Its socket, to be polled."""
        return self._socket.fileno()

    def said(self, readable: bool) -> list[Reply]:
        """What the server has said so far, pushes and replies; the socket is asked once where it
        is `readable`. `OSError` where the line broke."""
        came: list[Reply] = []
        parser = self._reader
        while True:
            while (reply := parser.gets()) is not NOT_YET:
                came.append(list(reply) if isinstance(reply, list) else reply)
            if not readable:
                return came
            self._hear()
            readable = isinstance(self._socket, ssl.SSLSocket) and self._socket.pending() > 0

    def _hear(self) -> None:
        """Take in what the server says next. `OSError` as of `read`."""
        try:
            data = self._socket.recv(_CHUNK)
        except BlockingIOError:
            raise TimeoutError("timed out") from None
        if not data:
            raise ConnectionResetError("the server closed the connection")
        self._reader.feed(data)

    def close(self) -> None:
        """Give it up."""
        self._socket.close()
