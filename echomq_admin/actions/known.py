"""Whether a queue is one at all: a verb that sets something would make one of a slip of the pen."""

from __future__ import annotations

from echomq_admin.actions.action import SHOWN, Action, OnQueue, Order, Result
from echomq_admin.buses import declared
from echomq_admin.live.observatory import has_seen
from echomq_admin.templatetags.payload import preview
from queue_core.errors import ForbiddenFault
from queue_core.keys import found
from queue_core.outcomes import Word
from queue_core.plans import Plan
from queue_core.reads.sample import sample

_IN_ADVANCE = (
    "Nothing written. To set it before its first job, ask with unseen, in a shell --unseen."
)


def no_such(queue: bytes) -> str:
    """The sentence of a queue that nobody knows."""
    return f"There is no queue {preview(queue, SHOWN) or '(empty name)'} on this bus."


def on_known(action: Action, order: Order) -> Plan[Result]:
    """The plan of an action, on a queue that somebody knows: the settings, this process, or the
    bus, which is asked in one round trip more where nobody else does. Gone for any other, unless
    the action creates or was asked for in so many words."""
    queue, bus = order.target.queue, order.target.bus
    asks = issubclass(action.form, OnQueue) and not order.values["unseen"]
    known = not asks or queue in declared(bus) or has_seen(bus, queue)
    if not known and (yield from is_unknown(queue)):
        return Result(Word.gone, f"{no_such(queue)} {_IN_ADVANCE}")
    return (yield from action.plan(order))


def is_unknown(queue: bytes) -> Plan[bool]:
    """Whether the bus holds nothing of a queue. Where it does not let us look, that is not said."""
    try:
        return (yield from sample(found(queue))).value.empty
    except ForbiddenFault:
        return False
