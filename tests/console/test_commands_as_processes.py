"""`manage.py echomq` as processes of its own: poor locales, pipes, and a hand that interrupts."""

from __future__ import annotations

import base64
import json
import os
import signal
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from echomq_admin.house.notice import NAME
from queue_core import keys
from queue_core.bus import Bus
from queue_core.embedded import Embedded
from queue_core.keys import QueueKeys
from queue_core.verbs import queues
from tests.builders import command

ROOT = Path(__file__).resolve().parents[2]


@pytest.fixture(scope="module")
def process(server: Embedded, tmp_path_factory: pytest.TempPathFactory) -> Any:
    """A console of its own: its folder, environment and a way to run commands as a shell does."""
    var = tmp_path_factory.mktemp("console")
    environment = {
        "PATH": os.environ["PATH"], "LANG": "C", "ECHOMQ_VAR": str(var),
        "ECHOMQ_BUS_URL": server.url, "DJANGO_SUPERUSER_PASSWORD": "lovelace-1815",
        "PYTHONDONTWRITEBYTECODE": "1",
    }  # fmt: skip
    manage = [sys.executable, str(ROOT / "manage.py")]

    def run(*words: str | bytes, **more: Any) -> subprocess.CompletedProcess[bytes]:
        more = {"capture_output": True, "timeout": 60, **more}
        env = {**environment, **more.pop("env", {})}
        return subprocess.run([*manage, *words], env=env, check=False, **more)

    assert run("migrate", "-v0").returncode == 0
    made = run("createsuperuser", "--noinput", "--username", "ada", "--email", "")
    assert made.returncode == 0
    return SimpleNamespace(run=run, environment=environment, manage=manage)


def test_case_130_under_lang_c_and_piped(process: Any, bus: Bus, q: QueueKeys) -> None:
    odd = keys.found(q.name + "🐙é".encode() + b"\xff")
    bus.run(queues.pause(odd))
    ascii_only = {"PYTHONIOENCODING": "ascii", "PYTHONUTF8": "0"}
    try:
        for env in ({}, ascii_only):
            said = process.run("echomq", "queues", "--json", env=env)
            assert said.returncode == 0, said.stderr
            names = [json.loads(line)["queue"] for line in said.stdout.splitlines()]
            assert {"b64": base64.b64encode(odd.name).decode()} in names
            assert process.run("echomq", "queues", env=env).returncode == 0
        paused = process.run("echomq", "resume", odd.name, "--as", "ada", env={})
        assert paused.returncode == 0, paused.stderr
        assert bus.run(command("HGET", odd.meta, "paused")) is None
    finally:
        bus.run(command("DEL", odd.meta))


@pytest.mark.parametrize(
    ("typed", "wrong", "manual"),
    [
        ([], "The following arguments are required: SUBCOMMAND", "echomq"),
        (["paus", "mail"], "Argument SUBCOMMAND: invalid choice: 'paus'", "echomq"),
        (["pause"], "The following arguments are required: queue", "echomq pause"),
        (["show", "mail", "--nosuch\n"], "Unrecognized arguments: --nosuch", "echomq show"),
        (["sign-in", "--minutes", "x"], "Argument --minutes: invalid int", "echomq sign-in"),
    ],
)
def test_what_is_typed_wrongly_is_told_in_one_line(
    process: Any, typed: list[str], wrong: str, manual: str
) -> None:
    said = process.run("echomq", *typed)
    line = said.stderr.decode()
    assert said.returncode == 2
    assert (line.count("\n"), said.stdout) == (1, b"")
    assert line.startswith(f"invalid: {wrong}")
    assert line.endswith(f". manage.py {manual} --help says what it takes.\n")


def test_what_is_typed_wrongly_is_a_record_for_a_program(process: Any) -> None:
    said = process.run("echomq", "pause", "--json")
    assert (said.returncode, said.stderr) == (2, b"")
    assert json.loads(said.stdout)["outcome"] == "invalid"


def test_case_130_a_reader_that_leaves_early_is_no_error(process: Any, bus: Bus) -> None:
    made = [keys.found(f"many.{number}".encode()) for number in range(400)]
    try:
        bus.run_all([queues.pause(one) for one in made])
        shell = f"{sys.executable} {ROOT / 'manage.py'} echomq queues --json | head -1"
        said = subprocess.run(
            ["/bin/sh", "-c", shell], env=process.environment, capture_output=True, check=False
        )
        assert said.stderr.startswith(b"On bus main, ")
        assert said.stderr.count(b"\n") == 1
        assert json.loads(said.stdout)
    finally:
        bus.run_all([command("DEL", one.meta) for one in made])


def test_case_130_ctrl_c_leaves_a_partial_report(
    process: Any, bus: Bus, q: QueueKeys, mint: Callable[[], bytes]
) -> None:
    words = [*process.manage, "echomq", "retry", q.name.decode(), "--as", "ada", "--json"]
    running = subprocess.Popen(
        [*words, *(mint().decode() for _ in range(3000))],
        env={**process.environment, "PYTHONUNBUFFERED": "1"},
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
    )
    assert running.stdout is not None
    first = running.stdout.readline()
    running.send_signal(signal.SIGINT)
    rest, errors = running.communicate(timeout=30)
    assert running.returncode == 130
    reported = [json.loads(line) for line in (first + rest).splitlines()]
    assert 0 < len(reported) < 3000
    assert b"Traceback" not in errors


def test_a_console_without_tables_says_what_to_do(process: Any, tmp_path: Path) -> None:
    said = process.run("echomq", "pause", "q", "--as", "ada", env={"ECHOMQ_VAR": str(tmp_path)})
    assert said.returncode == 8
    assert b"migrate" in said.stderr


@pytest.mark.parametrize("option", [b"--as", b"--reason", b"--request-id", b"--id", b"--lane"])
def test_text_of_another_encoding_is_refused_in_one_line(
    process: Any, q: QueueKeys, option: bytes
) -> None:
    done = process.run("echomq", "enqueue", q.name, "--payload", "x", option, b"\xff")
    assert done.returncode == 2
    assert b"not a text in the encoding of this shell" in done.stderr
    assert b"Traceback" not in done.stderr


@pytest.mark.parametrize("left_behind", [False, True])
def test_a_bus_given_by_its_url_is_acted_on_whatever_else_is_known(
    process: Any, bus: Bus, q: QueueKeys, server: Embedded, left_behind: bool
) -> None:
    """Nothing else names a bus; beside it may lie what a house that is gone left behind."""
    notice = Path(process.environment["ECHOMQ_VAR"]) / NAME
    if left_behind:
        notice.write_text('{"bus": "redis://127.0.0.1:1/0", "console": "", "pid": 0}')
    unsaid = {"ECHOMQ_BUS_URL": ""}
    words = ["echomq", "enqueue", q.name, "--payload", "x", "--as", "ada"]
    try:
        done = process.run(*words, "--bus", server.url, env=unsaid)
        assert done.returncode == 0, done.stderr
        assert bus.run(command("ZCARD", q.pending)) == 1
        guessed = process.run(*words, env=unsaid)
        assert guessed.returncode == (8 if left_behind else 2)
        assert b"--bus URL" in guessed.stderr
    finally:
        notice.unlink(missing_ok=True)
