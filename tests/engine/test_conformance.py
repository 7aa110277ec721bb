"""The 79 scenarios of the wire on a real server, and what the command says of them."""

from __future__ import annotations

import json
import signal
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from queue_core.bus import Bus
from queue_core.conformance.command import main
from queue_core.conformance.scratch import keys_from
from queue_core.conformance.stage import Chapter, Stage
from queue_core.conformance.suite import SCENARIOS, play
from queue_core.embedded import Embedded
from queue_core.keys import VERSION
from tests.builders import command
from tests.servers import Older

ROOT = Path(__file__).resolve().parents[2]
MODULE = [sys.executable, "-m", "queue_core.conformance"]


def left(bus: Bus) -> list[bytes]:
    """Keys of scratch queues."""
    return bus.run(keys_from(bus.primaries(), b"emq:{conformance-"))


@pytest.mark.parametrize("protocol", [2, 3])
@pytest.mark.parametrize("awaited", [False, True], ids=["blocking", "awaited"])
def test_every_scenario_passes(server: Embedded, bus: Bus, protocol: int, awaited: bool) -> None:
    results = list(play(f"{server.url}&protocol={protocol}", awaited=awaited))
    assert [one.line for one in results if not one.passed] == []
    assert [one.number for one in results] == list(range(1, 80))
    assert left(bus) == []


def test_the_command_says_a_line_a_scenario_and_the_total(server: Embedded, bus: Bus) -> None:
    said = subprocess.run(
        [*MODULE, server.url], cwd=ROOT, capture_output=True, text=True, check=False, timeout=60
    )
    lines = said.stdout.splitlines()
    assert (said.returncode, said.stderr, lines[-1]) == (0, "", "79 passed, 0 failed")
    assert [line.split()[2] for line in lines[:-1]] == [one.name for one in SCENARIOS]
    assert left(bus) == []


def test_an_older_server_passes_by_the_stated_fall_back(tmp_path: Path) -> None:
    old = Older(tmp_path / "old").start()
    try:
        results = list(play(old.url))
    finally:
        old.stop()
    assert [one.line for one in results if not one.passed] == []
    noted = {one.number: one.note for one in results if one.note}
    assert noted == dict.fromkeys((58, 59), "fall-back, as hash fields do not expire here")


def test_what_fails_says_expected_and_got(tmp_path: Path, capsys: Any) -> None:
    """A server that lacks one command which two scenarios need."""
    old = Embedded(tmp_path / "old", extra=("--rename-command", "HPEXPIREAT", ""))
    old.start()
    try:
        names = ["native_lock_field", "native_lock_refuses", "mint"]
        assert main([old.url, *(word for name in names for word in ("--only", name))]) == 1
        *lines, total = capsys.readouterr().out.splitlines()
        assert total == "1 passed, 2 failed"
        assert "58 native_lock_field: a step: expected an answer, got ServerFault" in lines[1]
        assert main([old.url, "--json", "--only", "native_lock_field"]) == 1
        record, total = map(json.loads, capsys.readouterr().out.splitlines())
        assert (record["name"], record["passed"]) == ("native_lock_field", False)
        assert total == {"passed": 0, "failed": 1}
    finally:
        old.kill()


def test_an_expectation_that_is_not_met(server: Embedded, monkeypatch: Any) -> None:
    chapter = Chapter()

    @chapter.scenario(80)
    def wrong(s: Stage) -> None:
        """The payload is another."""
        s.expect("payload", s.field(s.job(b"this"), "payload"), b"that")

    monkeypatch.setattr("queue_core.conformance.suite.SCENARIOS", tuple(chapter.scenarios))
    found = [one.line for one in play(server.url)]
    assert found == ["FAILED  80 wrong: payload: expected b'that', got b'this'"]


@pytest.mark.parametrize(
    ("words", "code", "sentence"),
    [
        (["http://x"], 2, "redis+cluster://, not 'http://'"),
        (["redis://user:secret@127.0.0.1:1"], 8, "the bus does not serve: cannot connect"),
        (["{url}", "--only", "nope"], 2, "there is no scenario 'nope'"),
        (["{url}", "--scratch", "a/b"], 2, "a queue name is"),
        (["{url}", "--scratch", "x" * 91], 2, "at most 90"),
        (["{url}", "--fence", "echomq:9.9.9"], 7, "the version fence: the bus speaks"),
    ],
)
def test_what_cannot_be_played(
    server: Embedded, bus: Bus, capsys: Any, words: list[str], code: int, sentence: str
) -> None:
    bus.run(command("SET", VERSION, "echomq:3.0.0", "NX"))
    assert main([word.replace("{url}", server.url) for word in words]) == code
    said = capsys.readouterr()
    assert said.out == ""
    assert said.err.count("\n") == 1
    assert sentence in said.err
    assert "secret" not in said.err


def test_queues_that_exist_are_left_alone(server: Embedded, bus: Bus, capsys: Any) -> None:
    theirs = b"emq:{cm.pending}:meta"
    bus.run(command("HSET", theirs, "paused", "1"))
    try:
        assert main([server.url, "--scratch", "cm"]) == 2
        assert "exist: give another name" in capsys.readouterr().err
        assert bus.run(command("EXISTS", theirs)) == 1
    finally:
        bus.run(command("DEL", theirs))


def test_whoever_stops_it_leaves_nothing(server: Embedded, bus: Bus) -> None:
    playing: Iterator[Any] = play(server.url)
    next(playing)
    assert left(bus)
    playing.close()  # type: ignore[attr-defined]
    assert left(bus) == []
    running = subprocess.Popen(
        [*MODULE, server.url], cwd=ROOT, stdout=subprocess.PIPE, stderr=subprocess.PIPE
    )
    assert running.stdout is not None
    running.stdout.readline()
    running.send_signal(signal.SIGINT)
    _, errors = running.communicate(timeout=30)
    assert (running.returncode, errors) == (130, b"")
    assert left(bus) == []


def test_a_reader_that_leaves_early_is_no_error(server: Embedded, bus: Bus) -> None:
    shell = f"{sys.executable} -m queue_core.conformance '{server.url}' | head -1"
    said = subprocess.run(["/bin/sh", "-c", shell], cwd=ROOT, capture_output=True, check=False)
    assert (said.stdout, said.stderr) == (b"ok       1 fence\n", b"")
    assert left(bus) == []


def test_the_list_tells_every_scenario(capsys: Any) -> None:
    assert main(["--list", "--json"]) == 0
    told = [json.loads(line) for line in capsys.readouterr().out.splitlines()]
    assert [one["number"] for one in told] == list(range(1, 80))
    assert all(one["text"].endswith((".", ")")) for one in told)
