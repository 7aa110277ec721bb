"""Branded ids: three capital letters and eleven base-62 digits (protocol part 1).

The digits hold `(unix_ms - EPOCH_MS) << 22 | node << 12 | seq`, so byte order is mint order
within one namespace and node.
"""

import re
import threading
import time
from collections.abc import Callable
from dataclasses import dataclass

from queue_core.errors import InvalidError
from queue_core.names import as_bytes
from queue_core.quoting import quoted

EPOCH_MS = 1_704_067_200_000
"""2024-01-01T00:00:00Z, the zero of every id, in Unix milliseconds."""

LENGTH = 14
MAX_VALUE = 2**63 - 1
MAX_NODE = 1023
TAIL_MASK = (1 << 22) - 1

_DIGITS = b"0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz"
_VALUE_OF = {digit: value for value, digit in enumerate(_DIGITS)}
_PAIRS = [bytes((high, low)) for high in _DIGITS for low in _DIGITS]
_SHAPE = re.compile(rb"[A-Z]{3}[0-9A-Za-z]{11}")
_TOP = b"AzL8n0Y58m7"
_NAMESPACE = re.compile(rb"[A-Z]{3}")


@dataclass(frozen=True, slots=True)
class Identity:
    """A decoded id: its namespace, the Unix ms it was minted at, node 0..1023, seq 0..4095."""

    namespace: str
    unix_ms: int
    node: int
    seq: int
    value: int


def is_id(raw: bytes) -> bool:
    """Whether these bytes are a well-formed branded id of any namespace."""
    return _SHAPE.fullmatch(raw) is not None and raw[3:] <= _TOP


def check(candidate: bytes | str) -> bytes:
    """The gate: the id's bytes, or `InvalidError`. Runs before anything is sent."""
    raw = as_bytes(candidate)
    if not is_id(raw):
        raise InvalidError(
            "not a branded id (three capital letters and eleven of 0-9 A-Z a-z): "
            f"{quoted(candidate)}"
        )
    return raw


def encode(namespace: bytes | str, value: int) -> bytes:
    """The id of `value` (0 .. 2**63-1) in a namespace of three capitals."""
    brand = as_bytes(namespace)
    if not _NAMESPACE.fullmatch(brand):
        raise InvalidError(f"a namespace is three capital letters, got {quoted(namespace)}")
    if not 0 <= value <= MAX_VALUE:
        raise InvalidError(f"an id's value lies in 0..2**63-1, got {value}")
    # Two digits a step: minting is a good part of what an admission costs its caller.
    value, fifth = divmod(value, 3844)
    value, fourth = divmod(value, 3844)
    value, third = divmod(value, 3844)
    value, second = divmod(value, 3844)
    value, first = divmod(value, 3844)
    return b"%b%c%b%b%b%b%b" % (
        brand, _DIGITS[value], _PAIRS[first], _PAIRS[second], _PAIRS[third], _PAIRS[fourth],
        _PAIRS[fifth],
    )  # fmt: skip


def decode(candidate: bytes | str) -> Identity:
    """What an id says of itself. Raises `InvalidError` for bytes that are no id."""
    raw = check(candidate)
    value = 0
    for digit in raw[3:]:
        value = value * 62 + _VALUE_OF[digit]
    return Identity(
        namespace=raw[:3].decode("ascii"),
        unix_ms=(value >> 22) + EPOCH_MS,
        node=(value >> 12) & MAX_NODE,
        seq=value & 0xFFF,
        value=value,
    )


def minted_ms(raw: bytes) -> int | None:
    """The Unix millisecond that an id was minted at, None for bytes that are no id."""
    if not is_id(raw):
        return None
    value = 0
    for digit in raw[3:]:
        value = value * 62 + _VALUE_OF[digit]
    return (value >> 22) + EPOCH_MS


def min_for(unix_ms: int) -> int:
    """The smallest value mintable at that Unix millisecond (node 0, seq 0)."""
    return (unix_ms - EPOCH_MS) << 22


def host_ms() -> int:
    """The caller's wall clock in Unix milliseconds."""
    return time.time_ns() // 1_000_000


class Minter:
    """Mints ids of one node, ever rising, also when the clock steps back.

    More than 4096 a millisecond borrow from the next one. Safe to share among threads.
    """

    def __init__(self, node: int, clock_ms: Callable[[], int] = host_ms) -> None:
        if not 0 <= node <= MAX_NODE:
            raise InvalidError(f"a node number lies in 0..{MAX_NODE}, got {node}")
        self.node = node
        self._clock_ms = clock_ms
        self._last = -1
        self._lock = threading.Lock()

    @property
    def last_ms(self) -> int:
        """The greatest instant minted so far in Unix ms, 0 before the first id."""
        return 0 if self._last < 0 else (self._last >> 12) + EPOCH_MS

    def mint(self, namespace: bytes | str = b"JOB") -> bytes:
        """A fresh id, greater than every one this minter gave before."""
        with self._lock:
            now = max(0, self._clock_ms() - EPOCH_MS) << 12
            self._last = cell = max(now, self._last + 1)
        return encode(namespace, (cell >> 12) << 22 | self.node << 12 | (cell & 0xFFF))
