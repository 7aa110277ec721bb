"""The keys of scratch queues: found and deleted by steps that are bounded each.

A prefix here holds no character that a pattern of the server reads as more than itself.
"""

from collections.abc import Sequence

from queue_core.errors import EchoMQError
from queue_core.plans import Arg, Batch, Call, Plan

PAGE = 1000
"""How much of the keyspace one step looks at."""


def keys_from(primaries: Sequence[str], prefix: bytes, delete: bool = False) -> Plan[list[bytes]]:
    """The keys that begin with a prefix on any primary; each deleted as it is found where
    `delete`."""
    found: list[bytes] = []
    for node in primaries:
        cursor: Arg = 0
        while True:
            words = (cursor, "MATCH", prefix + b"*", "COUNT", PAGE)
            cursor, keys = yield Call("SCAN", (), words, node=node)
            found += keys
            if delete and keys:
                for reply in (yield Batch(tuple(Call("UNLINK", (key,)) for key in keys))):
                    if isinstance(reply, EchoMQError):
                        raise reply
            if int(cursor) == 0:
                break
    return found
