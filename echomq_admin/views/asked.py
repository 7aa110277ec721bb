"""What a request asks to be done, and to what: the names in it are ~base64url."""

from __future__ import annotations

from collections.abc import Mapping

from echomq_admin.actions.action import Target
from echomq_admin.live.page import from_path, to_path

NAMES = ("queue", "item", "game", "lane")


def target_of(asked: Mapping[str, str]) -> Target:
    """The target that parameters name. Raises `BadParameter` for a name of another form. A lane
    in plain text is none of these but a value of the action's form."""
    named = {
        name: from_path(asked[name])
        for name in NAMES
        if asked.get(name) and (name != "lane" or asked[name].startswith("~"))
    }
    return Target(asked.get("bus", ""), **named)


def named(target: Target) -> dict[str, str]:
    """A target as parameters; those that are empty are left out, save an empty queue name's."""
    shown = {name: to_path(getattr(target, name)) for name in NAMES if getattr(target, name)}
    if not target.queue and not target.game:
        shown["queue"] = to_path(b"")
    return {"bus": target.bus, **shown}
