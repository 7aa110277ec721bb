"""Every action of the console by its name."""

from collections.abc import Mapping
from types import MappingProxyType

from echomq_admin.actions import admission, board, edits, jobs, lanes, queues, repeats
from echomq_admin.actions.action import Action

ACTIONS: Mapping[str, Action] = MappingProxyType(
    {
        action.name: action
        for module in (queues, lanes, jobs, edits, repeats, board, admission)
        for action in module.ACTIONS
    }
)
