"""Who plays, where, and what a message says: shared by the load and the handlers."""

import json
from dataclasses import dataclass

from queue_core import ids

GUESSES = b"cm"
SETTLE = b"cm-settle"
NOTIFY = b"cm.notify"
QUEUES = (GUESSES, SETTLE, NOTIFY)

NAMES = (
    "Mira", "Pavel", "Ines", "Tomek", "Aiko", "Bruno", "Noor", "Lior", "Freya", "Sanjay",
    "Odile", "Kofi", "Yara", "Emil", "Zofia", "Hugo", "Leila", "Marek", "Nia", "Oskar",
    "Paloma", "Ravi", "Signe", "Tariq",
)  # fmt: skip

ROUND_MS = 12 * 60_000
ROOMS = 2
KEPT_MS = 6 * 3_600_000
"""How long the board of a finished round stays."""

_FIRST_PLAYER = ids.min_for(1_767_225_600_000)


def player_id(number: int) -> bytes:
    """The branded id of a player, the same in every run."""
    return ids.encode("PLR", _FIRST_PLAYER + (number << 22))


PLAYERS = {player_id(number): name for number, name in enumerate(NAMES)}

BLOCKED = player_id(5)
"""Who does not want to hear from the bot: messages to this player die."""


def round_of(now_ms: int, room: int) -> bytes:
    """The game that a room plays at a moment; rooms change theirs half a round apart."""
    shift = room * ROUND_MS // ROOMS
    begun = (now_ms + shift) // ROUND_MS * ROUND_MS - shift
    return ids.encode("GAM", ids.min_for(begun) | room << 12)


@dataclass(frozen=True, slots=True)
class Message:
    """A notification: to which player, what it says, and which kind of message it is."""

    player: bytes
    text: str
    kind: str = "notice"

    def payload(self) -> bytes:
        """The five JSON keys of the wire (protocol part 8.4), and the kind beside them."""
        chat = self.player.decode()
        body = {"chat": chat, "text": self.text, "opts": {}, "id": "", "attempt": 1}
        return json.dumps({**body, "kind": self.kind}, separators=(",", ":")).encode()
