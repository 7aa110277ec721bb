"""Every page that lives: a socket's topic names one of these."""

from echomq_admin.live.page import Page
from echomq_admin.views.overview import OVERVIEW

PAGES: dict[str, Page] = {page.name: page for page in (OVERVIEW,)}
