"""The Lua transitions: read once, parts pasted in, every call held against its header.

A file in `lua/` opens with comment lines that are its contract:

    -- Admit one job into flat pending (protocol part 4.1).
    -- keys: row pending
    -- args: base id payload
    -- replies: enqueued | duplicate | kind
    -- uses: now record
    -- flags: no-writes

`keys` and `args` become local names of the script's body, so no script counts positions; a
last argument written `items...` stands for any number and becomes `items_at`, the index of
its first word in ARGV. `uses` names files of `lua/parts/`, pasted before the body in that
order. `flags` go to the server with the script (`no-writes` marks a pure read, which runs as
EVALSHA_RO; `allow-oom` lets a settle through when memory is full). `builds` names keys that
only the script can know; `replies` the shapes it answers.
"""

import hashlib
import importlib.resources
import re
from collections.abc import Iterator
from dataclasses import dataclass
from importlib.resources.abc import Traversable
from pathlib import Path

from queue_core.errors import ContractError
from queue_core.plans import Arg, Call

_HEADER = re.compile(r"^-- (keys|args|replies|uses|flags|builds):\s*(.*)$")


def _folder() -> Traversable:
    """`lua/` inside the package where a wheel carried it, else beside it in the tree."""
    packed = importlib.resources.files("queue_core") / "lua"
    return packed if packed.is_dir() else Path(__file__).resolve().parent.parent / "lua"


@dataclass(frozen=True, slots=True, eq=False)
class Script:
    """One transition or read: its text as sent, its SHA-1, and the contract of its header.

    `writes` is whether it may change the bus; a pure read declares `flags: no-writes`. `verb` is
    the command that runs it.
    """

    name: str
    source: bytes
    sha: str
    keys: tuple[str, ...]
    args: tuple[str, ...]
    variadic: bool
    replies: str
    flags: frozenset[str]
    writes: bool
    verb: str

    def call(self, keys: tuple[bytes, ...], *args: Arg) -> Call:
        """A call of this script. `ContractError` where keys or arguments do not fit the header."""
        if len(keys) != len(self.keys) or (
            len(args) < len(self.args) if self.variadic else len(args) != len(self.args)
        ):
            raise ContractError(
                f"{self.name} takes keys {self.keys} and args {self.args}, "
                f"got {len(keys)} and {len(args)}"
            )
        return Call(self.name, keys, args, self)


def _header(text: str) -> dict[str, str]:
    found: dict[str, str] = {}
    for line in text.splitlines():
        if not line.startswith("--"):
            break
        if match := _HEADER.match(line):
            found[match[1]] = match[2].strip()
    return found


def _locals(keys: tuple[str, ...], args: tuple[str, ...], rest: str | None) -> str:
    lines = [f"local {name} = KEYS[{at}]" for at, name in enumerate(keys, 1)]
    lines += [f"local {name} = ARGV[{at}]" for at, name in enumerate(args, 1)]
    if rest:
        lines.append(f"local {rest}_at = {len(args) + 1}")
    return "\n".join(lines)


def _build(name: str, text: str, parts: dict[str, str]) -> Script:
    header = _header(text)
    for line in ("keys", "args", "replies"):
        if line not in header:
            raise ContractError(f"lua/{name}.lua declares no '{line}:' line")
    keys = tuple(header["keys"].split())
    args = header["args"].split()
    rest = args.pop().removesuffix("...") if args and args[-1].endswith("...") else None
    names = [*keys, *args]
    if len(set(names)) != len(names):
        raise ContractError(f"lua/{name}.lua names a key or argument twice")
    flags = frozenset(header.get("flags", "").split())
    uses = header.get("uses", "").split()
    if missing := [part for part in uses if part not in parts]:
        raise ContractError(f"lua/{name}.lua uses unknown parts {missing}")
    shebang = "#!lua" + (f" flags={','.join(sorted(flags))}" if flags else "")
    source = "\n".join(
        [shebang, _locals(keys, tuple(args), rest), *(parts[part] for part in uses), text]
    ).encode()
    return Script(
        name=name,
        source=source,
        sha=hashlib.sha1(source, usedforsecurity=False).hexdigest(),
        keys=keys,
        args=tuple(args),
        variadic=rest is not None,
        replies=header["replies"],
        flags=flags,
        writes="no-writes" not in flags,
        verb="EVALSHA_RO" if "no-writes" in flags else "EVALSHA",
    )


def _texts(folder: Traversable) -> Iterator[tuple[str, str]]:
    for entry in sorted(folder.iterdir(), key=lambda entry: entry.name):
        if entry.name.endswith(".lua"):
            yield entry.name.removesuffix(".lua"), entry.read_text(encoding="utf-8")


def _load() -> dict[str, Script]:
    folder = _folder()
    parts = dict(_texts(folder / "parts"))
    loaded = {name: _build(name, text, parts) for name, text in _texts(folder)}
    for name, text in _texts(folder / "reads"):
        read = _build(f"reads/{name}", text, parts)
        if read.writes:
            raise ContractError(f"lua/reads/{name}.lua must declare 'flags: no-writes'")
        loaded[read.name] = read
    return loaded


SCRIPTS: dict[str, Script] = _load()
"""Every script by name; those of `lua/reads/` as `reads/<name>`."""


def script(name: str) -> Script:
    """The script of `lua/<name>.lua`. `ContractError` where there is none."""
    try:
        return SCRIPTS[name]
    except KeyError:
        raise ContractError(f"there is no lua/{name}.lua") from None
