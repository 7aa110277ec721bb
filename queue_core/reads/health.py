"""How a bus fares: its clock, fence, memory and role, each with the right it needs.

A command that the server's access list refuses leaves its facts None and is named in
`missing`, so that a page can say which right to grant.
"""

from __future__ import annotations

from dataclasses import dataclass

from queue_core import keys
from queue_core.errors import (
    EchoMQError,
    ForbiddenFault,
    UnavailableError,
    UnknownOutcomeError,
)
from queue_core.plans import Batch, Call, Plan, Reply


@dataclass(frozen=True, slots=True)
class Health:
    """`now_ms` is the server's clock. `fence` is the wire version the bus carries, b"" where
    none has been claimed. `memory` and `memory_limit` are bytes (limit 0: none). `policy` is
    the eviction policy. `role` is master | replica. `server` names product and version.
    None where it could not be read; `missing` are the commands that were refused."""

    now_ms: int | None
    fence: bytes | None
    memory: int | None
    memory_limit: int | None
    policy: str | None
    role: str | None
    server: str | None
    missing: tuple[str, ...]

    @property
    def evicts(self) -> bool:
        """Whether rows may vanish when memory is full: any policy but noeviction."""
        return self.policy is not None and self.policy != "noeviction"


def _lines(info: Reply) -> dict[str, str]:
    if not isinstance(info, bytes):
        return {}
    pairs = (line.partition(":") for line in info.decode("utf-8", "replace").splitlines())
    return {name: value for name, colon, value in pairs if colon}


def _number(text: str | None) -> int | None:
    return int(text) if text is not None and text.isdigit() else None


def _server(info: dict[str, str]) -> str | None:
    if version := info.get("valkey_version"):
        return f"Valkey {version}"
    return f"Redis {info['redis_version']}" if "redis_version" in info else None


def _clock(reply: Reply) -> int | None:
    if isinstance(reply, EchoMQError) or not reply:
        return None
    return int(reply[0]) * 1000 + int(reply[1]) // 1000


def health(node: str | None = None) -> Plan[Health]:
    """Ask one primary how it fares, in one round trip (the fence's owner is asked beside it).
    Raises what `TIME` raised where the server did not answer at all."""
    asked = {
        "TIME": Call("TIME", node=node),
        "GET": Call("GET", (keys.VERSION,)),
        "INFO": Call("INFO", args=("server", "memory", "replication"), node=node),
    }
    clock, fence, info = yield Batch(tuple(asked.values()))
    if isinstance(clock, (UnavailableError, UnknownOutcomeError)):
        raise clock
    replies = dict(zip(asked, (clock, fence, info), strict=True))
    missing = tuple(name for name, got in replies.items() if isinstance(got, ForbiddenFault))
    lines = _lines(info)
    role = {"master": "master", "slave": "replica"}.get(lines.get("role", ""))
    return Health(
        now_ms=_clock(clock),
        fence=None if isinstance(fence, EchoMQError) else fence or b"",
        memory=_number(lines.get("used_memory")),
        memory_limit=_number(lines.get("maxmemory")),
        policy=lines.get("maxmemory_policy"),
        role=role,
        server=_server(lines),
        missing=missing,
    )
