"""`./dev run`: start the house, say where to look, keep it up, stop it in order."""

import argparse
import os
import signal
import sys
import time
import urllib.error
import urllib.request
from collections.abc import Mapping
from pathlib import Path
from types import FrameType

from echomq_admin.house.bus import HouseBus
from echomq_admin.house.checks import HOST, require_bus, require_port
from echomq_admin.house.children import Child
from echomq_admin.house.refusal import RefusedError
from echomq_admin.house.shell import Shell
from echomq_admin.house.tenancy import Tenancy
from echomq_admin.house.warden import Warden

ROOT = Path(__file__).resolve().parents[2]
DEFAULT_PORT = 8000
READY_S = 45.0
STOP_S = 20.0
LOOK_S = 0.2

DEMO = (("worker", "echomq_work"), ("pump", "echomq_pump"), ("workshop", "echomq_workshop"))
"""What runs beside the console on the bus of our own, in the order it starts."""


class StopError(Exception):
    """Somebody asked the house to end."""


def say(line: str) -> None:
    """One line to the terminal, with the local time in front."""
    print(f"{time.strftime('%H:%M:%S')}  {line}", flush=True)  # noqa: T201 (the command's voice)


class House:
    """The processes of one `./dev run`."""

    def __init__(self, var: Path, port: int, bus_url: str | None) -> None:
        self.var = var
        self.port = port
        self.url = f"http://{HOST}:{port}/"
        self.warden = Warden()
        self.bus = None if bus_url else HouseBus(var / "valkey", say, self.warden)
        self.bus_url = bus_url or ""
        self.children: list[Child] = []

    def env(self) -> Mapping[str, str]:
        """What every child is told by its environment."""
        return {
            **os.environ,
            "DJANGO_SETTINGS_MODULE": "echomq_admin.settings",
            "ECHOMQ_BUS_URL": self.bus_url,
            "ECHOMQ_URL": self.url.rstrip("/"),
            "ECHOMQ_VAR": str(self.var),
            "PYTHONUNBUFFERED": "1",
        }

    def shell(self) -> Shell:
        """Management commands with the environment of the children."""
        return Shell(ROOT, self.env())

    def start(self) -> None:
        """Everything up, or `RefusedError`."""
        if sys.platform != "linux":
            self.warden.start()
        if self.bus is None:
            require_bus(self.bus_url)
        else:
            self.bus.start()
            self.bus_url = self.bus.url
            (self.var / "bus-url").write_text(self.bus_url)
        self.shell().run("migrate", "--noinput", "--verbosity", "0")
        logs = self.var / "log"
        logs.mkdir(exist_ok=True)
        daphne = ("-m", "daphne", "-v", "0", "-b", HOST, "-p", str(self.port))
        self._add("console", logs, *daphne, "echomq_admin.asgi:application")
        if self.bus is not None:
            for name, command in DEMO:
                self._add(name, logs, str(ROOT / "manage.py"), command)
        self._wait_until_ready()

    def _add(self, name: str, logs: Path, *words: str) -> None:
        env = {**self.env(), "PYTHONPATH": str(ROOT)}
        child = Child(name, [sys.executable, *words], env, logs / f"{name}.log", say, self.warden)
        child.start()
        self.children.append(child)

    def _wait_until_ready(self) -> None:
        deadline = time.monotonic() + READY_S
        while time.monotonic() < deadline:
            self.watch()
            try:
                with urllib.request.urlopen(f"{self.url}health", timeout=2):  # noqa: S310 (loopback)
                    return
            except urllib.error.HTTPError:
                return
            except OSError:
                time.sleep(LOOK_S)
        raise RefusedError(f"The console does not answer; see {self.var / 'log' / 'console.log'}.")

    def watch(self) -> None:
        """One look at everything that should run."""
        if self.bus is not None:
            self.bus.watch()
        for child in self.children:
            child.watch()

    def stop(self) -> None:
        """Stop in the reverse order of the start: load, pump, worker, console, bus."""
        for child in reversed(self.children):
            child.stop(STOP_S)
        if self.bus is not None:
            self.bus.stop()
            (self.var / "bus-url").unlink(missing_ok=True)
        self.warden.stop()


def _asked_to_stop(_signal: int, _frame: FrameType | None) -> None:
    raise StopError


def _arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="./dev run", description=__doc__)
    parser.add_argument("--bus", metavar="URL", help="look at this bus; no demo, worker or pump")
    parser.add_argument(
        "--port", type=int, default=os.environ.get("PORT") or DEFAULT_PORT, help="of the console"
    )
    return parser.parse_args()


def _announce(house: House) -> None:
    link = house.shell().sign_in_link()
    say(f"The console is at {house.url}")
    say(f"Sign in, once, with {link}")
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
    house = House(var, port, bus_url)
    for sign in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
        signal.signal(sign, _asked_to_stop)
    say(f"Starting; data and logs are in {var}")
    try:
        house.start()
        _announce(house)
        while True:
            house.watch()
            time.sleep(LOOK_S)
    except StopError:
        say("Stopping")
    finally:
        for sign in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
            signal.signal(sign, signal.SIG_IGN)
        house.stop()
        tenancy.leave()
    say("Stopped; nothing of it runs any more.")


def main() -> int:
    """The exit code: 0 after an orderly stop, 1 with one line on stderr where it refused."""
    arguments = _arguments()
    var = Path(os.environ.get("ECHOMQ_VAR", ROOT / "var")).resolve()
    try:
        run(var, arguments.port, arguments.bus)
    except RefusedError as refused:
        sys.stderr.write(f"{refused}\n")
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
