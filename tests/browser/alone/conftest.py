"""A console for each module of tests: they kill it, stop it, or fill it with what no page likes."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from playwright.sync_api import Browser, BrowserContext

from tests.browser.console import Console, at_work, operator_at


@pytest.fixture(scope="module")
def console(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Console]:
    """Server, Daphne and database of this module alone."""
    with at_work(Console(tmp_path_factory.mktemp("alone"))) as made:
        yield made


@pytest.fixture(scope="module")
def signed_in(browser: Browser, console: Console) -> Iterator[BrowserContext]:
    """A browser profile in which the operator signed in by the link."""
    with operator_at(console, browser) as context:
        yield context
