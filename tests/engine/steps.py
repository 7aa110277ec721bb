"""What a plan asked for while it ran: its round trips and the calls in them."""

from collections.abc import Iterable
from typing import TypeVar

from queue_core.errors import EchoMQError
from queue_core.plans import Batch, Call, Plan, Step

T = TypeVar("T")


def watched(plan: Plan[T], seen: list[Step]) -> Plan[T]:
    """The same plan, each of its steps noted: one is one round trip."""
    try:
        step = next(plan)
        while True:
            seen.append(step)
            try:
                reply = yield step
            except EchoMQError as fault:
                step = plan.throw(fault)
            else:
                step = plan.send(reply)
    except StopIteration as end:
        result: T = end.value
        return result


def calls(steps: Iterable[Step]) -> list[Call]:
    """Every call of the steps."""
    found: list[Call] = []
    for step in steps:
        found += step.calls if isinstance(step, Batch) else [step] if isinstance(step, Call) else []
    return found
