"""Who acts in a shell, on which bus, and an action performed for them."""

from __future__ import annotations

import contextlib
import getpass
import sys
from collections.abc import Mapping
from typing import Any

from django.contrib.auth import get_user_model
from django.db import DatabaseError

from echomq_admin import config
from echomq_admin.actions.action import Target
from echomq_admin.actions.answers import Answer
from echomq_admin.actions.intents import Actor
from echomq_admin.actions.perform import actor_of, perform
from echomq_admin.choice import NoChoice, choose
from echomq_admin.shell.output import Printer, Refused, shown
from echomq_admin.views.asked import NAMES
from queue_core.outcomes import Outcome


def which_bus(asked: str | None) -> str:
    """The name of the bus that the command is on, said on standard error before anything is
    done there."""
    try:
        choice = choose(asked)
    except NoChoice as none:
        raise Refused(none.outcome, str(none)) from None
    with contextlib.suppress(OSError):  # nobody may be reading
        sys.stderr.write(f"{shown(str(choice))}\n")
    return choice.name


def require_named(bus: str) -> None:
    """Refuse to act on a bus, by its name here, that nobody named."""
    if why := config.only_looked_at(bus):
        raise Refused(Outcome.invalid, f"{why.rstrip('.')}, or say --bus URL.")


def who_acts(asked: str | None) -> Actor:
    """`--as`, else ECHOMQ_CLI_USER, else nobody. The system's own user goes into the audit."""
    name = asked or config.cli_user()
    if not name:
        raise Refused(Outcome.not_permitted, "Say who acts: --as USER, or set ECHOMQ_CLI_USER.")
    try:
        user = get_user_model()._default_manager.get_by_natural_key(name)
    except get_user_model().DoesNotExist:
        raise Refused(Outcome.not_permitted, f"There is no user {shown(name)}.") from None
    except DatabaseError as error:
        raise no_database(error) from error
    return actor_of(user, _system_user())


def no_database(error: DatabaseError) -> Refused:
    """The console's own database is missing or broken."""
    return Refused(
        Outcome.unavailable, f"The console's database does not serve ({error}): run migrate."
    )


def _system_user() -> str:
    try:
        return getpass.getuser()[:64]
    except (KeyError, OSError):
        return ""


def do(
    printer: Printer,
    actor: Actor,
    action: str,
    target: Target,
    params: Mapping[str, Any],
    request_id: str | None = None,
) -> Answer:
    """Perform one action and print its answer. `Refused` on a bus that nobody named."""
    require_named(target.bus)
    wanted = {name: value for name, value in params.items() if value is not None}
    answer = perform(actor, action, target, wanted, request_id=request_id, source="command")
    named = {name: getattr(target, name) for name in NAMES if getattr(target, name)}
    record = {"action": action, "bus": target.bus, **named, **answer.as_json()}
    printer.record(record, _line(answer, target))
    return answer


def _line(answer: Answer, target: Target) -> str:
    """What became of it, with the item's name, which among several tells whose line it is."""
    told, item = shown(answer.sentence), shown(target.item) if target.item else ""
    named = "" if item in told else f" {item}"
    return f"{answer.title}{named}: {told}"


def worst(answers: list[Answer]) -> int:
    """The exit code of several: that of the worst, so that a script does not miss one."""
    return max((answer.outcome.exit_code for answer in answers), default=0)
