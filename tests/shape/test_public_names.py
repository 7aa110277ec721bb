"""The engine's front door is short, and everything in it says what it is."""

import inspect

import queue_core


def test_about_twenty_public_names() -> None:
    names = set(queue_core.__all__)
    assert names == {
        "OUTCOME_OF", "Admitted", "AsyncQueue", "EchoMQError", "FenceError", "ForbiddenFault",
        "Identity", "InvalidError", "Job", "Lease", "Minter", "Outcome", "Plan", "Queue",
        "QueueKeys", "ServerFault", "Snapshot", "UnavailableError", "UnknownOutcomeError", "Word",
        "async_connect", "connect", "decode",
    }  # fmt: skip


def test_every_public_name_is_documented() -> None:
    for name in queue_core.__all__:
        thing = getattr(queue_core, name)
        if inspect.isclass(thing) or inspect.isfunction(thing):
            assert inspect.getdoc(thing), name
