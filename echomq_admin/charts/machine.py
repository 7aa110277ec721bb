"""The life of a job as a drawing: where it is, where it has been, what comes next."""

from __future__ import annotations

from dataclasses import dataclass

from queue_core.reads.standing import Standing
from queue_core.reads.why import Reason, Why


@dataclass(frozen=True, slots=True)
class Node:
    """A state: its box's corner, glyph, word, colour, and whether the job is there."""

    x: int
    y: int
    icon: str
    word: str
    colour: str
    here: bool


@dataclass(frozen=True, slots=True)
class Edge:
    """A way between two states. `mark` is did, next or nothing; `anchor` how its word sits."""

    path: str
    word: str
    x: int
    y: int
    anchor: str
    mark: str


@dataclass(frozen=True, slots=True)
class Machine:
    """The whole drawing and the same in words."""

    nodes: tuple[Node, ...]
    edges: tuple[Edge, ...]
    said: str


_NEXT = {
    "awaiting": "children",
    "scheduled": "promote",
    "pending": "claim",
    "lane": "claim",
    "active": "complete",
}


def _times(count: int | None) -> str:
    if not count:
        return ""
    return f" ×{count:,}"  # noqa: RUF001


def machine(facts: Standing, why: Why) -> Machine:
    """The drawing for one job. Claims are counted by its attempts; of failures only that there
    was one is known, by the error that the row keeps."""
    claims = facts.number(b"attempts")
    failed = facts.text(b"last_error") is not None
    ahead = _NEXT.get(why.state, "")
    if why.reason is Reason.lease_over:
        ahead = "reap"
    did = {
        "claim": bool(claims),
        "retry": failed and why.state != "dead",
        "kill": why.state == "dead",
    }

    def edge(name: str, path: str, word: str, x: int, y: int, anchor: str = "mid") -> Edge:
        mark = "next" if name == ahead else "did" if did.get(name) else ""
        return Edge(path, word, x, y, anchor, mark)

    grouped = facts.lane is not None
    waiting = "in lane" if grouped else "pending"
    nodes = (
        Node(4, 8, "unknown", "awaiting", "text", why.state == "awaiting"),
        Node(4, 100, "scheduled", "scheduled", "scheduled", why.state == "scheduled"),
        Node(230, 54, "pending", waiting, "pending", why.state in ("pending", "lane")),
        Node(420, 54, "active", "active", "active", why.state == "active"),
        Node(596, 8, "completed", "completed", "completed", False),
        Node(596, 100, "dead", "dead", "dead", why.state == "dead"),
    )
    edges = [
        edge("children", "M116 25C180 25 190 62 228 66", "children done", 170, 24),
        edge("promote", "M116 117C180 117 190 84 228 78", "promote", 188, 128),
        edge("claim", "M342 71H418", f"claim{_times(claims)}", 380, 62),
        edge("complete", "M532 64C566 60 570 28 594 26", "complete", 552, 26),
        edge("kill", "M532 78C566 82 570 114 594 116", "at its last try", 568, 118, "end"),
        edge("retry", "M476 88V150a8 8 0 01-8 8H68a8 8 0 01-8-8V136", "retry", 270, 152),
    ]
    if ahead == "reap":
        edges.append(edge("reap", "M440 88C430 112 320 112 308 90", "reap", 374, 122))
    here = next((node.word for node in nodes if node.here), "in no state of the machine")
    coming = next((one.word for one in edges if one.mark == "next"), "")
    said = f"State machine: the job is {here}" + (f", next is {coming}." if coming else ".")
    return Machine(nodes, tuple(edges), said)
