"""The console as a Django app, mounted under any prefix."""

from typing import Any

from django.apps import AppConfig
from django.db.models.signals import post_migrate


class EchoMQAdminConfig(AppConfig):
    """App `echomq_admin`. Its groups come with the migrations."""

    name = "echomq_admin"
    verbose_name = "EchoMQ"
    default_auto_field = "django.db.models.BigAutoField"

    def ready(self) -> None:
        """Check the settings; make the groups once their permissions exist."""
        from echomq_admin import checks  # noqa: F401  (registers itself)

        post_migrate.connect(_make_groups, sender=self, dispatch_uid="echomq_admin.groups")


def _make_groups(sender: AppConfig, using: str, **_: Any) -> None:
    from django.contrib.auth.management import create_permissions
    from django.contrib.auth.models import Group, Permission

    from echomq_admin.permissions import GROUPS

    # A host may list this app before Django's own, whose receiver would then come too late.
    create_permissions(sender, verbosity=0, using=using)
    for name, codenames in GROUPS.items():
        group, fresh = Group.objects.using(using).get_or_create(name=name)
        if fresh:
            group.permissions.set(
                Permission.objects.using(using).filter(
                    content_type__app_label=sender.label, codename__in=codenames
                )
            )
