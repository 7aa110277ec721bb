"""The engine's two doors are short, and everything behind them says what it is."""

import inspect
from types import ModuleType

import pytest

import queue_core
from queue_core import work


def test_about_twenty_names_for_whoever_has_a_queue() -> None:
    assert set(queue_core.__all__) == {
        "OUTCOME_OF", "Admitted", "AsyncQueue", "EchoMQError", "FenceError", "ForbiddenFault",
        "Identity", "InvalidError", "Job", "Lease", "Minter", "Outcome", "Plan", "Queue",
        "QueueKeys", "ServerFault", "Snapshot", "UnavailableError", "UnknownOutcomeError", "Word",
        "async_connect", "connect", "decode",
    }  # fmt: skip


def test_under_thirty_names_for_whoever_works_it_off() -> None:
    assert set(work.__all__) == {
        "DEFAULT_POLICY", "AsyncBatchConsumer", "AsyncBatchHandler", "AsyncConsumer",
        "AsyncHandler", "AsyncMetronome", "AsyncPump", "AsyncTask", "Backoff", "BatchConsumer",
        "BatchHandler", "CancelToken", "Cancelled", "Consumer", "Dead", "Done", "Failed",
        "Handler", "Later", "Metronome", "Policy", "Pump", "Task", "Verdict", "exponential",
        "fixed", "jitter",
    }  # fmt: skip


@pytest.mark.parametrize("module", [queue_core, work], ids=lambda module: module.__name__)
def test_every_public_name_is_there_and_documented(module: ModuleType) -> None:
    for name in module.__all__:
        thing = getattr(module, name)
        if inspect.isclass(thing) or inspect.isfunction(thing):
            assert inspect.getdoc(thing), name
