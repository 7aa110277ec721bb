"""A value with the moment it was true and whether it is all of it."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Generic, TypeVar

T = TypeVar("T")
U = TypeVar("U")


@dataclass(frozen=True, slots=True)
class Snapshot(Generic[T]):
    """`value` as of `at_ms` on the server's clock. `complete` is False where a bound cut the
    read short or a part was refused; `why` then says so in one sentence."""

    value: T
    at_ms: int
    complete: bool = True
    why: str = ""

    def map(self, change: Callable[[T], U]) -> "Snapshot[U]":
        """The same reading with its value put into another shape."""
        return Snapshot(change(self.value), self.at_ms, self.complete, self.why)
