"""A link that signs somebody in once, printed in a shell where the console runs."""

from __future__ import annotations

from argparse import Namespace
from datetime import timedelta
from typing import Any

from django.contrib.auth import get_user_model
from django.db import DatabaseError
from django.urls import reverse

from echomq_admin import config
from echomq_admin.models import SignInLink
from echomq_admin.shell.asking import no_database
from echomq_admin.shell.output import Printer, Refused, shown
from queue_core.outcomes import Outcome

HERE = "http://127.0.0.1:8000"
LONGEST_MINUTES = 7 * 24 * 60
"""A link signs in whoever reads it: one that is wanted for longer is a password."""


def sign_in(printer: Printer, options: Namespace) -> int:
    """Print the link. It works once, for so many minutes."""
    if not 1 <= options.minutes <= LONGEST_MINUTES:
        raise Refused(Outcome.invalid, f"A link works for 1 to {LONGEST_MINUTES:,} minutes.")
    try:
        user = _user(options.user)
        token = SignInLink.issue(user, timedelta(minutes=options.minutes))
    except DatabaseError as error:
        raise no_database(error) from error
    where = (options.url or config.site_url() or HERE).rstrip("/")
    link = f"{where}{reverse('echomq_admin:sign_in', args=[token])}"
    record = {"user": user.get_username(), "url": link, "minutes": options.minutes}
    printer.record(record, link)
    return 0


def _user(name: str | None) -> Any:
    users = get_user_model()._default_manager
    if name:
        try:
            return users.get_by_natural_key(name)
        except get_user_model().DoesNotExist:
            raise Refused(Outcome.gone, f"There is no user {shown(name)}.") from None
    supers = list(users.filter(is_superuser=True, is_active=True).order_by("pk")[:2])
    if len(supers) != 1:
        raise Refused(
            Outcome.invalid, "Say who: --user NAME." if supers else "There is no superuser yet."
        )
    return supers[0]
