"""A row's bytes as frozen values."""

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Lease:
    """A claimed job: ours until `deadline_ms` (server clock), proved by its token.

    `attempts` counts this claim too and is the fencing token (protocol, conventions).
    `group` is the lane it was claimed from, None for a flat job.
    """

    id: bytes
    payload: bytes
    attempts: int
    deadline_ms: int
    group: bytes | None = None

    @property
    def token(self) -> bytes:
        """The canonical decimal that settles must carry."""
        return str(self.attempts).encode()
