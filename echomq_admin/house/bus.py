"""The embedded server as a member of the house, restarted like any child."""

import socket
import time
from collections.abc import Callable
from pathlib import Path

from echomq_admin.house.checks import HOST, port_is_free
from echomq_admin.house.children import FIRST_WAIT_S, LONGEST_WAIT_S, STEADY_S
from echomq_admin.house.refusal import RefusedError
from echomq_admin.house.warden import Warden
from queue_core.embedded import Embedded
from queue_core.errors import UnavailableError

PORT = 6390
"""Where an EchoMQ bus listens by custom; another free port is taken where it is not free."""


def _free_port() -> int:
    if port_is_free(PORT):
        return PORT
    with socket.socket() as probe:
        probe.bind((HOST, 0))
        port: int = probe.getsockname()[1]
    return port


class HouseBus:
    """An embedded server over `folder`, on a unix socket and a loopback port."""

    def __init__(self, folder: Path, say: Callable[[str], None], warden: Warden) -> None:
        self._server = Embedded(folder, port=_free_port())
        self._say = say
        self._warden = warden
        self._held: int | None = None
        self._started = 0.0
        self._wait_s = FIRST_WAIT_S
        self._due: float | None = None

    @property
    def url(self) -> str:
        """How the children reach it."""
        return self._server.url

    @property
    def port_url(self) -> str:
        """How another program of this machine may."""
        return f"redis://{HOST}:{self._server.port}/0"

    @property
    def pid(self) -> int | None:
        """Its process, None while none runs."""
        return self._server.pid

    def start(self) -> None:
        """Raises `RefusedError` where no server can be had or it does not start."""
        try:
            self._server.start()
        except UnavailableError as error:
            raise RefusedError(f"The embedded Valkey does not start: {error}") from None
        self._started = time.monotonic()
        self._hold()

    def watch(self) -> None:
        """Note a fall, and start again once its wait is over."""
        now = time.monotonic()
        if self._due is None and self._server.pid is None:
            if now - self._started > STEADY_S:
                self._wait_s = FIRST_WAIT_S
            self._due = now + self._wait_s
            self._warden.release(self._held)
            self._say(f"valkey ended; again in {self._wait_s:g} s ({self._server.log})")
            self._wait_s = min(self._wait_s * 2, LONGEST_WAIT_S)
        if self._due is not None and now >= self._due:
            self._server.kill()
            try:
                self._server.start()
            except UnavailableError as error:
                self._say(f"valkey does not start: {error}")
                self._due = now + self._wait_s
                self._wait_s = min(self._wait_s * 2, LONGEST_WAIT_S)
                return
            self._started, self._due = now, None
            self._hold()
            self._say("valkey started again")

    def stop(self) -> None:
        """Stop it in order; its data stays for the next start."""
        self._due = None
        self._server.stop()
        self._warden.release(self._held)

    def _hold(self) -> None:
        self._held = self._server.pid
        self._warden.hold(self._held)
