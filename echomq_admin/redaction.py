"""What of a job's bytes may be shown: values under secret keys are masked at any depth, and the
same values wherever else they turn up, in errors, logs and progress.

A `Veil` belongs to one job. A payload that cannot be parsed whole hides nothing by name, so it
is shown only to those who may reveal payloads. Masks lie on every page for everybody; lifting
them is an act of its own, recorded.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from functools import lru_cache
from urllib.parse import quote

from echomq_admin import config
from echomq_admin.exact_json import Node, NoTree, Number, Object, children, parse, scalar, walk

DEFAULT_KEYS = (
    "password", "passwd", "passphrase", "secret", "token", "authorization", "apikey",
    "privatekey", "credential", "cookie", "session",
)  # fmt: skip
"""A key is secret when one of these is in it, whatever its case and punctuation."""

MASK = "•••"

UNREAD = "not read whole"

MANY_SECRETS = 200
"""A payload with more masked values has its other texts hidden whole: replacing grows with both."""

_PUNCTUATION = re.compile(r"[^a-z0-9]")


def secret_keys() -> tuple[str, ...]:
    """The words of the setting ECHOMQ_REDACT, in the form keys are compared in."""
    words = config.redact()
    listed = DEFAULT_KEYS if words is None else tuple(words)
    return tuple(filter(None, (_bare(word) for word in listed)))


def _bare(word: str) -> str:
    return _PUNCTUATION.sub("", word.lower())


def is_secret(key: str, words: tuple[str, ...]) -> bool:
    """Whether what stands under this key is to be masked."""
    bare = _bare(key)
    return any(word in bare for word in words)


@lru_cache(maxsize=16)
def _assignments(words: tuple[str, ...]) -> re.Pattern[str]:
    """`key: value` and `key=value` in free text, also where quoting has put backslashes before its
    quotes, with every repetition bounded, so that a hostile text costs no more than its length."""
    spelled = "|".join("[-_. ]?".join(map(re.escape, word)) for word in words)
    return re.compile(
        rf"""(?P<key>["']?[\w.-]{{0,40}}(?:{spelled})[\w.-]{{0,40}}(?:\\{{0,15}}["'])?"""
        r"""\s{0,4}[:=]\s{0,4})"""
        r"""(?P<value>(?P<slashes>\\{1,15})(?P<quote>["'])"""
        r"""(?:[^\\"']|(?!(?<!\\)(?P=slashes)(?P=quote))[\\"'])*(?:(?P=slashes)(?P=quote))?"""
        r"""|"(?:[^"\\]|\\.)*"?|'(?:[^'\\]|\\.)*'?|(?:Bearer|Basic)\s{1,4}[^\s,;'"]+"""
        r"""|[^\s,;&"'}\])]+)""",
        re.IGNORECASE,
    )


@dataclass(frozen=True, slots=True)
class Shown:
    """A text that may be shown, or empty with the reason why it may not."""

    text: str
    hidden: str = ""


@dataclass(frozen=True, slots=True)
class Line:
    """A line of a tree: `kind` is open, value, masked or cut; `note` stands beside it."""

    depth: int
    key: str | None
    kind: str
    text: str
    note: str = ""
    repeated: bool = False


def _leaves(node: Node) -> set[str]:
    return {
        str(leaf)
        for _depth, _key, leaf in walk(node)
        if isinstance(leaf, str) and leaf not in ("", "true", "false", "null")
    }


def _spellings(secret: str) -> set[str]:
    """A secret as it may turn up in other texts: as such, inside JSON, inside an address."""
    try:
        return {secret, json.dumps(secret)[1:-1], quote(secret, safe="")}
    except UnicodeEncodeError:
        return {secret, json.dumps(secret)[1:-1]}


@dataclass(frozen=True, slots=True)
class Veil:
    """What may be shown of one job.

    `tree` is the payload parsed, None where it has none, with `no_tree` why. `secrets` are the
    masked values, None where they cannot be known. `may` is whether the one who looks may reveal.
    """

    words: tuple[str, ...]
    raw: bytes | None
    tree: Node
    no_tree: str
    secrets: frozenset[str] | None
    may: bool
    _pattern: re.Pattern[str] | None = field(default=None, compare=False, repr=False)

    @classmethod
    def over(
        cls,
        payload: bytes | None,
        *,
        whole: bool,
        may: bool,
        words: tuple[str, ...] | None = None,
    ) -> Veil:
        """The veil over a job whose payload is these bytes. `whole` is False where they are only
        the beginning of it or were not read at all."""
        words = secret_keys() if words is None else words
        tree: Node = None
        why = ""
        secrets: frozenset[str] | None = frozenset()
        if payload is None or not whole:
            why, secrets = UNREAD, None
        else:
            try:
                tree = parse(payload)
                secrets = frozenset(_secrets(tree, words))
            except NoTree as fault:
                why = str(fault)
                lowered = _bare(payload.decode("utf-8", "replace"))
                secrets = None if any(word in lowered for word in words) else frozenset()
        if secrets is not None and len(secrets) > MANY_SECRETS:
            secrets = None
        return cls(words, payload, tree, why, secrets, may, _replacer(secrets))

    @property
    def parsed(self) -> bool:
        """Whether the payload has a tree, so that it can be masked by name."""
        return not self.no_tree

    def veiled(self, text: str) -> str:
        """A text with every secret in it masked."""
        if self._pattern is not None:
            text = self._pattern.sub(MASK, text)
        if not self.words:
            return text
        return _assignments(self.words).sub(lambda found: found["key"] + MASK, text)

    def text(self, raw: bytes | None) -> Shown:
        """What a handler wrote beside the payload: error, log line, progress, another field."""
        if raw is None:
            return Shown("")
        if self.secrets is None and not self.may:
            return Shown("", f"hidden: the payload was {self.no_tree or 'too full of secrets'}")
        return Shown(self.veiled(raw.decode("utf-8", "surrogateescape")))

    def preview(self, length: int) -> Shown:
        """The payload on one line of at most some `length` characters."""
        if not self.raw and not self.parsed and self.no_tree == UNREAD:
            return Shown("", "too long for a list")
        if self.raw is None:
            return Shown("")
        if not self.parsed:
            if not self.may:
                return Shown("", self.no_tree)
            return Shown(self.raw[: length * 4].decode("utf-8", "surrogateescape"))
        said, room = [], length
        for piece in self._compact():
            said.append(piece)
            room -= len(piece)
            if room < 0:
                break
        return Shown("".join(said))

    def key(self, key: str) -> str:
        """A key as it may be shown: it may be, or hold, a value that is secret elsewhere."""
        if is_secret(key, self.words):
            return self.veiled(key)
        return self._pattern.sub(MASK, key) if self._pattern is not None else key

    def _compact(self) -> Iterator[str]:
        """The tree on one line, masked, piece by piece as far as it is asked for."""
        stack: list[str | tuple[str | None, Node]] = [(None, self.tree)]
        while stack:
            top = stack.pop()
            if isinstance(top, str):
                yield top
                continue
            key, node = top
            if key is not None:
                yield f"{scalar(self.key(key))}:"
            if key is not None and is_secret(key, self.words):
                yield MASK
            elif isinstance(node, Object | list):
                opens, closes = ("{", "}") if isinstance(node, Object) else ("[", "]")
                yield opens
                stack.append(closes)
                inner: list[str | tuple[str | None, Node]] = []
                for at, child in enumerate(children(node)):
                    inner += [",", child] if at else [child]
                stack += reversed(inner)
            else:
                yield self._leaf(node)

    def _leaf(self, node: Node) -> str:
        if isinstance(node, str) and not isinstance(node, Number):
            return scalar(self.veiled(node))
        return self.veiled(scalar(node)) if isinstance(node, Number) else scalar(node)

    def lines(self, most: int) -> list[Line]:
        """The tree as lines for the eye, masked; the last says how many are left out."""
        said: list[Line] = []
        stack: list[tuple[int, str | None, Node, bool]] = [(0, None, self.tree, False)]
        total = 0
        while stack:
            depth, key, node, repeated = stack.pop()
            total += 1
            if len(said) < most:
                said.append(self._line(depth, key, node, repeated))
            if key is not None and is_secret(key, self.words):
                continue
            inner = children(node)
            seen: set[str | None] = set()
            below = []
            for k, child in inner:
                below.append((depth + 1, k, child, k is not None and k in seen))
                seen.add(k)
            stack += reversed(below)
        if total > len(said):
            said.append(Line(0, None, "cut", f"{total - len(said):,} more"))
        return said

    def _line(self, depth: int, key: str | None, node: Node, repeated: bool) -> Line:
        secret = key is not None and is_secret(key, self.words)
        key = None if key is None else self.key(key)
        if secret:
            size = len(node.encode("utf-8", "surrogatepass")) if isinstance(node, str) else None
            unit = "byte" if size == 1 else "bytes"
            note = f"masked, {size:,} {unit}" if size is not None else "masked"
            return Line(depth, key, "masked", "", note, repeated)
        if isinstance(node, Object):
            many = len(node.pairs)
            return Line(
                depth, key, "open", "{", f"{many:,} {'key' if many == 1 else 'keys'}", repeated
            )
        if isinstance(node, list):
            many = len(node)
            note = f"{many:,} {'value' if many == 1 else 'values'}"
            return Line(depth, key, "open", "[", note, repeated)
        return Line(depth, key, "value", self._leaf(node), "", repeated)


def _secrets(tree: Node, words: tuple[str, ...]) -> set[str]:
    """Every value that stands under a secret key, at any depth."""
    found: set[str] = set()
    for _depth, key, node in walk(tree):
        if key is not None and is_secret(key, words):
            found |= _leaves(node)
    return found


def _replacer(secrets: frozenset[str] | None) -> re.Pattern[str] | None:
    """One pattern for all secrets, the longest first; short ones only as a word of their own."""
    if not secrets:
        return None
    spelled = {one for secret in secrets for one in _spellings(secret)}
    return re.compile(
        "|".join(
            re.escape(one) if len(one) >= 4 else rf"(?<!\w){re.escape(one)}(?!\w)"
            for one in sorted(spelled, key=lambda one: (-len(one), one))
        )
    )
