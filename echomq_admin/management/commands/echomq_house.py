"""`manage.py echomq_house`: what a house needs of Django before its console starts."""

from typing import Any

from django.contrib.auth import get_user_model
from django.core.management import call_command
from django.core.management.base import BaseCommand

OPERATOR = "operator"


class Command(BaseCommand):
    """One process for what would be three, because each takes a second to load."""

    help = (
        "Bring the console's own database up to date, make the operator where there is none "
        "(all rights, no password), and print a link that signs the operator in once."
    )
    requires_system_checks: list[str] = []

    def handle(self, *_args: Any, **_options: Any) -> None:
        """Print the link, alone on its line."""
        call_command("migrate", interactive=False, verbosity=0)
        users = get_user_model()
        if not users.objects.filter(**{users.USERNAME_FIELD: OPERATOR}).exists():
            users.objects.create_superuser(OPERATOR)
        call_command("echomq", "sign-in", "--user", OPERATOR)
