"""The state machine that hypothesis drives: one rule for each verb."""

from __future__ import annotations

import itertools
import os
from random import Random

from hypothesis import HealthCheck, seed, settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, rule, run_state_machine_as_test

from queue_core.bus import Bus
from queue_core.scripts import SCRIPTS
from tests.builders import raw
from tests.proof import bulk, kin, orders, rankings, records, verbs  # noqa: F401 (they enter)
from tests.proof.world import VERBS, WEIGHTS, Verb, World

CHECK_EVERY = 25

_hands = st.randoms(use_true_random=False)
_runs = itertools.count()


def _rule(verb: Verb) -> object:
    def step(self: Machine, hand: Random) -> None:
        self.step(verb, hand)

    step.__name__ = verb.__name__
    return rule(hand=_hands)(step)


class Machine(RuleBasedStateMachine):
    """A world of its own in every run."""

    bus: Bus
    steps = 0

    def __init__(self) -> None:
        super().__init__()
        self.world = World(self.bus, f"model{os.getpid()}")

    for _name, _verb in VERBS.items():
        for _copy in range(WEIGHTS[_name]):
            locals()[f"{_name}_{_copy}"] = _rule(_verb)

    def step(self, verb: Verb, hand: Random) -> None:
        """One verb; every few the keyspace is looked at."""
        before = self.world.steps
        verb(self.world, hand)
        type(self).steps += self.world.steps - before
        if before // CHECK_EVERY != self.world.steps // CHECK_EVERY:
            self.world.check()

    def teardown(self) -> None:
        """A last look, unless the run broke already."""
        try:
            self.world.check()
        finally:
            self.world.close()


def _give_scripts(bus: Bus) -> None:
    """Have every script on the server, also where somebody flushed them behind the bus's back: a
    script it lacks is sent again, and so runs after what was sent with it, not in its turn."""
    bus.run_all([raw("SCRIPT", "LOAD", script.source) for script in SCRIPTS.values()])


def walk(bus: Bus, runs: int, steps_a_run: int, number: int) -> int:
    """Run the machine under one seed: how many steps it made. What breaks
    is shrunk by hypothesis and raised."""
    _give_scripts(bus)
    machine = seed(number)(type("Machine", (Machine,), {"bus": bus}))
    run_state_machine_as_test(
        machine,
        settings=settings(
            max_examples=runs, stateful_step_count=steps_a_run, deadline=None, database=None,
            suppress_health_check=list(HealthCheck), print_blob=False,
        ),
    )  # fmt: skip
    return machine.steps


def stroll(bus: Bus, steps: int, number: int | str) -> int:
    """The same verbs in one world under a plain seed: some times as fast, and not shrunk. How
    many steps it made."""
    _give_scripts(bus)
    hand = Random(number)
    names, weights = list(VERBS), list(WEIGHTS.values())
    world = World(bus, f"stroll{os.getpid()}")
    at_check = 0
    try:
        for name in hand.choices(names, weights, k=steps):
            VERBS[name](world, hand)
            if world.steps - at_check >= CHECK_EVERY:
                at_check = world.steps
                world.check()
        world.check()
    finally:
        world.close()
    return world.steps
