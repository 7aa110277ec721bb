"""What a command shows: queues, one queue, one job, repeats, a board. It observes only."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from echomq_admin.actions.known import is_unknown, no_such
from echomq_admin.actions.whereabouts import a_job, state_of
from echomq_admin.buses import GuardedBus, declared, reading_bus
from echomq_admin.redaction import Veil
from echomq_admin.shell.output import Printer, Refused, iso, shown
from echomq_admin.templatetags.payload import preview
from queue_core import boards, ids
from queue_core.errors import EchoMQError
from queue_core.keys import QueueKeys, found
from queue_core.outcomes import Outcome
from queue_core.plans import Plan
from queue_core.reads.discovery import discover
from queue_core.reads.glance import as_ms
from queue_core.reads.repeats import Repeat, registry
from queue_core.reads.sample import Sample, sample
from queue_core.reads.schedule import Cursor
from queue_core.reads.snapshot import Snapshot
from queue_core.reads.standing import Standing, standing
from queue_core.verbs.jobs import digest

TOGETHER = 50
"""Queues read in one round trip."""

COUNTS = ("pending", "in_lanes", "active", "schedule", "dead", "completed", "failed")


def discovered(bus: GuardedBus) -> list[bytes]:
    """Every queue of a bus: those declared, and those that one whole scan meets, in order."""
    names = set(declared(bus.name))
    for node in bus.primaries():
        cursor, over = b"0", False
        while not over:
            step = bus.run(discover(cursor, node))
            names.update(step.names)
            cursor, over = step.cursor, step.cursor == b"0"
    return sorted(names)


def queues(printer: Printer, bus_name: str) -> int:
    """Every queue with its counts, a line each."""
    bus = reading_bus(bus_name)
    names = discovered(bus)
    printer.table(("QUEUE", *(name.upper() for name in COUNTS), "PAUSED"), _counted(bus, names))
    return 0


def _counted(bus: GuardedBus, names: list[bytes]) -> Iterator[tuple[dict[str, Any], list[Any]]]:
    for start in range(0, len(names), TOGETHER):
        some = names[start : start + TOGETHER]
        for name, seen in zip(some, bus.run_all([sample(found(n)) for n in some]), strict=True):
            if isinstance(seen, EchoMQError):
                record = {"bus": bus.name, "queue": name, "error": str(seen)}
                yield record, [name, *["unknown"] * len(COUNTS), "unknown"]
            else:
                yield _of_queue(bus.name, name, seen), _cells(name, seen.value)


def _of_queue(bus: str, name: bytes, seen: Snapshot[Sample]) -> dict[str, Any]:
    counts = {count: getattr(seen.value, count) for count in COUNTS}
    return {
        "bus": bus,
        "queue": name,
        "at": iso(seen.at_ms),
        **counts,
        "in_lanes_complete": seen.value.lanes_complete,
        "paused": seen.value.paused,
    }


def _cells(name: bytes, seen: Sample) -> list[Any]:
    cells: list[Any] = [name]
    for count in COUNTS:
        number = getattr(seen, count)
        partial = count == "in_lanes" and not seen.lanes_complete and number is not None
        cells.append(f">={number:,}" if partial else number)
    return [*cells, seen.paused]


def one_queue(printer: Printer, bus_name: str, queue: bytes) -> int:
    """The counts of one queue and what is late, next and oldest."""
    seen = reading_bus(bus_name).run(sample(found(queue)))
    value = seen.value
    if value.empty and queue not in declared(bus_name):
        raise Refused(Outcome.gone, no_such(queue))
    more = {
        "late": value.late,
        "next_due": None if value.next_due is None else iso(as_ms(value.next_due)),
        "oldest": iso(value.oldest_ms),
        "repeats": value.repeats,
        "workers": value.workers,
    }
    record = {**_of_queue(bus_name, queue, seen), **more}
    if printer.as_json:
        printer.record(record, "")
    else:
        _facts(printer, record)
    return 0


def one_job(printer: Printer, bus_name: str, queue: bytes, job_id: bytes, lane: bytes) -> int:
    """All about one job, without its payload; exit 4 where there is none. `lane` is where to look
    for one whose row says none."""
    seen = reading_bus(bus_name).run(standing(found(queue), job_id, lane))
    record = _of_job(bus_name, queue, seen)
    if printer.as_json:
        printer.record(record, "")
    else:
        _facts(printer, record)
    return Outcome.gone.exit_code if seen.value.found == "none" and not seen.value.sets else 0


def _of_job(bus: str, queue: bytes, seen: Snapshot[Standing]) -> dict[str, Any]:
    job = seen.value
    payload = job.fields.get(b"payload")
    minted = ids.decode(job.id).unix_ms if ids.is_id(job.id) else None
    return {
        "bus": bus,
        "queue": queue,
        "id": job.id,
        "at": iso(seen.at_ms),
        "state": state_of(job).value,
        "is": a_job(state_of(job)),
        "minted": iso(minted),
        "lane": job.lane.name if job.lane else None,
        "attempts": job.text(b"attempts"),
        "run_at": iso(job.schedule.at_ms) if job.schedule else None,
        "score": job.schedule.score if job.schedule else None,
        "lease_ends": iso(job.active.at_ms) if job.active else None,
        "held_by": job.holder.worker if job.holder else None,
        "last_error": _masked(job, b"last_error"),
        "payload_bytes": payload.size if payload else None,
        "payload_sha1": digest(payload.value) if payload and payload.value is not None else None,
        "log_lines": job.logs_total,
    }


def _masked(job: Standing, field: bytes) -> bytes | None:
    """A field's bytes with what the payload keeps secret masked in them. Whoever has a shell may
    read what hides nothing by name."""
    raw, payload = job.text(field), job.text(b"payload")
    if raw is None:
        return None
    veil = Veil.over(payload or b"", whole=payload is not None, may=True)
    return veil.text(raw).text.encode("utf-8", "surrogateescape")


def _facts(printer: Printer, record: dict[str, Any]) -> None:
    width = max(map(len, record))
    for name, value in record.items():
        if value is not None:
            printer.line(f"{name.ljust(width)}  {shown(value)}")


def repeats(printer: Printer, bus_name: str, queue: bytes) -> int:
    """The registry of a queue, soonest first; exit 4 where there is no such queue."""
    bus = reading_bus(bus_name)
    if queue not in declared(bus_name) and bus.run(is_unknown(queue)):
        raise Refused(Outcome.gone, no_such(queue))
    heads = ("REPEAT", "NEXT", "EVERY_MS", "PAUSED", "LAST RUN")
    printer.table(heads, _registered(bus, found(queue)))
    return 0


def _registered(bus: GuardedBus, keys: QueueKeys) -> Iterator[tuple[dict[str, Any], list[Any]]]:
    cursor: Cursor | None = None
    more = True
    while more:
        page = bus.run(registry(keys, cursor)).value
        for repeat in page.repeats:
            yield _of_repeat(repeat)
        more = page.more_after and bool(page.repeats)
        if more:
            cursor = Cursor(page.repeats[-1].score, page.repeats[-1].name)


def _of_repeat(repeat: Repeat) -> tuple[dict[str, Any], list[Any]]:
    last = repeat.runs[0] if repeat.runs else None
    record = {
        "name": repeat.name,
        "next": iso(repeat.next_ms),
        "every_ms": repeat.every,
        "paused": repeat.parked,
        "paused_by": repeat.paused_by,
        "paused_at": iso(repeat.paused_at_ms),
        "last_job": last.job_id if last else None,
        "last_fired": iso(last.fired_ms) if last else None,
    }
    following = "parked" if repeat.parked else record["next"]
    cells = [repeat.name, following, repeat.every, repeat.parked, record["last_fired"] or "-"]
    return record, cells


def board(printer: Printer, bus_name: str, game: bytes, size: int) -> int:
    """The head of a board; exit 4 where there is none."""
    seen = reading_bus(bus_name).run(_top(game, size))
    if not seen.value:
        raise Refused(Outcome.gone, f"There is no board of {preview(game, 60)}.")
    printer.table(("PLACE", "PLAYER", "TOTAL"), _placed(game, seen))
    return 0


def _top(game: bytes, size: int) -> Plan[Snapshot[list[tuple[bytes, str]]]]:
    return (yield from boards.top(game, size))


def _placed(
    game: bytes, seen: Snapshot[list[tuple[bytes, str]]]
) -> Iterator[tuple[dict[str, Any], list[Any]]]:
    for place, (player, total) in enumerate(seen.value, 1):
        record = {"game": game, "place": place, "player": player, "total": total}
        yield record, [place, player, total]
