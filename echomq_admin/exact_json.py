"""JSON as its source wrote it: digits kept as text, repeated keys kept and marked, depth bounded.

The view is only a view. Bytes that cannot be parsed whole within the bounds have no tree, and
whoever shows them shows them raw.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import dataclass
from typing import TypeAlias

PARSE_LIMIT = 1_048_576
"""Longer payloads are not parsed: the tree of a megabyte of numbers takes some 60 MB."""

MAX_DEPTH = 32
"""Deeper trees fall back to raw text: no reader follows them, and every view would grow wide."""

MAX_NODES = 20_000


class Number(str):
    """A number, NaN or Infinity, in the digits of its source."""

    __slots__ = ()


@dataclass(frozen=True, slots=True)
class Object:
    """An object: its pairs in source order, repeated keys included."""

    pairs: tuple[tuple[str, Node], ...]


Node: TypeAlias = "Object | list[Node] | Number | str | bool | None"

_DECODER = json.JSONDecoder(
    object_pairs_hook=lambda pairs: Object(tuple(pairs)),
    parse_float=Number,
    parse_int=Number,
    parse_constant=Number,
)


class NoTree(ValueError):
    """These bytes have no tree; the words say why."""


def children(node: Node) -> list[tuple[str | None, Node]]:
    """What an object or list holds, with keys for an object; nothing for a scalar."""
    if isinstance(node, Object):
        return list(node.pairs)
    return [(None, one) for one in node] if isinstance(node, list) else []


def walk(node: Node) -> Iterator[tuple[int, str | None, Node]]:
    """Every node with its depth and key, in source order, without recursion."""
    stack: list[tuple[int, str | None, Node]] = [(0, None, node)]
    while stack:
        depth, key, one = stack.pop()
        yield depth, key, one
        stack += [(depth + 1, k, child) for k, child in reversed(children(one))]


def parse(raw: bytes) -> Node:
    """The tree of a whole JSON text in UTF-8. Raises `NoTree` for anything else and past the
    bounds of size, depth and number of nodes."""
    if len(raw) > PARSE_LIMIT:
        raise NoTree(f"more than {PARSE_LIMIT:,} bytes are not parsed")
    try:
        node: Node = _DECODER.decode(raw.decode("utf-8"))
    except UnicodeDecodeError:
        raise NoTree("not UTF-8") from None
    except RecursionError:
        raise NoTree(f"nested deeper than {MAX_DEPTH}") from None
    except ValueError:
        raise NoTree("not JSON") from None
    for count, (depth, _key, _node) in enumerate(walk(node)):
        if depth > MAX_DEPTH:
            raise NoTree(f"nested deeper than {MAX_DEPTH}")
        if count >= MAX_NODES:
            raise NoTree(f"more than {MAX_NODES:,} values")
    return node


def scalar(node: Node) -> str:
    """A leaf as JSON writes it: strings quoted, digits as they were."""
    if isinstance(node, Number):
        return str(node)
    if isinstance(node, str):
        return json.dumps(node, ensure_ascii=False)
    return {True: "true", False: "false", None: "null"}[node]  # type: ignore[index]
