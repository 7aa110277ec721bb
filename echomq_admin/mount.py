"""The root URLs of the console as a project of its own. A prefix is no part of them: the settings
give it to Django as the script's name."""

from django.urls import include, path

urlpatterns = [path("", include("echomq_admin.urls"))]

handler400 = "echomq_admin.views.told.no_request"
handler403 = "echomq_admin.views.told.no_right"
handler404 = "echomq_admin.views.told.no_page"
handler500 = "echomq_admin.views.told.no_answer"
