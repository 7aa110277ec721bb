"""The words of `manage.py echomq`: its subcommands, their arguments and what each calls."""

from __future__ import annotations

from argparse import ArgumentParser, ArgumentTypeError, Namespace
from collections.abc import Callable

from echomq_admin.shell import acting, looking, proving, sign_in
from echomq_admin.shell.output import Printer, Refused, name_of
from queue_core.outcomes import Outcome

Run = Callable[[Printer, Namespace], int]


def _text(word: str) -> str:
    """An argument that is kept or compared as text. One that is no text in the shell's encoding
    is refused here; names of the bus are bytes and may be anything."""
    try:
        word.encode()
    except UnicodeEncodeError:
        raise ArgumentTypeError("not a text in the encoding of this shell") from None
    return word


def add_words(parser: ArgumentParser) -> set[str]:
    """Teach the parser every subcommand; answers their names."""
    words = parser.add_subparsers(dest="subcommand", metavar="SUBCOMMAND", required=True)

    def word(name: str, run: Run, text: str) -> ArgumentParser:
        sub = words.add_parser(name, help=text, description=text)
        sub.set_defaults(run=run, of_bus=True)
        _common(sub)
        return sub

    word("queues", _queues, "List every queue of the bus with its counts.")
    sub = word("show", _show, "Show a queue, or a job in it.")
    sub.add_argument("queue")
    sub.add_argument("id", nargs="?")
    sub.add_argument("--lane", help="where to look for a job whose row says no lane")

    for name, run in (("pause", acting.pause), ("resume", acting.resume)):
        sub = word(name, run, f"{name.capitalize()} a queue, or one lane of it.")
        sub.add_argument("queue")
        sub.add_argument("--lane", help="only this lane")
        _on_queue(sub)
    for name, run in (("limit", acting.limit), ("weight", acting.weight)):
        sub = word(name, run, f"Set the {name} of a lane.")
        sub.add_argument("queue")
        sub.add_argument("number", type=_text, help="from 1, or none")
        sub.add_argument("--lane", required=True)
        _on_queue(sub)

    sub = word("retry", acting.retry, "Retry dead jobs; attempts stay as they are.")
    _jobs(sub)
    sub = word("run-now", acting.run_now, "Run scheduled jobs now.")
    _jobs(sub)
    sub = word("reschedule", acting.reschedule, "Give scheduled jobs another time.")
    _jobs(sub)
    when = sub.add_mutually_exclusive_group(required=True)
    when.add_argument(
        "--at", type=_text, help="2026-11-29T21:30, on the clock of --zone, or with an offset"
    )
    when.add_argument(
        "--by", type=_text, help="postpone by 90s, 15m, 1h30m, 2d; from now where it is late"
    )
    when.add_argument("--at-ms", type=_text, dest="at_ms", help="exact Unix ms")
    sub.add_argument("--zone", type=_text, help="IANA name, by default the console's")
    sub.add_argument("--expect", type=_text, help="only while its score still is this")
    sub = word("remove", acting.remove, "Remove jobs with their rows and logs. No undo.")
    _jobs(sub)
    sub.add_argument("--yes", action="store_true", help="do not ask")
    sub.add_argument("--lane", help="the lane where a job without a row was seen")
    sub.add_argument(
        "--expect",
        choices=["pending", "in_lane", "active", "scheduled", "dead", "unknown"],
        help="only while it still is this",
    )
    sub = word("edit", acting.edit, "Give a job another payload. No undo.")
    sub.add_argument("queue")
    sub.add_argument("id")
    _payload(sub, required=True)
    sub.add_argument(
        "--expect", type=_text, help="only while the payload has this SHA-1, as show tells it"
    )
    _acting(sub)
    sub = word("reassign", acting.reassign, "Move waiting jobs to another lane.")
    _jobs(sub)
    sub.add_argument("--to", type=_text, required=True, help="the lane")
    sub.add_argument("--expect", type=_text, help="only out of this lane")
    _enqueue(word("enqueue", acting.enqueue, "Bring a job in."))
    _repeats(word("repeats", _repeats_or_verb, "List the repeats of a queue, or act on one."))
    _board(word("board", _board_or_rescore, "Show a board, or re-score a player on it."))

    sub = word("conformance", proving.conformance, "Play the scenarios of the wire on a bus.")
    proving.add_words(sub)
    sub.set_defaults(of_bus=False)  # its list needs none

    sub = word("sign-in", sign_in.sign_in, "Print a link that signs in once.")
    sub.set_defaults(of_bus=False)
    sub.add_argument("--user", type=_text, help="by default the only superuser")
    sub.add_argument("--minutes", type=int, default=15, help="how long it works (default 15)")
    sub.add_argument("--url", type=_text, help="how the console is reached, by default ECHOMQ_URL")
    return set(words.choices)


