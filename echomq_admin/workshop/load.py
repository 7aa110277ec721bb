"""The load of the demo: players guess, rounds begin and end, messages fall due. Gentle, and
bounded for days: it looks at the counts and adds only where there is room, and buries no more
dead than an operator would want to see."""

import json
import math
import random
from collections.abc import Callable

from echomq_admin.workshop import cast, game
from queue_core import boards, ids
from queue_core.application import Client, enqueue, enqueue_in
from queue_core.bus import Bus
from queue_core.keys import queue
from queue_core.plans import Plan
from queue_core.reads.sample import sample
from queue_core.reads.schedule import Cursor
from queue_core.reads.window import dead
from queue_core.verbs import jobs, lanes, repeats

SCHEDULED = 260
"""Messages that wait on the schedule, from seconds to days ahead."""

WAITING = 300
"""Above so many waiting jobs nothing is added: somebody paused the queue or took the worker."""

DEAD = 90

REPEATS = (
    (b"pulse", 20_000, "The room is open"),
    (b"recap", 15 * 60_000, "Standings of the last quarter hour"),
    (b"quiet-hours", 12 * 3_600_000, "Quiet hours begin"),
    (b"daily-digest", 24 * 3_600_000, "Your day in codemojex"),
)
LIMITS = ((0, 2), (1, 1), (2, 3))
"""Player number and how many of the player's messages may be under way."""

NOTICES = (
    "You were invited to room {room}", "Round {room} starts soon", "Your turn, {place} to beat you",
    "Nudge: two places are open in room {room}", "Prize: {place}0 gems", "Room {room} closes soon",
)  # fmt: skip


class Load:
    """Feeds the workshop's queues through one bus. `tick` is one short turn of everything."""

    def __init__(
        self, bus: Bus, mint: Callable[[], Plan[bytes]], luck: random.Random | None = None
    ) -> None:
        self._bus = bus
        self._luck = luck or random.Random()  # noqa: S311 (a demo's dice)
        self._guesses = Client(queue(cast.GUESSES), mint)
        self._settle = Client(queue(cast.SETTLE), mint)
        self._notify = Client(queue(cast.NOTIFY), mint)
        self._rounds: dict[int, bytes] = {}
        self._ticks = 0

    def prepare(self) -> None:
        """Register what repeats and set the limits of a few lanes; what is there stays."""
        q = self._notify.q
        for number, (name, every_ms, text) in enumerate(REPEATS):
            player = cast.player_id(number)
            template = cast.Message(player, text, "digest").payload()
            first_ms = min(every_ms // 3, 20_000 * (number + 1) ** 3)
            self._bus.run(repeats.register(q, name, every_ms, template, first_ms))
        for number, ceiling in LIMITS:
            self._bus.run(lanes.limit(q, cast.player_id(number), ceiling))
        self._bus.run(lanes.weight(q, cast.player_id(3), 3))

    def tick(self) -> None:
        """Half a second of play. Raises what the bus raises; the next tick goes on."""
        self._ticks += 1
        self._play()
        self._announce()
        if self._ticks % 10 == 1:
            self._tidy()

    def _play(self) -> None:
        waiting = self._bus.run(sample(self._guesses.q)).value.waiting
        for room in range(cast.ROOMS):
            self._begin(room)
        if waiting is None or waiting > WAITING:
            return
        for _ in range(self._wave(3.6)):
            room = self._luck.randrange(cast.ROOMS)
            player = self._luck.choice(list(cast.PLAYERS))
            secret = game.secret_of(self._rounds[room])
            guess = {
                "game": self._rounds[room].decode(),
                "player": player.decode(),
                "guess": game.guess_near(secret, self._luck),
            }
            self._bus.run(enqueue(self._guesses, json.dumps(guess), player, None))

    def _wave(self, jobs: float) -> int:
        """Jobs of this tick, `jobs` on average: a flood and an ebb every two minutes, so that a
        backlog grows and is worked off."""
        return round(jobs * (1 + 0.8 * math.sin(self._ticks / 40)) * self._luck.uniform(0.4, 1.6))

    def _begin(self, room: int) -> None:
        """Notice a new round; settle the one before and let its board go in time."""
        now = cast.round_of(ids.host_ms(), room)
        before = self._rounds.get(room)
        if before == now:
            return
        self._rounds[room] = now
        if before is not None:
            payload = json.dumps({"game": before.decode()})
            self._bus.run(enqueue(self._settle, payload, before, None))
            self._bus.run(boards.retire(before, cast.KEPT_MS))

    def _announce(self) -> None:
        seen = self._bus.run(sample(self._notify.q)).value
        if seen.waiting is None or seen.schedule is None:
            return
        missing = SCHEDULED - seen.schedule
        for _ in range(max(0, min(missing, 25 if self._ticks < 20 else 3))):
            payload, ahead_ms = self._message().payload(), self._ahead_ms()
            self._bus.run(enqueue_in(self._notify, payload, ahead_ms, self._lane(), None))
        for _ in range(self._wave(2.2) if seen.waiting < WAITING else 0):
            message = self._message()
            lane = message.player if self._luck.random() < 0.8 else None
            self._bus.run(enqueue(self._notify, message.payload(), lane, None))

    def _message(self) -> cast.Message:
        text = self._luck.choice(NOTICES)
        room, place = self._luck.randint(1, 60), self._luck.randint(1, 9)
        player = self._luck.choice(list(cast.PLAYERS))
        return cast.Message(player, text.format(room=room, place=place))

    def _lane(self) -> bytes | None:
        return self._luck.choice(list(cast.PLAYERS)) if self._luck.random() < 0.5 else None

    def _ahead_ms(self) -> int:
        """From two seconds to five days, as likely near as far on a logarithmic scale."""
        return int(10 ** self._luck.uniform(math.log10(2_000), math.log10(5 * 86_400_000)))

    def _tidy(self) -> None:
        """Remove the oldest dead above the number that is kept to look at."""
        q = self._notify.q
        page = self._bus.run(dead(q, "before", Cursor("0", b"")))
        spare = min(page.value.total - DEAD, len(page.value.rows))
        for row in page.value.rows[len(page.value.rows) - max(0, spare) :]:
            self._bus.run(jobs.remove_job(q, row.member))
