"""One browser and one console for all of these tests; a page that somebody is signed in to."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from playwright.sync_api import Browser, BrowserContext, Page, expect, sync_playwright

from queue_core.bus import Bus
from tests.browser.console import BROWSER, LAUNCH, Console, operator_at, own

expect.set_options(timeout=20_000)


@pytest.fixture(scope="package")
def browser() -> Iterator[Browser]:
    """A headless Chromium; where there is none this fails, it does not skip. Its driver keeps an
    event loop running in this thread, so it must end before a test that awaits begins."""
    with sync_playwright() as playwright:
        made = playwright.chromium.launch(executable_path=BROWSER, args=list(LAUNCH))
        yield made
        made.close()


console = pytest.fixture(scope="package")(own)  # each test has queues of its own
signed_in = pytest.fixture(scope="package")(operator_at)


@pytest.fixture
def page(signed_in: BrowserContext) -> Iterator[Page]:
    """A tab; an error in its console fails the test."""
    made = signed_in.new_page()
    errors: list[str] = []
    made.on("pageerror", lambda error: errors.append(str(error)))
    yield made
    made.close()
    assert not errors


@pytest.fixture
def console_bus(console: Console) -> Iterator[Bus]:
    """The test's own hand on the console's bus."""
    made = console.bus()
    yield made
    made.close()
