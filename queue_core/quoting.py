"""How a name stands in a sentence: names of the bus are bytes, and people read text."""

SHOWN = 60
"""Characters of a name in a sentence."""


def quoted(name: object) -> str:
    """The name in quotes, its first `SHOWN` characters. What is no print or no UTF-8 is escaped,
    so that a terminal takes it for nothing else."""
    if not isinstance(name, bytes):
        return _cut(repr(name), name)
    try:
        return _cut(repr(name.decode()), name)
    except UnicodeDecodeError:
        return _cut(repr(name).removeprefix("b"), name)


def _cut(whole: str, name: object) -> str:
    if len(whole) <= SHOWN + 2:
        return whole
    end = whole[-1] if isinstance(name, bytes | str) else ""
    return f"{whole[:SHOWN]}…{end}"
