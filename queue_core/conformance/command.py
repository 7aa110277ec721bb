"""The conformance suite as a command: a line a scenario, a last line with the total.

Exit codes: 0 all passed, 1 some failed, 2 wrong words, 7 the bus refuses us, 8 it cannot be
reached, 130 stopped.
"""

from __future__ import annotations

import json
import os
import sys
from argparse import ArgumentParser, Namespace, RawDescriptionHelpFormatter
from collections.abc import Callable, Sequence
from dataclasses import asdict

from queue_core import fence as fencing
from queue_core.conformance.suite import chosen, one_line, play
from queue_core.errors import EchoMQError, FenceError, ForbiddenFault, InvalidError
from queue_core.outcomes import Outcome

FAILED, STOPPED = 1, 130

ABOUT = """\
Play the 79 scenarios of the wire on a bus, on scratch queues of their own, and
delete what they made. Other queues are neither read nor changed, but the server
notices: its script cache is flushed twice (every client then loads its scripts
anew), a subscriber of our own is killed, and its keyspace is walked before and
after to find the scratch keys. On a bus that carries real load, mind the time.
The user needs more rights than a worker: SCRIPT FLUSH, CLIENT LIST and KILL, and
whatever a look at raw keys takes."""

Print = Callable[[str], object]


def main(words: Sequence[str] | None = None) -> int:
    """Run the command; answers its exit code."""
    parser = ArgumentParser(
        "python -m queue_core.conformance",
        description=ABOUT,
        formatter_class=RawDescriptionHelpFormatter,
    )
    parser.add_argument("url", nargs="?", help="the bus, e.g. redis://127.0.0.1:6379")
    add_words(parser)
    parser.add_argument("--json", action="store_true", help="one JSON object a line")
    parser.add_argument(
        "--fence", default=fencing.DEFAULT, help="the wire version (default %(default)s)"
    )
    options = parser.parse_args(words)
    if options.url is None and not options.list:
        parser.error("give the URL of a bus")
    try:
        return carry_out(options.url or "", options, options.fence, print_line)
    except FenceError as fault:
        return _refused("the version fence: ", fault, Outcome.not_permitted)
    except ForbiddenFault as fault:
        return _refused("the bus refuses: ", fault, Outcome.not_permitted)
    except InvalidError as fault:
        return _refused("", fault, Outcome.invalid)
    except EchoMQError as fault:
        return _refused("the bus does not serve: ", fault, Outcome.unavailable)
    except BrokenPipeError:  # nobody reads on: nor may the interpreter's own last flush
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return STOPPED
    except KeyboardInterrupt:
        return STOPPED


def add_words(parser: ArgumentParser) -> None:
    """The words that both ways to this command share."""
    parser.add_argument(
        "--only", action="append", default=[], metavar="NAME", help="only this scenario; repeatable"
    )
    parser.add_argument("--list", action="store_true", help="say what there is, and end")
    parser.add_argument(
        "--awaited", action="store_true", help="over the awaited bus instead of the blocking one"
    )
    parser.add_argument(
        "--scratch", default="", metavar="NAME", help="scratch queues NAME.…, fresh by default"
    )


def carry_out(url: str, options: Namespace, fence: str, put: Print) -> int:
    """List the scenarios or play them, a line each through `put`; answers the exit code. Raises
    what `play` raises."""
    return _list(options, put) if options.list else _play(url, options, fence, put)


def print_line(line: str) -> None:
    """To standard output, at once, so that a pipe sees each scenario as it ends."""
    sys.stdout.write(f"{line}\n")
    sys.stdout.flush()


def _list(options: Namespace, put: Print) -> int:
    for one in chosen(options.only):
        record = {"number": one.number, "name": one.name, "text": one.text}
        put(json.dumps(record) if options.json else f"{one.number:>3} {one.name:<30} {one.text}")
    return 0


def _play(url: str, options: Namespace, fence: str, put: Print) -> int:
    passed = failed = 0
    results = play(url, options.only, name=options.scratch, fence=fence, awaited=options.awaited)
    try:
        for result in results:
            passed, failed = passed + result.passed, failed + (not result.passed)
            put(json.dumps(asdict(result)) if options.json else result.line)
    finally:
        results.close()
    total = {"passed": passed, "failed": failed}
    put(json.dumps(total) if options.json else f"{passed} passed, {failed} failed")
    return FAILED if failed else 0


def _refused(about: str, fault: EchoMQError, outcome: Outcome) -> int:
    sys.stderr.write(f"{about}{one_line(fault)}\n")
    return outcome.exit_code
