"""Actions on a repeat: run it now, pause, resume, cancel."""

from __future__ import annotations

from echomq_admin.actions.action import Action, Confirmed, Order, Result, Shown, Subject, Target
from queue_core.outcomes import Word
from queue_core.plans import Plan
from queue_core.verbs import repeats


class Cancelled(Confirmed):
    """Cancelling deletes the template: a word has to be typed."""

    word = "cancel"


def _run(order: Order) -> Plan[Result]:
    word = yield from repeats.run_now(order.target.keys, order.target.item, order.job_id)
    return Result(word, facts={"job": order.job_id.decode("ascii")})


def _pause(order: Order) -> Plan[Result]:
    return Result((yield from repeats.pause(order.target.keys, order.target.item, order.by)))


def _resume(order: Order) -> Plan[Result]:
    return Result((yield from repeats.resume(order.target.keys, order.target.item)))


def _cancel(order: Order) -> Plan[Result]:
    return Result((yield from repeats.cancel(order.target.keys, order.target.item)))


def _what_running_does(_target: Target, _seen: None) -> Shown:
    return Shown(notes=("One run more is admitted at once. Its next run stays where it is.",))


def _what_cancel_does(_target: Target, _seen: None) -> Shown:
    effect = (
        "Cadence, template and last runs are deleted. Jobs it has fired stay. "
        "There is no undo: the audit keeps no template."
    )
    return Shown(notes=(effect,))


RUN = Action(
    name="run_repeat",
    word="Run now…",
    title="Run the repeat now",
    icon="play",
    permission="manage_repeats",
    subject=Subject.repeat,
    plan=_run,
    says={
        Word.enqueued: "{item} runs now as {job}. Its next run stays where it is.",
        Word.duplicate: "This run of {item} was admitted already, as {job}.",
        Word.absent: "{item} has no template: it was cancelled. Nothing written.",
    },
    describe=_what_running_does,
    creates=True,
)
PAUSE = Action(
    name="pause_repeat",
    word="Pause",
    title="Pause the repeat",
    icon="pause",
    permission="manage_repeats",
    subject=Subject.repeat,
    plan=_pause,
    says={
        Word.ok: "{item} is paused: parked beyond every date until it is resumed.",
        Word.noop: "{item} was paused already. Nothing written.",
        Word.absent: "{item} is not registered any more. Nothing written.",
    },
    inverse=lambda _order, _result: ("resume_repeat", {}),
    dialog=False,
)
RESUME = Action(
    name="resume_repeat",
    word="Resume",
    title="Resume the repeat",
    icon="play",
    permission="manage_repeats",
    subject=Subject.repeat,
    plan=_resume,
    says={
        Word.ok: "{item} is resumed and runs at its next slot.",
        Word.noop: "{item} was not paused. Nothing written.",
        Word.absent: "{item} is not registered any more. Nothing written.",
        Word.invalid: "{item} stays parked: its cadence is no number of ms from 1 on.",
    },
    inverse=lambda _order, _result: ("pause_repeat", {}),
    dialog=False,
)
CANCEL = Action(
    name="cancel_repeat",
    word="Cancel…",
    title="Cancel the repeat",
    icon="trash",
    permission="manage_repeats",
    subject=Subject.repeat,
    plan=_cancel,
    says={
        Word.cancelled: "{item} is cancelled: it fires no more.",
        Word.absent: "{item} was in no schedule any more.",
    },
    form=Cancelled,
    describe=_what_cancel_does,
    danger=True,
)

ACTIONS = (RUN, PAUSE, RESUME, CANCEL)
