"""A bus of either kind over servers of some kind, as the buses' own tests need it."""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Iterator
from typing import Any

from tests.buses import Awaited, Blocking, Servers

BUSES: dict[str, type[Blocking] | type[Awaited]] = {"blocking": Blocking, "awaited": Awaited}


class Reach:
    """One bus over some servers, and more of its kind where a test asks."""

    def __init__(
        self, servers: Servers, kind: type[Blocking] | type[Awaited], stack: contextlib.ExitStack
    ) -> None:
        self.servers = servers
        self._kind = kind
        self._stack = stack
        self.made = self.another()
        self.bus = self.made.bus
        self.run = self.made.run
        self.run_all = self.made.run_all

    def another(self, **options: Any) -> Blocking | Awaited:
        """Another bus over the same servers; `protocol` and `auth` go into its URL."""
        url = self.servers.url
        if "protocol" in options:
            url += f"?protocol={options.pop('protocol')}"
        if "auth" in options:
            url = url.replace("://", f"://{options.pop('auth')}@", 1)
        made = self._kind(url, **options)
        self._stack.callback(made.close)
        return made

    @contextlib.contextmanager
    def listening(self, channel: bytes) -> Iterator[Callable[[], tuple[bytes, bytes]]]:
        """A subscription in force."""
        with self.made.listening(channel) as following:
            yield following
