"""What may go wrong. Refusals are values (`outcomes.Word`); these are faults.

Only the two buses raise the ones that come from the server or the network, so a
caller never meets a driver's exception.
"""

from queue_core.quoting import quoted


class EchoMQError(Exception):
    """The root of every fault of this package."""


class InvalidError(EchoMQError, ValueError):
    """A name, id or number outside its range. Nothing was sent."""


class ContractError(EchoMQError):
    """A call that does not match its script's header, or a reply no header declares."""


class FenceError(EchoMQError):
    """The bus carries another wire version. Nothing else was sent on the connection."""

    def __init__(self, expected: str, got: bytes) -> None:
        self.expected = expected
        self.got = got
        super().__init__(f"the bus speaks {quoted(got)}, this engine {quoted(expected)}")


class ServerFault(EchoMQError):
    """An error reply that is no verdict. `code` is its first word, as the server sent it."""

    def __init__(self, code: str, text: str) -> None:
        self.code = code
        self.text = text
        super().__init__(text)


class WrongTypeFault(ServerFault):
    """A key holds another type than the wire says (WRONGTYPE)."""


class ForbiddenFault(ServerFault):
    """The server's access list refuses it (NOPERM, NOAUTH, WRONGPASS)."""


class UnavailableError(EchoMQError):
    """The bus cannot serve now and nothing was changed: not connected, LOADING, READONLY,
    OOM, BUSY, MISCONF, CLUSTERDOWN, TRYAGAIN, MASTERDOWN. `code` names which."""

    def __init__(self, code: str, text: str) -> None:
        self.code = code
        super().__init__(text)


class UnknownOutcomeError(EchoMQError):
    """Sent, and no answer came: it may or may not have happened (protocol part 10, row 44)."""
