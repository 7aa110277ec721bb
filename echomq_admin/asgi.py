"""The console under Daphne or any ASGI server: pages by Django, the live socket by Channels."""

import os

from channels.auth import AuthMiddlewareStack
from channels.routing import ProtocolTypeRouter, URLRouter
from channels.security.websocket import AllowedHostsOriginValidator
from django.core.asgi import get_asgi_application
from django.urls import path

os.environ.setdefault("DJANGO_SETTINGS_MODULE", "echomq_admin.settings")
_pages = get_asgi_application()

from echomq_admin import config  # noqa: E402  (models are loaded only now)
from echomq_admin.live.routing import websocket_urlpatterns  # noqa: E402
from echomq_admin.start import read_all  # noqa: E402

read_all()

_socket = URLRouter(websocket_urlpatterns)
# With the prefix, and without it for a proxy that has taken it off.
_below = {"", f"{config.prefix()}/".lstrip("/")}

application = ProtocolTypeRouter(
    {
        "http": _pages,
        "websocket": AllowedHostsOriginValidator(
            AuthMiddlewareStack(
                URLRouter([path(below, _socket) for below in sorted(_below, reverse=True)])
            )
        ),
    }
)
