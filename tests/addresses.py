"""The address of every page of the console, so that nobody who walks them all forgets one."""

from echomq_admin.live.pages import PAGES
from echomq_admin.templatetags.echomq import address


def every_address(
    bus: str, queue: bytes, items: dict[str, bytes], without: tuple[str, ...] = ()
) -> dict[str, str]:
    """Page name to path. `items` names what is shown on pages of one thing: job, board."""
    found = {
        name: address(name, bus, queue if page.of_queue else None, items.get(name))
        for name, page in PAGES.items()
        if name not in without
    }
    return {**found, "audit": address("audit")}
