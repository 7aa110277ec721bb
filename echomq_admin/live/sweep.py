"""Who may still listen: every open socket's session and rights, re-checked in two queries.

One sweep per process while sockets are open. A socket whose session has ended, whose user is
gone or whose rights have shrunk is closed; nothing is sent on it after.
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Protocol

from channels.db import database_sync_to_async
from django.contrib.auth import HASH_SESSION_KEY, SESSION_KEY, get_user_model
from django.contrib.sessions.models import Session
from django.db.models import F
from django.utils import timezone
from django.utils.crypto import constant_time_compare

from echomq_admin.permissions import ADMIN, APP

log = logging.getLogger(__name__)

EVERY_S = 2.0


class Member(Protocol):
    """A socket as the sweep knows it."""

    session_key: str
    user_id: str
    rights: frozenset[str]

    async def lose(self) -> None:
        """Close: the session or a right is gone."""


@dataclass(frozen=True, slots=True)
class _Standing:
    """What the database says of one user now."""

    active: bool
    rights: frozenset[str]
    hash: str


class Sweep:
    """Of one process: members join with their socket and leave with it."""

    def __init__(self) -> None:
        self._members: set[Member] = set()
        self._task: asyncio.Task[None] | None = None

    def join(self, member: Member) -> None:
        """Watch over a socket."""
        self._members.add(member)
        if self._task is None or self._task.done() or self._foreign():
            self._task = asyncio.create_task(self._run())

    def leave(self, member: Member) -> None:
        """The socket has closed."""
        self._members.discard(member)

    def _foreign(self) -> bool:
        return self._task is not None and self._task.get_loop() is not asyncio.get_running_loop()

    async def _run(self) -> None:
        while self._members:
            await asyncio.sleep(EVERY_S)
            members = tuple(self._members)
            lost = await database_sync_to_async(lost_of)(members)
            for member in lost & self._members:
                await member.lose()


def lost_of(members: Iterable[Member]) -> set[Member]:
    """Those of them that must close now. Two queries however many they are."""
    members = tuple(members)
    owners = _owners({member.session_key for member in members})
    standing = _standing({member.user_id for member in members})
    return {member for member in members if not _holds(member, owners, standing)}


def _holds(
    member: Member, owners: dict[str, tuple[str, str]], standing: dict[str, _Standing]
) -> bool:
    owner, proof = owners.get(member.session_key, ("", ""))
    now = standing.get(member.user_id)
    return (
        now is not None
        and owner == member.user_id
        and now.active
        and constant_time_compare(proof, now.hash)
        and member.rights <= now.rights
    )


def _owners(keys: set[str]) -> dict[str, tuple[str, str]]:
    """Per live session its user id and the proof of the password it was opened under."""
    rows = Session.objects.filter(session_key__in=keys, expire_date__gt=timezone.now())
    found = {}
    for row in rows:
        data = row.get_decoded()
        found[row.session_key] = (str(data.get(SESSION_KEY, "")), data.get(HASH_SESSION_KEY, ""))
    return found


def _standing(ids: set[str]) -> dict[str, _Standing]:
    """Per user whether active and which of our permissions, own and by group, in one query."""
    model = get_user_model()
    rows = model._default_manager.filter(pk__in=ids).values_list(
        "pk",
        "is_active",
        "is_superuser",
        "password",
        F("user_permissions__content_type__app_label"),
        F("user_permissions__codename"),
        F("groups__permissions__content_type__app_label"),
        F("groups__permissions__codename"),
    )
    rights: dict[str, set[str]] = {}
    facts: dict[str, tuple[bool, bool, str]] = {}
    for pk, active, superuser, password, own_app, own, group_app, group in rows:
        facts[str(pk)] = (active, superuser, password)
        held = rights.setdefault(str(pk), set())
        held.update(name for app, name in ((own_app, own), (group_app, group)) if app == APP)
    return {
        pk: _Standing(
            active,
            ADMIN if superuser else frozenset(rights[pk]) & ADMIN,
            model(password=password).get_session_auth_hash(),
        )
        for pk, (active, superuser, password) in facts.items()
    }


SWEEP = Sweep()
"""The one of this process."""
