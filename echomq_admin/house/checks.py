"""What must hold before anything is started."""

import socket

from echomq_admin.house.refusal import RefusedError
from queue_core.bus import connect
from queue_core.errors import (
    EchoMQError,
    FenceError,
    ForbiddenFault,
    InvalidError,
    UnavailableError,
    UnknownOutcomeError,
)
from queue_core.reads.health import health
from queue_core.servers import parse

HOST = "127.0.0.1"

LOGIN_FAULTS = ("WRONGPASS", "NOAUTH")
"""The login is refused; any other refusal only hides a figure, which the console shows."""


def port_is_free(port: int) -> bool:
    """Whether a server may listen on this loopback port now."""
    with socket.socket() as probe:
        probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            probe.bind((HOST, port))
        except OSError:
            return False
    return True


def require_port(port: int) -> None:
    """Raises `RefusedError` where the console could not listen."""
    if not port_is_free(port):
        raise RefusedError(
            f"Port {port} is taken. Stop what listens there, or choose another: "
            f"./dev run --port {port + 1}"
        )


def require_bus(url: str) -> None:
    """Look at a bus as the console will, writing nothing; `RefusedError` says what is wrong."""
    try:
        safe = parse(url).safe
    except InvalidError as error:
        raise RefusedError(f"That is no bus URL: {error}.") from None
    try:
        bus = connect(url, observe=True)
        try:
            bus.run(health())
        finally:
            bus.close()
    except ForbiddenFault as error:
        if error.code in LOGIN_FAULTS:
            raise RefusedError(_why(safe, error)) from None
    except EchoMQError as error:
        raise RefusedError(_why(safe, error)) from None


def _why(url: str, error: EchoMQError) -> str:
    match error:
        case FenceError(expected=expected, got=got):
            return (
                f"The bus at {url} speaks {got.decode('ascii', 'backslashreplace')}, this "
                f"console {expected}. Nothing was read. Use a console of that version."
            )
        case ForbiddenFault():
            return (
                f"The bus at {url} refuses the name or password ({error.code}). "
                "Give them in the URL: redis://user:password@host:port/0"
            )
        case UnavailableError() | UnknownOutcomeError():
            return f"Cannot reach the bus at {url}: {error}. Start it, or mend the URL."
        case _:
            return f"The bus at {url} does not answer as one: {error}."
