"""What the tests of the verbs share: a builder of jobs in a named state."""

from collections.abc import Callable

import pytest

from queue_core.keys import QueueKeys
from queue_core.plans import Batch, Call, Plan
from queue_core.scripts import SCRIPTS
from tests.builders import Builder, Run


@pytest.fixture
def make(run: Run, q: QueueKeys, mint: Callable[[], bytes]) -> Builder:
    """Jobs of this test's queue."""
    return Builder(run, q, mint)


@pytest.fixture
def loaded(run: Run) -> None:
    """Every script known to the server, so that no test counts the loading of one."""

    def load() -> Plan[None]:
        yield Batch(tuple(Call("SCRIPT", (), ("LOAD", one.source)) for one in SCRIPTS.values()))

    run(load())
