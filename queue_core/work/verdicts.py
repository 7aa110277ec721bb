"""What a handler may answer. None means `done`; an exception means `failed` with its text."""

from __future__ import annotations

import threading
from dataclasses import dataclass, replace
from typing import TypeAlias


@dataclass(frozen=True, slots=True)
class Done:
    """It is done. `result` is what a flow's parent is told; without one, the job's own id."""

    result: bytes | None = None


@dataclass(frozen=True, slots=True)
class Failed:
    """The attempt failed: tried again on the policy's curve, or dead at the last attempt."""

    reason: str


@dataclass(frozen=True, slots=True)
class Later:
    """Not now: back to the schedule for `delay_ms`, at no cost of an attempt."""

    delay_ms: int


@dataclass(frozen=True, slots=True)
class Dead:
    """No attempt will help: dead at once."""

    reason: str


Verdict: TypeAlias = Done | Failed | Later | Dead


def verdict_of(answer: object) -> Verdict:
    """The verdict in what a handler answered: None is done, anything that is no verdict fails.
    A reason comes out as text that can be sent."""
    if answer is None:
        return Done()
    if isinstance(answer, Failed | Dead):
        return replace(answer, reason=_text(answer.reason))
    if isinstance(answer, Done) and isinstance(answer.result, bytes | None):
        return answer
    if isinstance(answer, Later) and isinstance(answer.delay_ms, int):
        return answer
    return Failed(f"bad verdict: {type(answer).__name__}")


def failure(error: BaseException) -> Verdict:
    """What an exception of a handler means, whatever it is: its attempt failed, for the reason it
    names. Only a KeyboardInterrupt of the main thread is the program's and not the handler's: it
    is raised on."""
    here = threading.current_thread() is threading.main_thread()
    if here and isinstance(error, KeyboardInterrupt):
        raise error
    return Failed(f"{type(error).__name__}: {_text(error)}")


def overtime(timeout_ms: int) -> Failed:
    """The verdict on a handler that ran over its time."""
    return Failed(f"timed out after {timeout_ms} ms")


def _text(said: object) -> str:
    """What was said as text that can be sent. What is none, or no valid one, must not keep its job
    from being settled."""
    try:
        return str(said).encode(errors="replace").decode()
    except BaseException:  # noqa: BLE001 (a handler's own object)
        return f"bad verdict: no text in {type(said).__name__}"
