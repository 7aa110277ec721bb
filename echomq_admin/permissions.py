"""Who may do what: the permissions of the console, three groups of them, and one switch."""

from django.contrib.auth.base_user import AbstractBaseUser
from django.contrib.auth.models import AnonymousUser

from echomq_admin import config

APP = "echomq_admin"

PERMISSIONS: tuple[tuple[str, str], ...] = (
    ("view", "Look at queues and jobs"),
    ("reveal_payload", "See payloads unmasked"),
    ("pause_queue", "Pause and resume a queue"),
    ("retry_job", "Retry a dead job"),
    ("reschedule_job", "Re-score a scheduled job and run it now"),
    ("delay_job", "Put off a held job"),
    ("remove_job", "Remove a job"),
    ("enqueue_job", "Enqueue a job"),
    ("edit_payload", "Edit a payload"),
    ("manage_lanes", "Pause, limit, weigh and move lanes"),
    ("manage_repeats", "Run, pause, resume, change and cancel repeats"),
    ("rescore_board", "Re-score a player on a board"),
    ("bulk", "Act on many jobs at once"),
    ("drain_queue", "Drain a queue"),
    ("obliterate_queue", "Obliterate a queue"),
    ("manage_workers", "Quiet and stop workers"),
    ("manage_floor", "Set the floor's dial"),
    ("restore_floor", "Restore from the floor"),
    ("view_audit", "Read the audit"),
    ("export", "Export what is shown"),
    ("manage_alerts", "Manage alerts"),
    ("manage_tokens", "Manage tokens"),
)

VIEWER = frozenset({"view"})
OPERATOR = VIEWER | {
    "pause_queue",
    "retry_job",
    "reschedule_job",
    "delay_job",
    "remove_job",
    "enqueue_job",
    "manage_lanes",
    "manage_repeats",
    "rescore_board",
    "bulk",
    "manage_workers",
    "view_audit",
    "export",
}
ADMIN = frozenset(codename for codename, _ in PERMISSIONS)

GROUPS = {"EchoMQ viewer": VIEWER, "EchoMQ operator": OPERATOR, "EchoMQ admin": ADMIN}
"""Made by the first migration that finds them missing; a host project may change them after."""


def rights_of(user: AbstractBaseUser | AnonymousUser) -> frozenset[str]:
    """The codenames a user holds: none without login or when deactivated, all for a superuser."""
    if not user.is_authenticated or not user.is_active:
        return frozenset()
    if user.is_superuser:
        return ADMIN
    held = (name.partition(".") for name in user.get_all_permissions())
    return frozenset(codename for app, _, codename in held if app == APP) & ADMIN


def read_only() -> bool:
    """Whether writing is switched off for everybody. It takes no right away: pages still list
    the verbs, and say why none can be pressed."""
    return config.read_only()


def role_of(user: AbstractBaseUser | AnonymousUser) -> str:
    """A word for what a user may: the greatest group that it covers."""
    rights = rights_of(user)
    for word, group in (("admin", ADMIN), ("operator", OPERATOR), ("viewer", VIEWER)):
        if rights >= group:
            return word
    return "no rights" if not rights else "custom"
