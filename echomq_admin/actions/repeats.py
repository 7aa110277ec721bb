"""Actions on a repeat: run it now, pause, resume, cancel."""

from __future__ import annotations

from echomq_admin.actions.action import Action, Confirmed, Order, Result, Shown, Subject, Target
from queue_core.outcomes import Word
from queue_core.plans import Plan
from queue_core.reads.repeats import recorded
from queue_core.verbs import repeats

_NO_SUCH = "There is no repeat {item} in {queue}. Nothing written."
_WITHOUT_TEMPLATE = "{} has no template: nothing says what to run. Nothing written."


class Cancelled(Confirmed):
    """Cancelling deletes the template: a word has to be typed."""

    word = "cancel"


def _run(order: Order) -> Plan[Result]:
    keys, name = order.target.keys, order.target.item
    word = yield from repeats.run_now(keys, name, order.job_id)
    if word is Word.absent:
        # Nothing runs under the id that was minted, so it is handed to nobody.
        bare = yield from recorded(keys, name)
        return Result(word, _WITHOUT_TEMPLATE.format(order.target.named) if bare else "")
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
        Word.absent: _NO_SUCH,
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
        Word.absent: _NO_SUCH,
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
        Word.absent: _NO_SUCH,
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
        Word.absent: "There is no repeat {item} in the schedule of {queue}: nothing fires.",
    },
    form=Cancelled,
    describe=_what_cancel_does,
    danger=True,
)

ACTIONS = (RUN, PAUSE, RESUME, CANCEL)
