"""The key that signs sessions and tokens: made once, kept beside the database, readable by us."""

import os
import secrets
from pathlib import Path

from django.core.exceptions import ImproperlyConfigured

LENGTH = 50
"""Characters of 6 bits each; Django asks for 50."""


def secret_key(path: Path) -> str:
    """The key kept at `path`, made on first use with mode 600. Several processes may start at
    once: exactly one of them makes it, by a link that refuses to replace."""
    try:
        return path.read_text(encoding="ascii").strip()
    except FileNotFoundError:
        pass
    fresh = path.with_name(f"{path.name}.{secrets.token_hex(8)}")
    try:
        path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        opened = os.open(fresh, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
        with os.fdopen(opened, "w", encoding="ascii") as file:
            file.write(secrets.token_urlsafe(LENGTH))
        try:
            os.link(fresh, path)
        except FileExistsError:
            pass
        finally:
            fresh.unlink()
    except OSError as error:
        raise ImproperlyConfigured(
            f"{path.parent} cannot be written ({error.strerror}). "
            "Set ECHOMQ_VAR to a directory that can."
        ) from error
    return path.read_text(encoding="ascii").strip()
