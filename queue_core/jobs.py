"""A row's bytes as frozen values."""

from collections.abc import Mapping
from dataclasses import dataclass

from queue_core.names import as_bytes


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


@dataclass(frozen=True, slots=True)
class Job:
    """A job's row as it stands: every field's raw bytes (protocol part 2.2).

    Properties are None where the row has no such field; `attempts` and `stalled` also where the
    bytes are no number, which a foreign writer may leave.
    """

    id: bytes
    fields: Mapping[bytes, bytes]

    @property
    def state(self) -> bytes | None:
        """The row's own word; which set holds the job decides (`get_job_state`)."""
        return self.fields.get(b"state")

    @property
    def payload(self) -> bytes | None:
        """Opaque bytes."""
        return self.fields.get(b"payload")

    @property
    def attempts(self) -> int | None:
        """Claims so far."""
        return _number(self.fields.get(b"attempts"))

    @property
    def stalled(self) -> int | None:
        """Leases that ran out and were seen by a stalled sweep."""
        return _number(self.fields.get(b"stalled"))

    @property
    def group(self) -> bytes | None:
        """The lane it belongs to."""
        return self.fields.get(b"group")

    @property
    def last_error(self) -> bytes | None:
        """Why its last attempt failed."""
        return self.fields.get(b"last_error")

    @property
    def progress(self) -> bytes | None:
        """What its handler last said."""
        return self.fields.get(b"progress")


def _number(text: bytes | None) -> int | None:
    return int(text) if text is not None and text.isdigit() and len(text) < 20 else None


def token_of(token: bytes | str | int) -> bytes:
    """A fencing token as the wire compares it: a number in canonical decimal, text as it is."""
    return str(token).encode() if isinstance(token, int) else as_bytes(token)
