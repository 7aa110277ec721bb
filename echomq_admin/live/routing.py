"""The one socket of the console, below the same prefix as its pages."""

from django.urls import path

from echomq_admin.live.consumers import LiveConsumer

websocket_urlpatterns = [path("ws/live", LiveConsumer.as_asgi())]
