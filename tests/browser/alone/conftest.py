"""A console for each module of tests: they kill it, stop it, or fill it with what no page likes."""

import pytest

from tests.browser.console import operator_at, own

console = pytest.fixture(scope="module")(own)
signed_in = pytest.fixture(scope="module")(operator_at)
