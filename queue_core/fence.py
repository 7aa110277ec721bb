"""The version fence: every new connection reads `{emq}:version` before anything else
(protocol part 3).

Equal, and the connection serves. Absent, and it serves reads; the first write claims the fence
with `SET … NX` and requires equality again. Anything else, and it is refused for good. The key is
never overwritten or deleted. A connection that only observes never claims it. In a Cluster the
question goes to the node that owns slot 9051, whatever node the new connection is to.
"""

from __future__ import annotations

from queue_core.errors import EchoMQError, FenceError, WrongTypeFault
from queue_core.keys import VERSION
from queue_core.plans import Arg, Reply

DEFAULT = "echomq:3.0.0"
SLOT = 9051

READ: tuple[Arg, ...] = ("GET", VERSION)


def claim(expected: str) -> list[tuple[Arg, ...]]:
    """Take an absent fence, and read who has it now: two commands of one round trip."""
    return [("SET", VERSION, expected, "NX"), READ]


def claimed(expected: str, answer: Reply | EchoMQError) -> bool:
    """Whether the answer to `READ` is our version; False where nobody has claimed the fence.
    `FenceError` where another has, or where the key is no text; any other fault as it is."""
    if isinstance(answer, WrongTypeFault):
        raise FenceError(expected, answer.text.encode())
    if isinstance(answer, EchoMQError):
        raise answer
    if answer is None:
        return False
    if answer != expected.encode():
        raise FenceError(expected, bytes(answer))
    return True


def took(expected: str, answers: list[Reply | EchoMQError]) -> None:
    """Hold the answers to `claim` to our version. `FenceError` where another was first."""
    if isinstance(answers[0], EchoMQError):
        raise answers[0]
    if not claimed(expected, answers[1]):
        raise FenceError(expected, b"")
