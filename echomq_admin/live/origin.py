"""Whether a socket was opened by a page of ours.

The browser sends a session cookie to every port of a host and from every page, so the page's
origin must be the very host and port that the socket was opened on, or one that the settings
trust for forms too.
"""

from typing import Any
from urllib.parse import urlsplit

from django.conf import settings


def same_origin(scope: dict[str, Any]) -> bool:
    """True where the handshake's Origin is ours; one without Origin is no browser's page."""
    headers = {name.lower(): value.decode("latin-1") for name, value in scope["headers"]}
    origin = headers.get(b"origin", "")
    if origin in settings.CSRF_TRUSTED_ORIGINS:
        return True
    host = headers.get(b"host", "")
    if settings.USE_X_FORWARDED_HOST:
        host = headers.get(b"x-forwarded-host", host)
    return bool(host) and urlsplit(origin).netloc.lower() == host.lower()
