"""The examples of docs/engine.md do what the page says, on a real server, typed or not at all."""

from __future__ import annotations

import os
import re
import runpy
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from queue_core.embedded import Embedded

ROOT = Path(__file__).resolve().parents[2]
FOLDER = ROOT / "tests" / "examples"
PAGE = (ROOT / "docs" / "engine.md").read_text()
SHOWN = re.compile(r"<!-- (tests/examples/\w+\.py) -->\n```python\n(.*?)```", re.DOTALL)

ADMITTED = ["enqueued 14", "scheduled", "scheduled"]
SAID = {
    "first": ['{"to": "ada"} ok'],
    "lanes": ["ada 1", "bob 1", "ada 2", "True", "nothing to claim"],
    "repeats": ["registered", "exists", "make it", "cancelled"],
    "flows": ["ok None", "cut [b'SCENE 1', b'SCENE 2']"],
    "batches": ["10", "9 done, 1 again, 0 lost"],
    "batch_consumer": ["5 at once", "2 at once", "[1, 2, 4, 5, 6, 7] 1 dead"],
    "metronome": ["letter 1", "thumbnail a", "letter 2", "thumbnail b"],
    "bounds": ["enqueued exists True", "['sync', 'a', 'b']", "ok True", "ok"],
    "streams": ["ada 1", "bob 1", "eve 1", "bob 2", "2"],
    "boards": [
        "(<Word.ok: 'ok'>, '40')",
        "(<Word.ok: 'ok'>, '70')",
        "(<Word.noop: 'noop'>, '40')",
        "(<Word.ok: 'ok'>, '90')",
        "(<Word.moved: 'moved'>, '90')",
        "[(b'ada', '90'), (b'bob', '70')]",
    ],
    "outcomes": [
        "enqueued done",
        "duplicate already",
        "ok gone",
        "not a branded id (three capital letters and eleven of 0-9 A-Z a-z): 'nonsense'",
        "CONNECT",
    ],
    "backoff": [
        "[500, 1000, 2000, 4000, 8000, 16000, 30000, 30000]",
        "3 wait, 1 dead, 1 done",
    ],
    "nodes": ["True", "7"],
}
TWINS = {f"async_{name}": lines for name, lines in SAID.items()}
ALONE = {**SAID, **TWINS, "embedded": ["enqueued"]}
TOGETHER = {"producer", "consumer"}


@pytest.mark.parametrize("name", ALONE)
def test_an_example_says_what_it_should(
    name: str, server: Embedded, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("BUS_URL", server.url)
    runpy.run_path(str(FOLDER / f"{name}.py"), run_name="__main__")
    assert capsys.readouterr().out.splitlines() == ALONE[name]


@pytest.mark.parametrize("kind", ["", "async_"])
def test_a_producer_and_a_consumer_are_processes(kind: str, server: Embedded) -> None:
    environment = {**os.environ, "BUS_URL": server.url, "PYTHONPATH": str(ROOT)}
    words = [sys.executable, str(FOLDER / f"{kind}consumer.py")]
    with subprocess.Popen(words, env=environment, stderr=subprocess.PIPE, text=True) as consumer:
        try:
            produced = subprocess.run(
                [sys.executable, str(FOLDER / f"{kind}producer.py")],
                env=environment, check=True, capture_output=True, text=True, timeout=60,
            )  # fmt: skip
            assert produced.stdout.splitlines() == ADMITTED
            assert consumer.stderr is not None
            served: set[str] = set()
            while len(served) < 3:
                line = consumer.stderr.readline()
                assert line, "it ended early"
                served |= {line.strip()} if line.startswith("mail for") else set()
            consumer.send_signal(signal.SIGTERM)
            rest = consumer.stderr.read().splitlines()
            assert consumer.wait(60) == 0
        finally:
            consumer.kill()
    assert served == {f'mail for {{"to": "{name}"}}' for name in ("ada", "grace", "edsger")}
    assert rest[-1] == "all settled"


def test_the_page_shows_every_example_as_it_is() -> None:
    shown = dict(SHOWN.findall(PAGE))
    files = {path.relative_to(ROOT).as_posix(): path.read_text() for path in FOLDER.glob("*.py")}
    assert shown == files
    assert PAGE.count("```python") == len(files)


def test_every_example_has_its_twin_and_is_run() -> None:
    names = {path.stem for path in FOLDER.glob("*.py")}
    assert names == {*ALONE, *TOGETHER, *(f"async_{name}" for name in TOGETHER)}


def test_every_example_is_typed() -> None:
    checked = subprocess.run(
        [sys.executable, "-m", "mypy", "--strict", str(FOLDER)],
        cwd=ROOT, capture_output=True, text=True, check=False,
    )  # fmt: skip
    assert not checked.returncode, checked.stdout
