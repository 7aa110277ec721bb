"""What a queue, dedup key or repeat may be called when we create it (protocol part 2.4).

The rules bind what creates. Reads and operator verbs take whatever discovery found.
"""

import re

from queue_core.errors import InvalidError
from queue_core.quoting import quoted

RESERVED_QUEUE = b"emq"
_QUEUE = re.compile(rb"[A-Za-z0-9._-]{1,128}")
_DEDUP = re.compile(rb"[A-Za-z0-9._-]{1,255}")


def as_bytes(name: bytes | str) -> bytes:
    """The bytes of a name given as text (UTF-8) or as bytes."""
    return name.encode() if isinstance(name, str) else name


def check_queue(name: bytes | str) -> bytes:
    """The name's bytes, or `InvalidError` where a queue may not be called so."""
    raw = as_bytes(name)
    if not isinstance(raw, bytes) or not _QUEUE.fullmatch(raw) or raw == RESERVED_QUEUE:
        raise InvalidError(
            f"a queue name is 1 to 128 of A-Z a-z 0-9 . _ - and not 'emq', got {quoted(name)}"
        )
    return raw


def check_dedup(did: bytes | str) -> bytes:
    """The dedup id's bytes, or `InvalidError`: 1 to 255 of A-Z a-z 0-9 . _ -."""
    raw = as_bytes(did)
    if not _DEDUP.fullmatch(raw):
        raise InvalidError(f"a dedup id is 1 to 255 of A-Z a-z 0-9 . _ -, got {quoted(did)}")
    return raw
