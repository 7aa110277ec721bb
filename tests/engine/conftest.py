"""What the tests of the verbs share: a builder of jobs in a named state."""

from collections.abc import Callable

import pytest

from queue_core.keys import QueueKeys
from tests.builders import Builder, Run


@pytest.fixture
def make(run: Run, q: QueueKeys, mint: Callable[[], bytes]) -> Builder:
    """Jobs of this test's queue."""
    return Builder(run, q, mint)
