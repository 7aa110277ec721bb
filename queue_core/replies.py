"""From a reply to what a verb returns. A reply that no header declares is a `ContractError`."""

from queue_core.errors import ContractError
from queue_core.outcomes import Word
from queue_core.plans import Reply


def word(reply: Reply) -> Word:
    """The verdict of a script: the first element of its list."""
    try:
        return Word(reply[0].decode("ascii"))
    except (ValueError, TypeError, IndexError, AttributeError):
        raise ContractError(f"no verdict of the wire: {reply!r}") from None


def pairs(flat: Reply) -> dict[bytes, bytes]:
    """A flat list of field, value, field, value as a dictionary."""
    return dict(zip(flat[::2], flat[1::2], strict=True))
