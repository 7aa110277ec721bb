"""Imports point down, and only the engine knows keys and the server."""

import ast
from collections.abc import Iterator
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
ENGINE = sorted((ROOT / "queue_core").rglob("*.py"))
CONSOLE = sorted((ROOT / "echomq_admin").rglob("*.py"))


def _imports(path: Path) -> Iterator[str]:
    for node in ast.walk(ast.parse(path.read_text())):
        if isinstance(node, ast.Import):
            yield from (name.name for name in node.names)
        elif isinstance(node, ast.ImportFrom) and node.module and not node.level:
            yield node.module


def _top(name: str) -> str:
    return name.partition(".")[0]


@pytest.mark.parametrize("path", ENGINE, ids=lambda path: str(path.relative_to(ROOT)))
def test_the_engine_imports_nothing_of_the_console(path: Path) -> None:
    above = {_top(name) for name in _imports(path)} & {"django", "channels", "echomq_admin"}
    assert not above


def test_only_the_links_import_the_driver() -> None:
    """What a parser or a socket raises ends in these modules; nobody else need know them."""
    users = {
        path.relative_to(ROOT).as_posix()
        for path in ENGINE + CONSOLE
        if {"hiredis", "redis", "valkey"} & set(map(_top, _imports(path)))
    }
    assert users == {"queue_core/links.py", "queue_core/async_links.py"}


def test_only_the_engine_writes_key_names() -> None:
    """A key is made in `queue_core/keys.py` and in Lua; the console never spells one."""
    spelled = [
        path.relative_to(ROOT).as_posix()
        for path in CONSOLE
        for node in ast.walk(ast.parse(path.read_text()))
        if isinstance(node, ast.Constant)
        and isinstance(node.value, str | bytes)
        and (
            node.value.startswith("emq:{")
            if isinstance(node.value, str)
            else node.value.startswith(b"emq:{")
        )
    ]
    assert not spelled


def _modules() -> dict[str, set[str]]:
    """Every module of the project with the project's modules it imports while it loads."""
    graph: dict[str, set[str]] = {}
    for path in ENGINE + CONSOLE:
        name = (
            path.relative_to(ROOT)
            .with_suffix("")
            .as_posix()
            .replace("/", ".")
            .removesuffix(".__init__")
        )
        graph[name] = {
            wanted for wanted in _loading(ast.parse(path.read_text()).body) if wanted != name
        }
    # `from package import module` loads the module; of a package only its own names are meant
    homes = {
        name: {one if one in graph else one.rpartition(".")[0] for one in wanted}
        for name, wanted in graph.items()
    }
    return {name: {one for one in wanted if one in graph} for name, wanted in homes.items()}


def _loading(body: list[ast.stmt]) -> Iterator[str]:
    """Imports that run when the module loads: not those of functions or of type checking."""
    for node in body:
        if isinstance(node, ast.Import):
            yield from (name.name for name in node.names)
        elif isinstance(node, ast.ImportFrom) and node.module:
            yield from (f"{node.module}.{name.name}" for name in node.names)
        elif isinstance(node, ast.Try):
            yield from _loading(node.body)


def test_no_import_circle() -> None:
    graph = _modules()
    done: set[str] = set()

    def visit(name: str, trail: tuple[str, ...]) -> None:
        assert name not in trail, " imports ".join((*trail[trail.index(name) :], name))
        if name not in done:
            for wanted in graph[name]:
                visit(wanted, (*trail, name))
            done.add(name)

    for name in graph:
        visit(name, ())
