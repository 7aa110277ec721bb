"""`./dev run`: start the house, say where to look, keep it up, stop it in order."""

import argparse
import contextlib
import os
import signal
import sys
import time
from pathlib import Path
from types import FrameType
from typing import Any

from echomq_admin.house.checks import HOST, require_port
from echomq_admin.house.house import LOOK_S, ROOT, House
from echomq_admin.house.refusal import RefusedError
from echomq_admin.house.tenancy import Tenancy

DEFAULT_PORT = 8000


class StopError(Exception):
    """Somebody asked the house to end."""


def say(line: str) -> None:
    """One line to the terminal, with the local time in front."""
    with contextlib.suppress(OSError):  # the terminal may be gone; the house still stops in order
        print(f"{time.strftime('%H:%M:%S')}  {line}", flush=True)  # noqa: T201


def _asked_to_stop(_signal: int, _frame: FrameType | None) -> None:
    raise StopError


def _on_stop(handler: Any) -> None:
    for sign in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
        signal.signal(sign, handler)


def _arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="./dev run", description=__doc__)
    parser.add_argument("--bus", metavar="URL", help="look at this bus; no demo, worker or pump")
    parser.add_argument(
        "--port", type=int, default=os.environ.get("PORT") or DEFAULT_PORT, help="of the console"
    )
    return parser.parse_args()


def _announce(house: House) -> None:
    say(f"The console is at {house.url}")
    say(f"Sign in, once, with {house.link}")
    if house.bus is None:
        say("It only looks: nothing is written to the bus until you act. Ctrl-C stops it.")
    else:
        say(f"Its bus is {house.bus.port_url} and {house.bus_url}; data stays in {house.var}")
        say("Ctrl-C stops everything.")


def run(var: Path, port: int, bus_url: str | None) -> None:
    """Start, keep, stop. Raises `RefusedError` where it cannot start."""
    tenancy = Tenancy(var)
    tenancy.take(f"http://{HOST}:{port}/")
    require_port(port)
    house = House(var, port, bus_url, say)
    try:
        _on_stop(_asked_to_stop)
        say(f"Starting; data and logs are in {var}")
        house.start()
        _announce(house)
        while True:
            house.watch()
            time.sleep(LOOK_S)
    except StopError:
        say("Stopping")
    finally:
        _on_stop(signal.SIG_IGN)
        house.stop()
        tenancy.leave()
    say("Stopped; nothing of it runs any more.")


def main() -> int:
    """The exit code: 0 after an orderly stop, 1 with one line on stderr where it refused."""
    arguments = _arguments()
    os.umask(0o077)  # sessions, payloads and logs are their owner's alone
    var = Path(os.environ.get("ECHOMQ_VAR") or ROOT / "var").resolve()
    try:
        run(var, arguments.port, arguments.bus)
    except RefusedError as refused:
        sys.stderr.write(f"{refused}\n")
        return 1
    except OSError as error:
        sys.stderr.write(f"Cannot use {error.filename or var}: {error.strerror}. Make it usable.\n")
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
