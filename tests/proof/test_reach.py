"""The model walks every verb of the engine, and every read that the wire describes."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
ENGINE = ROOT / "queue_core"
HOMES = [
    *sorted((ENGINE / "verbs").glob("*.py")),
    ENGINE / "boards.py",
    *(ENGINE / "reads" / f"{name}.py" for name in ("boards", "counts", "jobs", "limits")),
    *(ENGINE / "reads" / f"{name}.py" for name in ("metrics", "pending")),
]
APART = {
    "queue_core.boards.retire": "it gives a board an end, and a board that ended is none",
    "queue_core.reads.boards.game_facts": "reads keys of another program, which no verb writes",
    "queue_core.reads.boards.games": "walks the whole server, worlds of others with it",
    "queue_core.verbs.events.publish": "leaves nothing behind that a model could hold",
    "queue_core.verbs.queues.drain_all": "a step of other plans, which are walked",
}
"""Plans that the model leaves out, and why."""


def _plans(path: Path) -> Iterator[str]:
    module = path.relative_to(ROOT).with_suffix("").as_posix().replace("/", ".")
    for node in ast.parse(path.read_text()).body:
        if not isinstance(node, ast.FunctionDef) or node.name.startswith("_"):
            continue
        if node.returns is not None and ast.unparse(node.returns).startswith("Plan["):
            yield f"{module}.{node.name}"


def _walked(path: Path) -> Iterator[str]:
    """What a file of the proofs calls of the modules that it imports."""
    tree = ast.parse(path.read_text())
    modules = {
        alias.asname or alias.name: f"{node.module}.{alias.name}"
        for node in ast.walk(tree)
        if isinstance(node, ast.ImportFrom)
        for alias in node.names
    }
    for node in ast.walk(tree):
        if isinstance(node, ast.Attribute) and isinstance(node.value, ast.Name):
            yield f"{modules.get(node.value.id)}.{node.attr}"


def test_the_model_walks_every_verb_and_every_read_of_the_wire() -> None:
    plans = {name for path in HOMES for name in _plans(path)}
    walked = {name for path in Path(__file__).parent.glob("*.py") for name in _walked(path)}
    assert plans - walked == APART.keys()
