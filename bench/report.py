"""The pages' section of docs/benchmarks.md: what was measured, where and when. Numbers, no
promises."""

import statistics
import textwrap
import time
from collections.abc import Callable

from bench.machine import machine
from bench.pages import ASKED, NOTED_US, WATCHED_S, Measured, Report

TARGET_MS = 150
SCRIPT_MS = 5


def text(report: Report) -> str:
    """The section."""
    loaded = report.loaded
    counts = ", ".join(f"{count:,} {name}" for name, count in loaded.counts.items())
    rate = sum(loaded.counts.values()) / loaded.seconds
    runs = len(report.runs)
    parts = [
        "## The pages of the console",
        f"""Made by `./dev bench pages` on {time.strftime("%Y-%m-%d")}. Machine: {machine()}; Valkey
        {report.server} embedded on the same machine, console under Daphne, one client. A figure
        says what was seen there and then; it is no promise for another machine.""",
        f"""One queue holds {counts}. Loading took {loaded.seconds:.0f} s ({rate:,.0f} verbs a
        second, pipelined, every row included) and the server then used {report.memory_mb:,.0f}
        MB.""",
        "### Answer of each page over HTTP",
        f"""{ASKED} requests in each of {runs} runs, ms at the 95th percentile with the median in
        brackets, one after another over one connection, signed in, templates warm. *Held* where
        at most {TARGET_MS} ms in two of three runs.""",
        _table(report, "size", _size, _page, lambda one: one.p95_ms <= TARGET_MS),
        "### Slowest script behind each page",
        f"""ms by the server's own clock, over the requests above and {WATCHED_S:.0f} s of a live
        socket on the page afterwards. That clock runs on while the system gives the core to
        somebody else, so a single peak may be the machine's and not the script's. *Held* where at
        most {SCRIPT_MS} ms in two of three runs.""",
        _table(report, "frames", _frames, _script, lambda one: one.slowest[1] <= SCRIPT_MS),
        "### Scripts of these pages",
        f"""Calls that took the server {NOTED_US / 1000:g} ms or longer, over all pages and runs;
        shorter ones are not noted.""",
        _every_script(report),
    ]
    return "\n\n".join(_filled(part) for part in parts) + "\n"


def _filled(part: str) -> str:
    return part if part.startswith(("#", "|")) else textwrap.fill(" ".join(part.split()), 100)


def _every_script(report: Report) -> str:
    took: dict[str, list[float]] = {}
    for run in report.runs:
        for one in run.values():
            for name, calls in one.scripts.items():
                took.setdefault(name, []).extend(calls)
    lines = [
        f"| script | over {NOTED_US / 1000:g} ms | their median | over {SCRIPT_MS} ms | slowest |",
        "|---|---:|---:|---:|---:|",
    ]
    for name, calls in sorted(took.items()):
        over = sum(call > SCRIPT_MS for call in calls)
        lines.append(
            f"| `{name}` | {len(calls):,} | {statistics.median(calls):.2f} ms | {over:,} "
            f"| {max(calls):.2f} ms |"
        )
    return "\n".join(lines)


def _table(
    report: Report,
    extra: str,
    extra_of: Callable[[list[Measured]], str],
    cell: Callable[[Measured], str],
    holds: Callable[[Measured], bool],
) -> str:
    runs = [f"run {at + 1}" for at in range(len(report.runs))]
    lines = [
        "| page | " + " | ".join(runs) + f" | {extra} | held |",
        "|---|" + "---:|" * (len(runs) + 1) + "---|",
    ]
    for name in report.runs[0]:
        seen = [run[name] for run in report.runs]
        verdict = "yes" if sum(map(holds, seen)) * 3 >= 2 * len(seen) else "**no**"
        cells = " | ".join(cell(one) for one in seen)
        lines.append(f"| {name} | {cells} | {extra_of(seen)} | {verdict} |")
    return "\n".join(lines)


def _page(one: Measured) -> str:
    return f"{one.p95_ms:.0f} ({one.p50_ms:.0f})"


def _script(one: Measured) -> str:
    return f"{one.slowest[1]:.2f} `{one.slowest[0]}`"


def _size(seen: list[Measured]) -> str:
    return f"{seen[-1].kilobytes:.0f} kB"


def _frames(seen: list[Measured]) -> str:
    return f"{statistics.mean(one.frames for one in seen):.0f}"
