"""Actions on a whole queue: pause and resume."""

from echomq_admin.actions.action import Action, OnQueue, Order, Result, Subject
from queue_core.outcomes import Word
from queue_core.plans import Plan
from queue_core.verbs import queues


def _pause(order: Order) -> Plan[Result]:
    return Result((yield from queues.pause(order.target.keys)))


def _resume(order: Order) -> Plan[Result]:
    return Result((yield from queues.resume(order.target.keys)))


PAUSE = Action(
    name="pause_queue",
    word="Pause",
    title="Pause the queue",
    icon="pause",
    permission="pause_queue",
    subject=Subject.queue,
    form=OnQueue,
    plan=_pause,
    says={
        Word.ok: "{queue} is paused. Held jobs settle; nothing more is claimed.",
        Word.noop: "{queue} was paused already. Nothing written.",
    },
    inverse=lambda _order, _result: ("resume_queue", {}),
    dialog=False,
)
RESUME = Action(
    name="resume_queue",
    word="Resume",
    title="Resume the queue",
    icon="play",
    permission="pause_queue",
    subject=Subject.queue,
    form=OnQueue,
    plan=_resume,
    says={
        Word.ok: "{queue} is resumed. Workers claim again.",
        Word.noop: "{queue} was not paused. Nothing written.",
    },
    inverse=lambda _order, _result: ("pause_queue", {}),
    dialog=False,
)

ACTIONS = (PAUSE, RESUME)
