"""What a command does: each verb of the shell as an action performed."""

from __future__ import annotations

import sys
from argparse import Namespace
from collections.abc import Mapping
from pathlib import Path

from echomq_admin.actions.action import Target
from echomq_admin.actions.admission import MOST_BYTES
from echomq_admin.actions.answers import Answer
from echomq_admin.actions.whereabouts import look, state_of
from echomq_admin.buses import reading_bus
from echomq_admin.shell.asking import do, who_acts, worst
from echomq_admin.shell.output import Printer, Refused, name_of
from queue_core.outcomes import Outcome


def _target(options: Namespace, item: str | None = None, lane: str | None = None) -> Target:
    name = name_of(options.queue, options.encoded)
    part, where = (b"" if word is None else name_of(word, options.encoded) for word in (item, lane))
    return Target(options.bus, name, part, lane=where)


def pause(printer: Printer, options: Namespace) -> int:
    """Pause a queue, or one lane of it."""
    return _switch(printer, options, "pause")


def resume(printer: Printer, options: Namespace) -> int:
    """Resume a queue, or one lane of it."""
    return _switch(printer, options, "resume")


def _switch(printer: Printer, options: Namespace, verb: str) -> int:
    actor = who_acts(options.actor)
    of = "queue" if options.lane is None else "lane"
    target = _target(options, options.lane)
    params = {"reason": options.reason, "unseen": options.unseen}
    return worst([do(printer, actor, f"{verb}_{of}", target, params, options.request_id)])


def limit(printer: Printer, options: Namespace) -> int:
    """Limit a lane, or lift its limit."""
    return _measure(printer, options, "limit")


def weight(printer: Printer, options: Namespace) -> int:
    """Weigh a lane, or put its weight back."""
    return _measure(printer, options, "weight")


def _measure(printer: Printer, options: Namespace, verb: str) -> int:
    actor, target = who_acts(options.actor), _target(options, options.lane)
    number = "" if options.number == "none" else options.number
    params = {verb: number, "reason": options.reason, "unseen": options.unseen}
    return worst([do(printer, actor, f"{verb}_lane", target, params, options.request_id)])


def retry(printer: Printer, options: Namespace) -> int:
    """Retry dead jobs."""
    return _each(printer, options, "retry_dead", {})


def run_now(printer: Printer, options: Namespace) -> int:
    """Run scheduled jobs now."""
    return _each(printer, options, "run_now", {})


def reschedule(printer: Printer, options: Namespace) -> int:
    """Give scheduled jobs another time."""
    params = {
        "at": options.at,
        "by": options.by,
        "at_ms": options.at_ms,
        "zone": options.zone,
        "expect": options.expect,
    }
    return _each(printer, options, "reschedule", params)


def remove(printer: Printer, options: Namespace) -> int:
    """Remove jobs; without --yes it is asked for on the terminal."""
    word = "remove" if options.yes or _sure(printer, options) else ""
    params = {"confirm": word, "expect": options.expect}
    return _each(printer, options, "remove_job", params, options.lane)


def _sure(printer: Printer, options: Namespace) -> bool:
    if printer.as_json or not sys.stdin.isatty():
        raise Refused(Outcome.invalid, "There is no undo: say --yes.")
    if len(options.ids) == 1:
        target = _target(options, options.ids[0], options.lane)
        seen = reading_bus(target.bus).run(look(target))
        printer.line(f"It is {state_of(seen.value).value}. There is no undo.")
    sys.stdout.write(f"Type remove to remove {len(options.ids):,}: ")
    sys.stdout.flush()
    return sys.stdin.readline().strip().lower() == "remove"


def _each(
    printer: Printer,
    options: Namespace,
    action: str,
    params: Mapping[str, str | bytes | None],
    lane: str | None = None,
) -> int:
    """One after the other: a Ctrl-C ends between two, and what was done has been printed."""
    actor, answers = who_acts(options.actor), list[Answer]()
    if options.request_id and len(options.ids) > 1:
        raise Refused(Outcome.invalid, "A request id stands for one action: name one job.")
    for job_id in options.ids:
        target = _target(options, job_id, lane)
        asked = {**params, "reason": options.reason}
        answers.append(do(printer, actor, action, target, asked, options.request_id))
    return worst(answers)


def edit(printer: Printer, options: Namespace) -> int:
    """Give a job another payload."""
    actor, target = who_acts(options.actor), _target(options, options.id)
    params = {"payload": _payload(options), "expect": options.expect, "reason": options.reason}
    return worst([do(printer, actor, "edit_payload", target, params, options.request_id)])


def reassign(printer: Printer, options: Namespace) -> int:
    """Move waiting jobs to another lane."""
    return _each(printer, options, "reassign_lane", {"to": options.to, "expect": options.expect})


def enqueue(printer: Printer, options: Namespace) -> int:
    """Bring a job in."""
    actor, target = who_acts(options.actor), _target(options)
    params = {
        "payload": _payload(options),
        "at": options.at,
        "after": options.after,
        "zone": options.zone,
        "lane": options.lane,
        "id": options.id,
        "reason": options.reason,
    }
    return worst([do(printer, actor, "enqueue", target, params, options.request_id)])


def _payload(options: Namespace) -> bytes:
    """The bytes as they are: an argument's, a file's, or all of standard input for `-`."""
    if options.payload_file is None:
        return (options.payload or "").encode("utf-8", "surrogateescape")
    try:
        if options.payload_file == "-":
            return sys.stdin.buffer.read(MOST_BYTES + 1)
        with Path(options.payload_file).open("rb") as file:
            return file.read(MOST_BYTES + 1)
    except OSError as error:
        raise Refused(Outcome.invalid, f"The payload cannot be read: {error.strerror}.") from error


def repeat(printer: Printer, options: Namespace) -> int:
    """Run, pause, resume or cancel a repeat."""
    actor, target = who_acts(options.actor), _target(options, options.name)
    params = {"reason": options.reason}
    if options.verb == "cancel":
        if not options.yes:
            raise Refused(Outcome.invalid, "There is no undo: say --yes.")
        params["confirm"] = "cancel"
    return worst([do(printer, actor, f"{options.verb}_repeat", target, params, options.request_id)])


def rescore(printer: Printer, options: Namespace) -> int:
    """Re-score a player against the total that was seen."""
    target = Target(
        options.bus,
        game=name_of(options.game, options.encoded),
        item=name_of(options.rescore, options.encoded),
    )
    params = {"score": options.to or "", "expect": options.expect, "reason": options.reason}
    actor = who_acts(options.actor)
    return worst([do(printer, actor, "rescore", target, params, options.request_id)])