def _common(sub: ArgumentParser) -> None:
    sub.add_argument(
        "--bus",
        type=_text,
        help="a configured bus or a URL, by default the first, or that of ./dev run",
    )
    sub.add_argument("--json", action="store_true", help="one JSON object a line")
    sub.add_argument(
        "--encoded", action="store_true", help="names are given as ~base64url, as in addresses"
    )


def _acting(sub: ArgumentParser) -> None:
    sub.add_argument("--as", type=_text, dest="actor", help="who acts, else ECHOMQ_CLI_USER")
    sub.add_argument("--reason", type=_text, help="kept in the audit")
    sub.add_argument("--request-id", type=_text, help="makes a resend answer already")


def _on_queue(sub: ArgumentParser) -> None:
    sub.add_argument(
        "--unseen", action="store_true", help="also where nobody has seen a queue of that name yet"
    )
    _acting(sub)


def _jobs(sub: ArgumentParser) -> None:
    sub.add_argument("queue")
    sub.add_argument("ids", nargs="+", metavar="id")
    _acting(sub)


def _payload(sub: ArgumentParser, required: bool) -> None:
    payload = sub.add_mutually_exclusive_group(required=required)
    payload.add_argument("--payload", help="the payload's text")
    payload.add_argument("--payload-file", help="a file with its bytes, - for standard input")


def _enqueue(sub: ArgumentParser) -> None:
    sub.add_argument("queue")
    _payload(sub, required=False)
    when = sub.add_mutually_exclusive_group()
    when.add_argument("--at", type=_text, help="run at 2026-11-29T21:30, on the clock of --zone")
    when.add_argument("--in", type=_text, dest="after", help="run after 90s, 15m, 1h30m, 2d")
    sub.add_argument("--zone", type=_text, help="IANA name, by default the console's")
    sub.add_argument("--lane", type=_text, help="the lane in which it waits")
    sub.add_argument(
        "--id", type=_text, help="its id, else minted; a resend with the same id answers already"
    )
    _acting(sub)


def _repeats(sub: ArgumentParser) -> None:
    sub.add_argument("queue")
    sub.add_argument("verb", nargs="?", choices=["run", "pause", "resume", "cancel"])
    sub.add_argument("name", nargs="?")
    sub.add_argument("--yes", action="store_true", help="do not ask before a cancel")
    _acting(sub)


def _board(sub: ArgumentParser) -> None:
    sub.add_argument("game")
    sub.add_argument("--top", type=int, default=20, help="how many players (default 20)")
    sub.add_argument("--rescore", metavar="PLAYER")
    sub.add_argument("--expect", type=_text, help="the total that was seen")
    sub.add_argument("--to", type=_text, help="the new total, a whole number")
    _acting(sub)


def _queues(printer: Printer, options: Namespace) -> int:
    return looking.queues(printer, options.bus)


def _show(printer: Printer, options: Namespace) -> int:
    bus, queue = options.bus, name_of(options.queue, options.encoded)
    if options.id is None:
        return looking.one_queue(printer, bus, queue)
    lane = b"" if options.lane is None else name_of(options.lane, options.encoded)
    return looking.one_job(printer, bus, queue, name_of(options.id, options.encoded), lane)


def _repeats_or_verb(printer: Printer, options: Namespace) -> int:
    if options.verb and options.name is None:
        raise Refused(Outcome.invalid, f"Say which repeat to {options.verb}.")
    if options.verb:
        return acting.repeat(printer, options)
    queue = name_of(options.queue, options.encoded)
    return looking.repeats(printer, options.bus, queue)


def _board_or_rescore(printer: Printer, options: Namespace) -> int:
    if options.rescore is not None:
        return acting.rescore(printer, options)
    if options.to is not None or options.expect is not None:
        raise Refused(Outcome.invalid, "Say whom to re-score: --rescore PLAYER.")
    game = name_of(options.game, options.encoded)
    return looking.board(printer, options.bus, game, options.top)
