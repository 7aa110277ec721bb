"""The blocking connections of one bus: a stack per node, each greeted and fenced when it opens."""

from __future__ import annotations

import ssl
import threading
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, suppress

from queue_core import fence as fencing
from queue_core import greeting
from queue_core.errors import EchoMQError, UnavailableError
from queue_core.exchange import Cut, Send
from queue_core.links import Link, Vigil
from queue_core.plans import Reply
from queue_core.remedies import of_silence, of_tls
from queue_core.routes import Ask, Routes, Words
from queue_core.servers import Address, Servers

LISTEN_S = 30.0
"""A silent subscription is asked for a sign of life as often."""

ANSWER_S = 5.0

DOUBT_ASK_S = 1.0
"""How long one server is waited for that is asked for no more than a doubt: who asks has work."""


class Pools:
    """Connections to the servers of one bus, and what is known of those."""

    def __init__(self, servers: Servers, fence: str, connect_s: float, command_s: float) -> None:
        self.routes = Routes(servers)
        self._servers = servers
        self._fence = fence
        self._connect_s = connect_s
        self._doubt_s = min(connect_s, DOUBT_ASK_S)
        self._command_s = command_s
        self._tls: ssl.SSLContext | None = servers.tls.context() if servers.tls else None
        self._idle: dict[str, list[Link]] = {}
        self._learning = threading.Lock()
        self._vigil = Vigil()
        self._closed = False

    def sent(
        self,
        sends: Sequence[Send],
        within_s: float | None = None,
        meanwhile: Callable[[], None] | None = None,
    ) -> list[list[Reply]]:
        """One round: everything goes out before the first answer is awaited, and `meanwhile` is
        called in between."""
        if len(sends) == 1 and meanwhile is None:
            out = self._out(sends[0], within_s)
            return [out if isinstance(out, list) else self._in(out, len(sends[0].words))]
        went = [self._out(send, within_s) for send in sends]
        if meanwhile is not None:
            try:
                meanwhile()
            except BaseException:
                for link in went:
                    if isinstance(link, Link):
                        link.close()
                raise
        return [
            went_out if isinstance(went_out, list) else self._in(went_out, len(send.words))
            for send, went_out in zip(sends, went, strict=True)
        ]

    def _out(self, send: Send, within_s: float | None) -> Link | list[Reply]:
        """Send a pipeline, or say for each of its commands why not."""
        try:
            link = self.take(send.node)
            if send.writes and not link.claimed:
                self._claim(link)
        except EchoMQError as fault:
            return [fault] * len(send.words)
        try:
            if within_s is not None:
                link.timeout(within_s)
            link.send(send.words)
        except OSError as error:
            self.lost(link)
            if len(send.words) == 1:  # the server never saw the end of it
                return [UnavailableError("CONNECT", f"{link.node}: {error}")]
            return [Cut(str(error))] * len(send.words)
        except BaseException:
            link.close()
            raise
        return link

    def _in(self, link: Link, size: int) -> list[Reply]:
        """Read the answers of a pipeline."""
        answers: list[Reply] = []
        try:
            for _ in range(size):
                answers.append(link.read())  # noqa: PERF401 (what came before a cut counts)
        except OSError as error:
            self.lost(link)
            return answers + [Cut(str(error) or "time is up")] * (size - len(answers))
        except BaseException:
            link.close()
            raise
        self.put(link)
        return answers

    def take(self, node: str) -> Link:
        """A connection of one's own, fresh or rested."""
        self.serves()
        idle = self._idle.get(node)
        while idle:
            try:
                link = idle.pop()
            except IndexError:
                break
            if link.lives():
                return link
            link.close()
        return self._open(self.routes.address_of(node))

    def fresh(self, node: str) -> Link:
        """A new connection, for whoever keeps it."""
        self.serves()
        return self._open(self.routes.address_of(node))

    def serves(self) -> None:
        """Refuse where this bus has been closed."""
        if self._closed:
            raise UnavailableError("CLOSED", "this bus has been closed")

    def put(self, link: Link) -> None:
        """Give a connection back that owes no answer."""
        if link.timeout_s != self._command_s:
            link.timeout(self._command_s)
        if self._closed or link.node not in self.routes.addresses:
            link.close()
        else:
            self._idle.setdefault(link.node, []).append(link)

    def lost(self, link: Link) -> None:
        """Give up a line, and those beside it, which most likely broke with it."""
        link.close()
        _close_all(self._idle.pop(link.node, []))
        if self.routes.can_learn:
            self.routes.stale = True

    def _open(self, address: Address) -> Link:
        """A new connection: the greeting, and the fence before anything else."""
        link = self._plain(address, self._connect_s)
        try:
            here = self.routes.fence_owner() == link.node
            said = greeting.words(self._servers, fenced=here)
            link.claimed = greeting.heard(self._servers, self._fence, said, self._ask(link, said))
            link.resp3 = self._servers.protocol == 3
            if not here:
                with self._at_owner() as owner:
                    answer = self._ask(owner, [fencing.READ])[0]
                link.claimed = fencing.claimed(self._fence, answer)
            link.timeout(self._command_s)
        except BaseException:
            link.close()
            raise
        return link

    def _plain(self, address: Address, within_s: float) -> Link:
        link = Link(address, within_s, self._vigil)
        if self._tls is not None:
            link.secure(self._tls, address.host)
        return link

    def _claim(self, link: Link) -> None:
        """Claim the fence before the first write of a connection."""
        words = fencing.claim(self._fence)
        if self.routes.fence_owner() == link.node:
            answers = self._ask(link, words)
        else:
            with self._at_owner() as owner:
                answers = self._ask(owner, words)
        try:
            fencing.took(self._fence, answers)
        except BaseException:
            link.close()
            raise
        link.claimed = True

    @contextmanager
    def _at_owner(self) -> Iterator[Link]:
        """A connection to the node that holds the fence."""
        owner = self.take(self.routes.fence_owner())
        try:
            yield owner
        except BaseException:
            owner.close()
            raise
        self.put(owner)

    def _ask(self, link: Link, words: list[Words]) -> list[Reply]:
        """Commands of our own; a broken line is `UnavailableError`."""
        try:
            link.send(words)
            return [link.read() for _ in words]
        except OSError as error:
            link.close()
            why = f"{link.node}: {of_silence(error)}{of_tls(error)}"
            raise UnavailableError("CONNECT", why) from None

    # ---- who serves ------------------------------------------------------------------------

    def learn(self) -> None:
        """Ask who serves what; one thread asks. Where what is known has failed the others wait
        for it; where it is only in doubt they go on with it."""
        if not self._learning.acquire(blocking=self.routes.stale):
            return
        try:
            if not self.routes.current():
                self._learn(self._connect_s if self.routes.stale else self._doubt_s)
        finally:
            self._learning.release()

    def _learn(self, within_s: float) -> None:
        self.serves()
        asking = self.routes.learn()
        try:
            question = next(asking)
            while True:
                question = asking.send(self._inquire(question, within_s))
        except StopIteration:
            pass
        for node in set(self._idle) - set(self.routes.addresses):
            _close_all(self._idle.pop(node, []))

    def _inquire(self, question: Ask, within_s: float) -> Reply:
        """One question on a connection of its own, which carries nothing else."""
        servers = self._servers.for_asking()
        try:
            link = self._plain(question.address, within_s)
            try:
                said = greeting.words(servers, fenced=False)
                greeting.heard(servers, self._fence, said, self._ask(link, said))
                return self._ask(link, [question.words])[0]
            finally:
                link.close()
        except EchoMQError as fault:
            return fault

    # ---- the end ---------------------------------------------------------------------------

    def close(self) -> None:
        """Give up the idle connections, and those in use when they come back."""
        self._closed = True
        self.forget_all()

    def forget_all(self) -> None:
        """Give up the idle connections."""
        idle, self._idle = self._idle, {}
        for links in idle.values():
            _close_all(links)

    def forked(self) -> None:
        """Leave the connections to the parent, and wait for no thread that stayed there."""
        self._learning = threading.Lock()
        self.forget_all()


