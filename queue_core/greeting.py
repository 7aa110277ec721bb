"""How a connection introduces itself, in one round trip: who we are, which database, the fence."""

from __future__ import annotations

from queue_core import fence
from queue_core.errors import EchoMQError, UnavailableError
from queue_core.plans import Reply
from queue_core.routes import Words
from queue_core.servers import Kind, Servers


def words(servers: Servers, fenced: bool) -> list[Words]:
    """The commands of a new connection; the fence's question last where this node holds it."""
    said: list[Words] = []
    if servers.login.words:
        said.append(("AUTH", *servers.login.words))
    if servers.protocol == 3:
        said.append(("HELLO", 3))
    if servers.db:
        said.append(("SELECT", servers.db))
    said.append(("CLIENT", "SETNAME", servers.client_name))
    if fenced:
        if servers.kind is Kind.sentinel:
            said.append(("ROLE",))
        said.append(fence.READ)
    return said


def heard(
    servers: Servers, expected: str, said: list[Words], replies: list[Reply | EchoMQError]
) -> bool:
    """Whether the fence was seen claimed. Raises what the server refused: the login, the
    database, the fence; a primary that has become a replica is unavailable. That it knows no
    HELLO or lets us set no name is borne."""
    claimed = False
    for (name, *_), reply in zip(said, replies, strict=True):
        if name in {"AUTH", "SELECT"} and isinstance(reply, EchoMQError):
            raise reply
        if name == "ROLE" and isinstance(reply, list) and reply[0] != b"master":
            raise UnavailableError("READONLY", f"{servers.safe}: the primary is a replica now")
        if name == "GET":
            claimed = fence.claimed(expected, reply)
    return claimed
