"""The root URLs of the console as a project of its own: all of it below ECHOMQ_PREFIX."""

from django.urls import include, path

from echomq_admin import config

_BELOW = f"{config.prefix()}/" if config.prefix() else ""

urlpatterns = [path(_BELOW, include("echomq_admin.urls"))]
