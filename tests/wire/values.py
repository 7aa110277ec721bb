"""Bytes as the vectors write them (vectors/README.md), in both directions."""

import base64
import hashlib
from typing import Any, TypeAlias

Json: TypeAlias = Any

LONGEST = 512


def raw(value: Json) -> bytes:
    """The bytes of an argument or of a recorded value."""
    if isinstance(value, str):
        return value.encode()
    if "b64" in value:
        return base64.b64decode(value["b64"])
    unit = raw(value["fill"])
    return (unit * (value["len"] // len(unit) + 1))[: value["len"]]


def written(value: bytes) -> Json:
    """Bytes as a record writes them: text, or base64, or length and digest."""
    if len(value) > LONGEST:
        return {"len": len(value), "sha256": hashlib.sha256(value).hexdigest()}
    try:
        text = value.decode()
    except UnicodeDecodeError:
        text = "\0"
    return {"b64": base64.b64encode(value).decode()} if "\0" in text else text
