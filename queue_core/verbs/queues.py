"""Verbs on a whole queue (protocol part 4.6)."""

from queue_core.keys import QueueKeys
from queue_core.outcomes import Word
from queue_core.plans import Plan
from queue_core.replies import word
from queue_core.scripts import script

_PAUSE = script("queue_pause")
_RESUME = script("queue_resume")


def pause(q: QueueKeys) -> Plan[Word]:
    """Stop claims; held jobs settle as ever, admissions go on. Answers `ok` or `noop`."""
    return word((yield _PAUSE.call((q.meta,), q.base)))


def resume(q: QueueKeys) -> Plan[Word]:
    """Let claims go on. Answers `ok`, or `noop` where the queue was not paused."""
    return word((yield _RESUME.call((q.meta,), q.base)))
