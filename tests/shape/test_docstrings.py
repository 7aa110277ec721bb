"""Every public name of the engine says what it does, and what it needs to say to be used blind."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
MODULES = sorted((ROOT / "queue_core").rglob("*.py"))

Documented = ast.ClassDef | ast.FunctionDef | ast.AsyncFunctionDef


def _public(body: list[ast.stmt], within: str = "") -> Iterator[tuple[str, Documented]]:
    """Public classes and functions of a module, the methods of its public classes with them."""
    for node in body:
        if isinstance(node, Documented) and not node.name.startswith("_"):
            yield within + node.name, node
            if isinstance(node, ast.ClassDef):
                yield from _public(node.body, f"{node.name}.")


def _raises(node: ast.AST) -> bool:
    """Whether a function raises one of the faults of this package by itself."""
    return any(
        isinstance(one, ast.Raise)
        and isinstance(one.exc, ast.Call)
        and isinstance(one.exc.func, ast.Name)
        and one.exc.func.id in {"InvalidError", "UnavailableError"}
        for one in ast.walk(node)
    )


@pytest.mark.parametrize("path", MODULES, ids=lambda path: str(path.relative_to(ROOT)))
def test_every_public_name_has_a_docstring(path: Path) -> None:
    tree = ast.parse(path.read_text())
    assert ast.get_docstring(tree), "the module"
    bare = [name for name, node in _public(tree.body) if not ast.get_docstring(node)]
    assert not bare


def _verbs() -> Iterator[tuple[str, str, ast.FunctionDef]]:
    """Plans that a caller may run, with the module docstring that holds for all of a file."""
    for path in MODULES:
        if path.parent.name in {"verbs", "reads"} or path.name == "boards.py":
            tree = ast.parse(path.read_text())
            for name, node in _public(tree.body):
                if isinstance(node, ast.FunctionDef) and _is_plan(node):
                    yield f"{path.stem}.{name}", ast.get_docstring(tree) or "", node


def _is_plan(node: ast.FunctionDef) -> bool:
    return node.returns is not None and ast.unparse(node.returns).startswith("Plan[")


def test_a_plan_names_its_units_and_its_faults() -> None:
    silent = []
    for name, of_file, node in _verbs():
        said = f"{of_file}\n{ast.get_docstring(node)}"
        timed = any(argument.arg.endswith("_ms") for argument in node.args.args)
        if timed and not re.search(r"\bms\b|_ms`", said):
            silent.append(f"{name}: its times are in ms")
        if _raises(node) and not re.search(r"\w+Error", said):
            silent.append(f"{name}: what it raises")
    assert not silent


def test_a_module_of_verbs_names_its_source() -> None:
    silent = [
        path.stem
        for path in MODULES
        if path.parent.name == "verbs"
        and not re.search(r"\bparts? \d", ast.get_docstring(ast.parse(path.read_text())) or "")
    ]
    assert not silent