def _close_all(rested: list[Link]) -> None:
    """Close what rests on a stack. Each is taken off it first: another thread that still has the
    stack takes connections from it too, and none may be closed in its hands."""
    with suppress(IndexError):
        while True:
            rested.pop().close()


def subscribed(link: Link, channels: Sequence[bytes]) -> Iterator[tuple[bytes, bytes]]:
    """Subscribe on a connection that from now on does nothing else."""
    try:
        link.send([("SUBSCRIBE", *channels)])
        for _ in channels:
            said = link.read_push()
            if isinstance(said, EchoMQError):
                raise said
    except OSError as error:
        link.close()
        raise UnavailableError("LOST", f"{link.node}: {error}") from None
    except BaseException:
        link.close()
        raise
    return _heard(link)


def _heard(link: Link) -> Iterator[tuple[bytes, bytes]]:
    """Messages of a subscription until it breaks or is closed."""
    try:
        link.timeout(LISTEN_S)
        asked = False
        while True:
            try:
                said = link.read_push()
            except TimeoutError:
                if asked:
                    raise
                asked = True
                link.send([("PING",)])
                link.timeout(ANSWER_S)
                continue
            if asked:
                asked = False
                link.timeout(LISTEN_S)
            if isinstance(said, list) and len(said) == 3 and said[0] == b"message":
                yield said[1], said[2]
    except OSError as error:
        raise UnavailableError("LOST", f"{link.node}: {of_silence(error)}") from None
    finally:
        link.close()
