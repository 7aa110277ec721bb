"""What the workshop's worker does with each kind of job."""

from __future__ import annotations

import json
import urllib.error
import urllib.request
from collections.abc import Callable
from http import HTTPStatus
from typing import Any

from echomq_admin.workshop import cast, game
from echomq_admin.workshop.chat import ChatServer
from queue_core import boards, ids
from queue_core.application import Client, enqueue
from queue_core.keys import queue
from queue_core.plans import Plan
from queue_core.work.backoff import exponential, jitter
from queue_core.work.serving import Policy
from queue_core.work.task import Runs, Task
from queue_core.work.verdicts import Dead, Done, Failed, Later, Verdict

SEND_S = 5.0
PRIZES = 3

POLICY = Policy(jitter(exponential(500, 30_000)), max_attempts=6)
"""The curve of the wire's notifications (protocol part 8.4)."""


class Handlers:
    """The handlers over one bus; `mint` gives the ids of the messages that they send on."""

    def __init__(self, bus: Runs, mint: Callable[[], Plan[bytes]]) -> None:
        self._bus = bus
        self._notify = Client(queue(cast.NOTIFY), mint)
        self._chat = ChatServer(blocked=cast.BLOCKED.decode()).start()

    def by_queue(self) -> dict[bytes, Callable[[Task], Verdict | None]]:
        """Each queue of the workshop with its handler."""
        return {cast.GUESSES: self.guess, cast.SETTLE: self.settle, cast.NOTIFY: self.notify}

    def guess(self, task: Task) -> Verdict:
        """Score a guess, show it to the room, and keep the player's best on the board."""
        said = _read(task)
        if not isinstance(said.get("guess"), list) or len(said["guess"]) != game.POSITIONS:
            return Dead("a guess is six codes")
        played, player = said["game"].encode(), said["player"].encode()
        score = game.score(game.secret_of(played), said["guess"])
        self._send({"chat": played.decode(), "text": f"{cast.PLAYERS.get(player)}: {score}"})
        before = self._bus.run(boards.top(played, 1)).value
        self._bus.run(boards.fold(played, player, score))
        if before and before[0][0] != player and score > int(float(before[0][1])):
            text = f"{cast.PLAYERS.get(player, 'Somebody')} passed you with {score}"
            self._tell(cast.Message(before[0][0], text, "passed"))
        return Done()

    def settle(self, task: Task) -> Verdict:
        """Tell the first players of a finished game how they did."""
        played = _read(task)["game"].encode()
        for place, (player, score) in enumerate(self._bus.run(boards.top(played, PRIZES)).value):
            self._tell(cast.Message(player, f"Place {place + 1} with {score} points", "prize"))
        return Done()

    def notify(self, task: Task) -> Verdict:
        """Send one message; what the chat endpoint answers decides what becomes of the job."""
        said = _read(task)
        if said.get("kind") == "digest":
            said["text"] += self._digest()
        status, retry_after_ms = self._send(said)
        if status is HTTPStatus.OK:
            return Done()
        if status is HTTPStatus.TOO_MANY_REQUESTS:
            return Later(retry_after_ms)
        if status is HTTPStatus.FORBIDDEN:
            return Dead(f"{status.value} {status.phrase}: the player blocked the bot")
        return Failed(f"{status.value} {status.phrase}")

    def _digest(self) -> str:
        top = self._bus.run(boards.top(cast.round_of(ids.host_ms(), 0), PRIZES)).value
        return "".join(f"\n{cast.PLAYERS.get(player, '?')} {score}" for player, score in top)

    def _tell(self, message: cast.Message) -> None:
        self._bus.run(enqueue(self._notify, message.payload(), message.player, None))

    def _send(self, said: dict[str, Any]) -> tuple[HTTPStatus, int]:
        """The status, and how many ms a 429 asks to wait."""
        body = json.dumps({"chat": said["chat"], "text": said["text"]}).encode()
        try:
            with urllib.request.urlopen(self._chat.url, body, SEND_S):  # noqa: S310 (loopback)
                return HTTPStatus.OK, 0
        except urllib.error.HTTPError as error:
            wait_s = float(error.headers.get("Retry-After") or 1)
            return HTTPStatus(error.code), int(wait_s * 1000)


def _read(task: Task) -> dict[str, Any]:
    said = json.loads(task.payload)
    if not isinstance(said, dict):
        raise TypeError("a payload of the workshop is an object")
    return said
