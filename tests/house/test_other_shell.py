"""A second shell beside a house: on which bus its commands are, and that they say so."""

from __future__ import annotations

import json
import os
import signal
import stat
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from echomq_admin.house.notice import NAME
from queue_core.bus import connect
from queue_core.embedded import Embedded
from queue_core.keys import queue
from queue_core.verbs import queues
from tests.builders import command
from tests.house.running import (
    ROOT,
    Running,
    configured,
    environment,
    gone,
    processes,
)
from tests.ports import free_port

PASSWORD = "correct-horse"
Q = queue("of-the-second-shell")


@pytest.fixture(scope="module")
def locked(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Embedded]:
    """A bus of one's own behind a password."""
    server = Embedded(tmp_path_factory.mktemp("locked"), port=free_port())
    server.start()
    bus = connect(server.url)
    bus.run(queues.pause(Q))
    bus.run(configured("requirepass", PASSWORD))
    bus.close()
    yield server
    server.kill()


def shell(var: Path, *words: str, **env: str) -> tuple[int, str, str]:
    """A command as it is typed in another shell over the same folder: code, output, errors."""
    told = {**environment(var), **env}
    for name in {"ECHOMQ_BUS_URL", "ECHOMQ_BUSES", "ECHOMQ_CLI_USER"} - env.keys():
        told.pop(name, None)
    done = subprocess.run(
        [sys.executable, "manage.py", *words],
        cwd=ROOT, env=told, capture_output=True, text=True, timeout=60, check=False,
    )  # fmt: skip
    assert PASSWORD not in done.stdout + done.stderr
    return done.returncode, done.stdout, done.stderr


def named(said: tuple[int, str, str]) -> list[str]:
    """The queues that a command listed."""
    return [json.loads(line)["queue"] for line in said[1].splitlines()]


def test_commands_beside_a_house_and_after_it(
    tmp_path: Path, locked: Embedded, server: Embedded
) -> None:
    """One story, because a house takes seconds to start."""
    url = f"redis://:{PASSWORD}@127.0.0.1:{locked.port}/0"
    house = Running(tmp_path, "--port", str(free_port()), "--bus", url)
    try:
        house.said("Sign in, once, with")
        assert stat.S_IMODE((tmp_path / NAME).stat().st_mode) == 0o600
        assert PASSWORD not in "\n".join(house.lines)

        # Beside it: its bus, said with the URL masked, looking and acting alike.
        place, mine = f"redis://***@127.0.0.1:{locked.port}/0", Q.name.decode()
        looked = shell(tmp_path, "echomq", "queues", "--json")
        assert looked[0] == 0, looked
        assert mine in named(looked)
        assert f"On bus main, {place}, of the ./dev run at http://127.0.0.1:" in looked[2]
        acted = shell(tmp_path, "echomq", "resume", mine, "--as", "operator")
        assert acted[0] == 0, acted
        assert place in acted[2]
        there = connect(url)
        assert there.run(command("HGET", Q.meta, "paused")) is None

        # What is named wins: by the environment, and by the command's own word.
        other = shell(tmp_path, "echomq", "queues", "--json", ECHOMQ_BUS_URL=server.url)
        assert mine not in named(other)
        assert "by the settings" in other[2]
        given = shell(tmp_path, "echomq", "queues", "--json", "--bus", server.url)
        assert mine not in named(given)
        assert "as given" in given[2]
        assert "On bus main" not in given[2], "a bus of another place has another name"

        # Killed: its notice stays, and nobody follows it.
        assert house.ended(signal.SIGKILL) == -signal.SIGKILL
        assert gone(tmp_path)
        for words in (("queues",), ("pause", mine, "--as", "operator")):
            code, out, err = shell(tmp_path, "echomq", *words)
            assert (code, out) == (8, "")
            assert "was left by a ./dev run that runs no more" in err
            assert "ECHOMQ_BUS_URL" in err
        code, _, err = shell(tmp_path, "echomq_pump", "--queue", mine)
        assert code == 1
        assert "was left by a ./dev run that runs no more" in err
        assert there.run(command("HGET", Q.meta, "paused")) is None
        assert shell(tmp_path, "echomq", "queues", ECHOMQ_BUS_URL=server.url)[0] == 0
        there.close()
    finally:
        for pid in processes(tmp_path):
            os.kill(pid, signal.SIGKILL)


def test_nothing_is_done_on_a_guess(tmp_path: Path) -> None:
    """Without a house and without a name the default may be looked at, and no more."""
    assert shell(tmp_path, "migrate", "-v0")[0] == 0
    made = ("createsuperuser", "--noinput", "--username", "ada", "--email", "")
    assert shell(tmp_path, *made, DJANGO_SUPERUSER_PASSWORD="lovelace-1815")[0] == 0
    code, out, err = shell(tmp_path, "echomq", "pause", "any", "--as", "ada")
    assert (code, out) == (2, "")
    assert "by default: nothing names one" in err
    assert "No bus is named" in err
    for words in (("echomq", "conformance"), ("echomq_pump", "--queue", "any")):
        code, out, err = shell(tmp_path, *words)
        assert code != 0
        assert "No bus is named" in err
    assert shell(tmp_path, "echomq", "conformance", "--list")[2] == ""
    assert shell(tmp_path, "echomq", "sign-in")[2] == ""
