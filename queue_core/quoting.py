"""How a name stands in a sentence: names of the bus are bytes, and people read text."""

SHOWN = 60
"""Characters of a name in a sentence."""

WHOLE = 10_000
"""Of a name that also tells one from another."""


def quoted(name: object, most: int = SHOWN) -> str:
    """The name in quotes, its first `most` characters. What is no print or no UTF-8 is escaped,
    so that a terminal takes it for nothing else."""
    if not isinstance(name, bytes):
        return _cut(repr(name), name, most)
    try:
        return _cut(repr(name.decode()), name, most)
    except UnicodeDecodeError:
        return _cut(repr(name).removeprefix("b"), name, most)


def _cut(whole: str, name: object, most: int) -> str:
    if len(whole) <= most + 2:
        return whole
    end = whole[-1] if isinstance(name, bytes | str) else ""
    return f"{whole[:most]}…{end}"
