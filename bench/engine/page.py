"""The engine's section of docs/benchmarks.md and its plots."""

from __future__ import annotations

import statistics
import textwrap
import time
from collections.abc import Iterable, Mapping
from pathlib import Path
from xml.sax.saxutils import escape

from bench.engine.contest import DUE, FLOOR, LANE, LARGE, OURS, PICKED, PLAIN, SMALL, Report
from bench.machine import machine

TITLES = {
    "enqueue": "Enqueue one by one", "bulk": "Enqueue in bulk",
    "drain 1": "Process a backlog, concurrency 1", "drain 10": "Process a backlog, concurrency 10",
    "pickup": "Pickup on an idle worker", "lateness": "Lateness of a scheduled job",
}  # fmt: skip
LIMITS = Path(__file__).with_name("limits.md")
QUIET = 2.5
BAR, ROW, LABEL, WIDE = 360, 24, 190, 680


def section(report: Report, rounds: int, folder: Path) -> str:
    """The section; its plots are written beside the page."""
    parts = [
        "## The engine beside its peers",
        f"""Made by `./dev bench engine` on {time.strftime("%Y-%m-%d")}. Machine: {machine()};
        Valkey {report.server}, append-only file, synced each second, {_where(report)}. Medians of
        {rounds} interleaved rounds with the lowest and the highest; no-op jobs of 100 bytes, one
        worker process. Latencies are those of {PICKED} jobs a round, {DUE} where they are
        scheduled, so that the p99 of a round is its slowest job; a plain client writes what the
        wire says and wakes nobody. Compare within a row only: a figure says what was
        seen there and then.
        {_busy(report.load)}""",
        "Peers: " + ", ".join(f"{name} {known}" for name, known in report.versions.items()) + ".",
        _goals(report),
    ]
    for name, by_whom in report.rates.items():
        parts += [
            f"### {TITLES[name]}",
            _rates(by_whom),
            _plot(folder, name, _medians(by_whom), "/s"),
        ]
    for name, by_whom in report.late.items():
        p50 = {whom: _percentile(rounds_of, 0.5) for whom, rounds_of in by_whom.items()}
        parts += [f"### {TITLES[name]}", _latencies(by_whom), _plot(folder, name, p50, " ms")]
    parts += ["### What limits each figure, by profile on this machine", LIMITS.read_text().strip()]
    return "\n\n".join(_filled(part) for part in parts) + "\n"


def _where(report: Report) -> str:
    if report.apart:
        return "on one core, whoever is measured on another"
    return "on cores shared with whoever is measured"


def _busy(load: list[float]) -> str:
    if max(load) <= QUIET:
        return "The machine did nothing else."
    return (
        f"The machine did other work beside (load {min(load):.1f} to {max(load):.1f}, where the "
        "contest alone makes up to 2): rates are lower bounds, and the high percentiles of "
        "latencies tell of waiting for a core."
    )


def _filled(part: str) -> str:
    plain = part.startswith(("#", "|", "!", "-", "**"))
    return part if plain else textwrap.fill(" ".join(part.split()), 100)


def _medians(by_whom: Mapping[str, list[float]]) -> dict[str, float]:
    return {name: statistics.median(seen) for name, seen in by_whom.items()}


def _rates(by_whom: Mapping[str, list[float]]) -> str:
    lines = [
        "| who | jobs a second | lowest to highest | this engine over it |",
        "|---|---:|---:|---:|",
    ]
    for name, seen in sorted(by_whom.items(), key=lambda one: -statistics.median(one[1])):
        ratio = "" if name == OURS else f"{_over(by_whom, name):.2f}"
        median = statistics.median(seen)
        lines.append(f"| {name} | {median:,.0f} | {min(seen):,.0f} to {max(seen):,.0f} | {ratio} |")
    return "\n".join(lines)


def _over(by_whom: Mapping[str, list[float]], name: str) -> float:
    """This engine's rate over another's: the median of the ratios within each round, since what
    disturbs a round disturbs both."""
    return statistics.median(
        mine / other for mine, other in zip(by_whom[OURS], by_whom[name], strict=False)
    )


def _latencies(by_whom: Mapping[str, list[list[float]]]) -> str:
    lines = [
        "| who | p50 ms | lowest to highest | p99 ms | lowest to highest |",
        "|---|---:|---:|---:|---:|",
    ]
    for name, seen in sorted(by_whom.items(), key=lambda one: _percentile(one[1], 0.5)):
        cells = []
        for share in (0.5, 0.99):
            each = [_of(samples, share) for samples in seen]
            cells.append(f"{statistics.median(each):.2f} | {min(each):.2f} to {max(each):.2f}")
        lines.append(f"| {name} | {' | '.join(cells)} |")
    return "\n".join(lines)


def _percentile(seen: list[list[float]], share: float) -> float:
    """The median over the rounds of a percentile of each."""
    return statistics.median(_of(samples, share) for samples in seen)


def _of(samples: list[float], share: float) -> float:
    return sorted(samples)[min(len(samples) - 1, int(len(samples) * share))]


def _goals(report: Report) -> str:
    lines = ["| measure | goal | seen | held |", "|---|---|---|---|"]
    for name, goal, seen, held in _verdicts(report):
        lines.append(f"| {name} | {goal} | {seen} | {'yes' if held else '**no**'} |")
    return "\n".join(lines)


