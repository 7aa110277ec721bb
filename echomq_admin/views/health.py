"""Health, for whoever watches the process: ok or not, and nothing else."""

from django.db import DatabaseError, connection
from django.http import HttpRequest, HttpResponse
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_safe

from echomq_admin.buses import bus_urls, reading_bus
from echomq_admin.said_once import Standing, an_answer
from queue_core.errors import EchoMQError
from queue_core.keys import QueueKeys
from queue_core.reads.counts import get_counts

PROBE = QueueKeys(b"health")
"""Any queue: counting it runs a script, which a PING would not."""

_database = Standing("the console's database")
_probes: dict[str, Standing] = {}


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
    text, status = ("ok\n", 200) if well else ("not ok\n", 503)
    return an_answer(HttpResponse(text, status=status, content_type="text/plain"))


def _database_answers() -> bool:
    try:
        with connection.cursor() as cursor:
            cursor.execute("SELECT 1 FROM echomq_admin_auditentry LIMIT 1")
    except DatabaseError as error:
        _database.is_not(str(error))
        return False
    _database.is_well()
    return True


def _bus_answers(name: str) -> bool:
    probe = _probes.setdefault(name, Standing(f"the probe of bus {name}"))
    try:
        reading_bus(name).run(get_counts(PROBE, ("pending",)))
    except EchoMQError as fault:
        probe.is_not(str(fault))
        return False
    probe.is_well()
    return True
