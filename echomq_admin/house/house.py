"""The processes of one `./dev run`: a bus, the console, and what makes the bus move."""

import http.client
import os
import subprocess
import sys
import time
from collections.abc import Callable, Mapping
from pathlib import Path

from echomq_admin.house import notice
from echomq_admin.house.bus import HouseBus
from echomq_admin.house.checks import HOST, require_bus
from echomq_admin.house.children import Child
from echomq_admin.house.refusal import RefusedError
from echomq_admin.house.warden import Warden

ROOT = Path(__file__).resolve().parents[2]
READY_S = 45.0
STOP_S = 20.0
LOOK_S = 0.2

DEMO = (
    ("worker", ("echomq_work", "--workshop")),
    ("pump", ("echomq_pump", "--workshop")),
    ("workshop", ("echomq_workshop",)),
)
"""What runs beside the console on the bus of our own, in the order it starts."""


class House:
    """A console on `port`, over an embedded bus with worker, pump and demo load, or over the
    bus at `bus_url` with nothing beside it. Everything it keeps is under `var`; `say` is told
    what happens, a line each time."""

    def __init__(
        self, var: Path, port: int, bus_url: str | None, say: Callable[[str], None]
    ) -> None:
        self.var = var
        self.say = say
        self.port = port
        prefix = os.environ.get("ECHOMQ_PREFIX", "").strip("/")
        self.root = f"/{prefix}/" if prefix else "/"
        self.url = f"http://{HOST}:{port}{self.root}"
        self.warden = Warden()
        self.bus = None if bus_url is not None else HouseBus(var / "valkey", say, self.warden)
        self.bus_url = bus_url or ""
        self.link = ""
        self.children: list[Child] = []

    def env(self) -> Mapping[str, str]:
        """What every child is told by its environment."""
        return {
            **os.environ,
            "DJANGO_SETTINGS_MODULE": "echomq_admin.settings",
            "ECHOMQ_BUSES": "",
            "ECHOMQ_BUS_URL": self.bus_url,
            "ECHOMQ_URL": f"http://{HOST}:{self.port}",
            "ECHOMQ_VAR": str(self.var),
            "PYTHONUNBUFFERED": "1",
        }

    def start(self) -> None:
        """Everything up, or `RefusedError`."""
        notice.take_down(self.var)  # of a house that was killed
        if sys.platform != "linux":
            self.warden.start()
        if self.bus is None:
            require_bus(self.bus_url)
        else:
            self.bus.start()
            self.bus_url = self.bus.url
        notice.put_up(self.var, notice.Notice(self.bus_url, self.url, os.getpid()))
        self.link = self.sign_in_link()
        logs = self.var / "log"
        logs.mkdir(exist_ok=True)
        daphne = ("-m", "daphne", "-v", "0", "-b", HOST, "-p", str(self.port))
        self._add("console", logs, *daphne, "echomq_admin.asgi:application")
        if self.bus is not None:
            for name, words in DEMO:
                self._add(name, logs, str(ROOT / "manage.py"), *words)
        self._wait_until_ready()

    def sign_in_link(self) -> str:
        """The console's own database made ready, and a link that signs its operator in, once."""
        words = [sys.executable, "manage.py", "echomq_house"]
        done = subprocess.run(  # noqa: S603 (our own words)
            words, cwd=ROOT, env=self.env(), stdin=subprocess.DEVNULL, capture_output=True,
            text=True, check=False,
        )  # fmt: skip
        lines = (done.stderr if done.returncode else done.stdout).strip().splitlines()
        if done.returncode or not lines:
            raise RefusedError(f"The console's database is not ready: {(lines or ['no word'])[-1]}")
        return lines[-1]

    def _add(self, name: str, logs: Path, *words: str) -> None:
        env = {**self.env(), "PYTHONPATH": str(ROOT)}
        child = Child(
            name, [sys.executable, *words], env, logs / f"{name}.log", self.say, self.warden
        )
        child.start()
        self.children.append(child)

    def _wait_until_ready(self) -> None:
        deadline = time.monotonic() + READY_S
        while time.monotonic() < deadline:
            self.watch()
            if self._answers():
                return
            time.sleep(LOOK_S)
        raise RefusedError(f"The console does not answer; see {self.var / 'log' / 'console.log'}.")

    def _answers(self) -> bool:
        """Whether the console says that it is well. No proxy of the environment is asked."""
        asked = http.client.HTTPConnection(HOST, self.port, timeout=2)
        try:
            asked.request("GET", f"{self.root}health")
            return asked.getresponse().status == http.HTTPStatus.OK
        except (OSError, http.client.HTTPException):
            return False
        finally:
            asked.close()

    def watch(self) -> None:
        """One look at everything that should run."""
        if self.bus is not None:
            self.bus.watch()
        for child in self.children:
            child.watch()

    def stop(self) -> None:
        """Stop in the reverse order of the start: load, pump, worker, console, bus."""
        notice.take_down(self.var)
        for child in reversed(self.children):
            child.stop(STOP_S)
        if self.bus is not None:
            self.bus.stop()
        self.warden.stop()