def _verdicts(report: Report) -> Iterable[tuple[str, str, str, bool]]:
    rates = report.rates
    ratio = _over(rates["enqueue"], FLOOR)
    yield "enqueue one by one", "≥ 0.9 of bare redis-py", f"{ratio:.2f}", ratio >= 0.9
    for name in ("huey", "BullMQ", "Dramatiq"):
        if name in rates["enqueue"]:
            ratio = _over(rates["enqueue"], name)
            yield "enqueue one by one", f"ahead of {name}", f"{ratio:.2f} times", ratio > 1
    ratio = _over(rates["bulk"], FLOOR)
    yield "enqueue in bulk", "≥ 0.7 of the bare floor", f"{ratio:.2f}", ratio >= 0.7
    if "BullMQ" in rates["bulk"]:
        ratio = _over(rates["bulk"], "BullMQ")
        yield "enqueue in bulk", "≥ 5 times BullMQ", f"{ratio:.2f} times", ratio >= 5
    drain = rates["drain 1"]
    best = max((name for name in drain if name != OURS), key=lambda name: _medians(drain)[name])
    ratio = _over(drain, best)
    goal = f"≥ 1.2 times the best ({best})"
    yield "process, concurrency 1", goal, f"{ratio:.2f} times", ratio >= 1.2
    if "BullMQ" in rates["drain 10"]:
        ratio = _over(rates["drain 10"], "BullMQ")
        yield "process, concurrency 10", "≥ 2 times BullMQ", f"{ratio:.2f} times", ratio >= 2
    for name, whom, p50_most, p99_most in (
        ("pickup", OURS, 1, 3), ("pickup", LANE, 1, 3), ("pickup", PLAIN, 1, 3),
        ("lateness", OURS, 2, 8),
    ):  # fmt: skip
        seen = report.late[name][whom]
        p50, p99 = _percentile(seen, 0.5), _percentile(seen, 0.99)
        what = f"{TITLES[name].lower()}{whom.removeprefix(OURS)}"
        goal = f"p50 ≤ {p50_most} ms, p99 ≤ {p99_most} ms"
        yield what, goal, f"{p50:.2f} / {p99:.2f} ms", p50 <= p50_most and p99 <= p99_most
    yield from _own_verdicts(report)


def _own_verdicts(report: Report) -> Iterable[tuple[str, str, str, bool]]:
    own = {name: statistics.median(seen) for name, seen in report.own.items()}
    ratio = own["standing"]
    what = f"a backlog of {LARGE:,} against {SMALL:,}"
    yield what, "0.90 to 1.10", f"{ratio:.2f}", 0.9 <= ratio <= 1.1
    ratio = own["rotation"]
    yield (
        "1,000 lanes, longest wait",
        "≤ 1.1 times the rotation",
        f"{ratio:.2f} times",
        ratio <= 1.1,
    )
    ratio = own["lanes"]
    yield "1,000 lanes, a claim", "as with 1 lane", f"{ratio:.2f} times", ratio <= 1.1
    slowest = sorted(report.own["slowest_ms"])
    seen = ", ".join(f"{one:.1f}" for one in slowest)
    held = slowest[(len(slowest) - 1) * 2 // 3] <= 5
    yield (
        "slowest promote of 1,000 due, schedule of 1,000,000",
        "≤ 5 ms in two of three",
        seen,
        held,
    )
    yield "claims meanwhile", "≥ 0.9 of their rate", f"{own['kept']:.2f}", own["kept"] >= 0.9
    yield "idle consumer and pump", "≤ 2 commands a second", f"{own['idle']:.1f}", own["idle"] <= 2


def _plot(folder: Path, name: str, figures: Mapping[str, float], unit: str) -> str:
    """Bars as an SVG of a few hundred bytes a row; the table beside has the numbers."""
    rows = sorted(figures.items(), key=lambda one: one[1], reverse=unit == "/s")
    most = max(figures.values())
    marks = []
    for at, (whom, figure) in enumerate(rows):
        y = at * ROW
        fill = "#3b6ea8" if whom.startswith(OURS) else "#9aa4b1"
        shown = f"{figure:,.0f}{unit}" if figure >= 100 else f"{figure:.2f}{unit}"
        width = max(1.0, BAR * figure / most)
        marks.append(
            f'<text x="{LABEL - 8}" y="{y + 16}" text-anchor="end">{escape(whom)}</text>'
            f'<rect x="{LABEL}" y="{y + 4}" width="{width:.0f}" height="{ROW - 8}" fill="{fill}"/>'
            f'<text x="{LABEL + width + 6:.0f}" y="{y + 16}">{shown}</text>'
        )
    file = folder / f"engine-{name.replace(' ', '-')}.svg"
    folder.mkdir(parents=True, exist_ok=True)
    file.write_text(
        f'<svg xmlns="http://www.w3.org/2000/svg" width="{WIDE}" height="{len(rows) * ROW}" '
        f'role="img"><title>{escape(TITLES[name])}</title><style>text{{font:12px sans-serif;'
        "fill:#5b6675}</style>" + "".join(marks) + "</svg>\n"
    )
    return f"![{TITLES[name]}, by who]({folder.name}/{file.name})"
