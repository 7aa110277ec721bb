"""What the console keeps of its own: who did what, and links that sign in once."""

from __future__ import annotations

import hashlib
import secrets
from datetime import timedelta
from typing import Any

from django.conf import settings
from django.db import models
from django.utils import timezone

from echomq_admin.permissions import PERMISSIONS

IN_HAND = timedelta(seconds=60)
"""How long an intent may stay open before it counts as left behind: well past every time-out of
a bus."""


class Console(models.Model):
    """No table: the permissions of the console hang here."""

    class Meta:
        managed = False
        default_permissions = ()
        permissions = PERMISSIONS
        verbose_name = "console"

    def __str__(self) -> str:
        return "console"


class AuditEntry(models.Model):
    """One action: written as an intent before it is tried, closed after with its outcome.

    `queue`, `item` and `game` are raw bytes of the bus; `params` holds what was asked without any
    payload. `request_id` with `attempt` is unique: a request that changed nothing may be sent
    again and is another attempt. An entry without outcome is in hand, or was left by a crash.
    """

    request_id = models.CharField(max_length=80)
    attempt = models.PositiveIntegerField(default=1)
    opened_at = models.DateTimeField(default=timezone.now)
    closed_at = models.DateTimeField(null=True, blank=True)
    who = models.CharField(max_length=150)
    system_user = models.CharField(max_length=64, blank=True)
    source = models.CharField(max_length=16)
    action = models.CharField(max_length=40)
    bus = models.CharField(max_length=64)
    queue = models.BinaryField(default=bytes)
    item = models.BinaryField(default=bytes)
    game = models.BinaryField(default=bytes)
    expected = models.CharField(max_length=200, blank=True)
    params = models.JSONField(default=dict)
    word = models.CharField(max_length=24, blank=True)
    outcome = models.CharField(max_length=16, blank=True)
    sentence = models.TextField(blank=True)

    class Meta:
        default_permissions = ()
        ordering = ["-id"]
        verbose_name_plural = "audit entries"
        constraints = [
            models.UniqueConstraint(fields=["request_id", "attempt"], name="echomq_one_attempt")
        ]
        indexes = [
            models.Index(fields=["bus", "queue", "item", "-id"], name="echomq_audit_target"),
            models.Index(fields=["who", "-id"], name="echomq_audit_who"),
            models.Index(fields=["action", "-id"], name="echomq_audit_action"),
        ]

    def __str__(self) -> str:
        return f"{self.who} {self.action} {self.told}"

    @property
    def when(self) -> str:
        """When it was closed, or opened where it was not, in UTC for a sentence."""
        return f"{(self.closed_at or self.opened_at):%H:%M:%S} UTC"

    @property
    def told(self) -> str:
        """The outcome's word; `in hand` while it may still come, `unknown` when it never will."""
        if self.outcome:
            return self.outcome
        return "in hand" if timezone.now() - self.opened_at < IN_HAND else "unknown"

    @property
    def account(self) -> str:
        """What became of it, in one sentence."""
        if self.sentence:
            return self.sentence
        if self.told == "in hand":
            return "In hand."
        return "Outcome unknown: the console stopped before the bus answered."


def _digest(token: str) -> str:
    return hashlib.sha256(token.encode()).hexdigest()


class SignInLink(models.Model):
    """A link that signs somebody in once, before `expires_at`. Only a hash of it is kept."""

    user = models.ForeignKey(settings.AUTH_USER_MODEL, on_delete=models.CASCADE)
    digest = models.CharField(max_length=64, unique=True)
    made_at = models.DateTimeField(default=timezone.now)
    expires_at = models.DateTimeField()
    used_at = models.DateTimeField(null=True, blank=True)

    class Meta:
        default_permissions = ()

    def __str__(self) -> str:
        return f"sign-in of {self.user}"

    @classmethod
    def issue(cls, user: Any, valid: timedelta) -> str:
        """A fresh token for `user`; links long expired are swept away."""
        token = secrets.token_urlsafe(32)
        now = timezone.now()
        cls.objects.filter(expires_at__lt=now - timedelta(days=1)).delete()
        cls.objects.create(user=user, digest=_digest(token), made_at=now, expires_at=now + valid)
        return token

    @classmethod
    def find(cls, token: str) -> SignInLink | None:
        """The link of a token that can still be used, without using it."""
        return (
            cls.objects.filter(digest=_digest(token), used_at=None, expires_at__gt=timezone.now())
            .select_related("user")
            .first()
        )

    @classmethod
    def consume(cls, token: str) -> Any | None:
        """The user of a token, at most once: one update decides between two that come at once."""
        now = timezone.now()
        took = cls.objects.filter(digest=_digest(token), used_at=None, expires_at__gt=now).update(
            used_at=now
        )
        if not took:
            return None
        return cls.objects.select_related("user").get(digest=_digest(token)).user
