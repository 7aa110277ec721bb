"""The least rights name every command that is used, and no other."""

import re
from pathlib import Path

from queue_core.rights import COMMANDS

ROOT = Path(__file__).resolve().parents[2]
GREETING = {
    "asking", "client|setname", "client|tracking", "cluster|slots", "evalsha", "evalsha_ro", "ping",
    "role", "script|load", "select", "subscribe",
}  # fmt: skip
"""Sent by the buses themselves; a login and HELLO need no right."""

SENT = re.compile(r'Call\(\s*"([A-Z]+)"')
CALLED = re.compile(r"redis\.p?call\('([A-Z]+)'")


def _found(pattern: re.Pattern[str], folder: str, ending: str) -> set[str]:
    return {
        name.lower()
        for path in (ROOT / folder).rglob(ending)
        if "conformance" not in path.parts
        for name in pattern.findall(path.read_text())
    }


def test_the_least_rights_are_enough_and_no_more() -> None:
    used = GREETING | _found(SENT, "queue_core", "*.py") | _found(CALLED, "lua", "*.lua")
    assert {f"+{name}" for name in used} == set(COMMANDS)
