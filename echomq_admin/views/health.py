"""Health, for whoever watches the process: ok or not, and nothing else."""

import logging

from django.db import DatabaseError, connection
from django.http import HttpRequest, HttpResponse
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_safe

from echomq_admin.buses import bus_urls, reading_bus
from queue_core.errors import EchoMQError
from queue_core.keys import QueueKeys
from queue_core.reads.counts import get_counts

log = logging.getLogger(__name__)

PROBE = QueueKeys(b"health")
"""Any queue: counting it runs a script, which a PING would not."""


@never_cache
@require_safe
def health(_request: HttpRequest) -> HttpResponse:
    """200 ok where the console serves: its database answers. Buses may be away, which the
    console shows and outlives; restarting it would not bring them back."""
    return _say(_database_answers())


@never_cache
@require_safe
def buses_health(_request: HttpRequest) -> HttpResponse:
    """200 ok where every configured bus runs a script for us as well."""
    return _say(_database_answers() and all(_bus_answers(name) for name in bus_urls()))


def _say(well: bool) -> HttpResponse:
    return HttpResponse(
        "ok\n" if well else "not ok\n", status=200 if well else 503, content_type="text/plain"
    )


def _database_answers() -> bool:
    try:
        with connection.cursor() as cursor:
            cursor.execute("SELECT 1 FROM echomq_admin_auditentry LIMIT 1")
    except DatabaseError:
        log.exception("the console's database does not answer")
        return False
    return True


def _bus_answers(name: str) -> bool:
    try:
        reading_bus(name).run(get_counts(PROBE, ("pending",)))
    except EchoMQError as fault:
        log.warning("bus %s: %s", name, fault)
        return False
    return True
