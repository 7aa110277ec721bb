"""Every page that lives: a socket's topic names one of these."""

from echomq_admin.live.page import Page
from echomq_admin.views.active import ACTIVE
from echomq_admin.views.backoff import BACKOFF
from echomq_admin.views.board import BOARD
from echomq_admin.views.boards import BOARDS
from echomq_admin.views.dead import DEAD
from echomq_admin.views.job import JOB
from echomq_admin.views.overview import OVERVIEW
from echomq_admin.views.pending import PENDING
from echomq_admin.views.repeats import REPEATS
from echomq_admin.views.schedule import SCHEDULE
from echomq_admin.views.workers import WORKERS

PAGES: dict[str, Page] = {
    page.name: page
    for page in (
        OVERVIEW,
        PENDING,
        SCHEDULE,
        ACTIVE,
        DEAD,
        JOB,
        REPEATS,
        WORKERS,
        BOARDS,
        BOARD,
        BACKOFF,
    )
}
