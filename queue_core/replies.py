"""From a reply to what a verb returns: one shape in RESP2 and RESP3, error replies as faults.

A reply that no header declares is a `ContractError`.
"""

from __future__ import annotations

from queue_core.errors import (
    ContractError,
    EchoMQError,
    ForbiddenFault,
    ServerFault,
    UnavailableError,
    WrongTypeFault,
)
from queue_core.outcomes import Word
from queue_core.plans import Reply

_CANNOT_SERVE = frozenset({
    "LOADING", "READONLY", "OOM", "BUSY", "MISCONF", "CLUSTERDOWN", "TRYAGAIN", "MASTERDOWN",
    "NOREPLICAS",
})  # fmt: skip
_FORBIDDEN = frozenset({"NOPERM", "NOAUTH", "WRONGPASS"})
_REFUSED_IN_A_SCRIPT = (
    "NOPERM",
    "ACL failure in script",
    "The user executing the script can't",  # as Redis 7.0 says it, with the code ERR
)
_WORDS = {one.value.encode(): one for one in Word}


def word(reply: Reply) -> Word:
    """The verdict of a script: the first element of its list."""
    try:
        return _WORDS[reply[0]]
    except (KeyError, TypeError, IndexError):
        raise ContractError(f"no verdict of the wire: {reply!r}") from None


def verdicts(reply: Reply, count: int) -> list[Word | EchoMQError]:
    """What a script that treats `count` items one by one said of each: a word, or the fault that
    it met, told as `-` and its text."""
    if len(reply) != count + 1 or reply[0] != b"done":
        raise ContractError(f"no {count} verdicts of the wire: {reply!r}")
    try:
        return [_WORDS[said] for said in reply[1:]]
    except KeyError:
        return [_verdict(said) for said in reply[1:]]


def _verdict(said: bytes) -> Word | EchoMQError:
    return fault(said[1:].decode(errors="replace")) if said[:1] == b"-" else word([said])


def pairs(flat: Reply) -> dict[bytes, bytes]:
    """A flat list of field, value, field, value as a dictionary."""
    return dict(zip(flat[::2], flat[1::2], strict=True))


def fault(text: str) -> EchoMQError:
    """The fault that an error reply is, by its first word."""
    code = text.partition(" ")[0]
    if not (code.isascii() and code.isupper()):
        code = "ERR"
    if code in _CANNOT_SERVE:
        return UnavailableError(code, text)
    if code in _FORBIDDEN or refused(text):
        return ForbiddenFault(code, text)
    return (WrongTypeFault if code == "WRONGTYPE" else ServerFault)(code, text)


def refused(text: str) -> bool:
    """Whether an error is the access list's refusal of a command, a key or a channel, also of one
    that a script asked for."""
    return any(words in text for words in _REFUSED_IN_A_SCRIPT)


def plain(reply: Reply) -> Reply:
    """A RESP3 reply in the shape RESP2 gives: a map and a list of (member, score) as a flat list,
    a double as its text, a truth value as 1 or 0."""
    if isinstance(reply, list):
        scored = reply and all(type(part) is list and _scored(part) for part in reply)
        return [plain(leaf) for part in reply for leaf in part] if scored else [*map(plain, reply)]
    if isinstance(reply, dict):
        return [plain(part) for pair in reply.items() for part in pair]
    if isinstance(reply, bool):
        return int(reply)
    return double(reply) if isinstance(reply, float) else reply


def _scored(part: list[Reply]) -> bool:
    return len(part) == 2 and type(part[0]) is bytes and type(part[1]) is float


def double(number: float) -> bytes:
    """A double as the server prints it: the shortest digits, no point where it is whole."""
    if number.is_integer() and abs(number) < 1e17:
        return b"%d" % number if number or str(number) == "0.0" else b"-0"
    return repr(number).encode()
