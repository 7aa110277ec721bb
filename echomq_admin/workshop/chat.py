"""The chat endpoint that the workshop sends to: the one part that is not real.

A local HTTP server that answers 200 mostly, 429 with `Retry-After` when asked too fast, and 5xx
now and then; one player has blocked the bot for good. Each
answer takes as long as a network would.
"""

import json
import random
import time
from http import HTTPStatus
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from threading import Lock, Thread

FASTEST_S, SLOWEST_S = 0.1, 0.9
PER_CHAT_S = 1.0
BODY_LIMIT = 64 * 1024


class _Answers(BaseHTTPRequestHandler):
    server: "ChatServer"
    protocol_version = "HTTP/1.1"

    def do_POST(self) -> None:
        length = min(int(self.headers.get("Content-Length") or 0), BODY_LIMIT)
        try:
            chat = str(json.loads(self.rfile.read(length))["chat"])
        except (ValueError, KeyError, TypeError):
            return self._answer(HTTPStatus.BAD_REQUEST)
        time.sleep(self.server.luck.uniform(FASTEST_S, SLOWEST_S))
        if chat == self.server.blocked:
            return self._answer(HTTPStatus.FORBIDDEN)
        if wait_s := self.server.too_fast(chat):
            return self._answer(HTTPStatus.TOO_MANY_REQUESTS, wait_s)
        if self.server.luck.random() < self.server.failing:
            return self._answer(HTTPStatus.BAD_GATEWAY)
        return self._answer(HTTPStatus.OK)

    def _answer(self, status: HTTPStatus, retry_after_s: float = 0.0) -> None:
        self.send_response(status)
        if retry_after_s:
            self.send_header("Retry-After", f"{retry_after_s:.1f}")
        self.send_header("Content-Length", "0")
        self.end_headers()

    def log_message(self, format: str, *args: object) -> None:  # noqa: A002 (the base class's)
        """Say nothing: the console shows what happens."""


class ChatServer(ThreadingHTTPServer):
    """`failing` is the share of 502 answers, `blocked` the chat that always refuses."""

    daemon_threads = True

    def __init__(self, failing: float = 0.12, blocked: str = "", seed: int | None = None) -> None:
        super().__init__(("127.0.0.1", 0), _Answers)
        self.failing = failing
        self.blocked = blocked
        self.luck = random.Random(seed)  # noqa: S311 (a demo's dice)
        self._lock = Lock()
        self._free_at: dict[str, float] = {}

    @property
    def url(self) -> str:
        """Where to post."""
        return f"http://127.0.0.1:{self.server_address[1]}/send"

    def too_fast(self, chat: str) -> float:
        """Seconds until this chat may be sent to again; 0 where it may now."""
        now = time.monotonic()
        with self._lock:
            if len(self._free_at) > 10_000:
                self._free_at.clear()
            wait_s = self._free_at.get(chat, 0.0) - now
            if wait_s <= 0:
                self._free_at[chat] = now + PER_CHAT_S
        return max(0.0, wait_s)

    def start(self) -> "ChatServer":
        """Serve from a thread of its own, until `shutdown`."""
        Thread(target=self.serve_forever, name="chat", daemon=True).start()
        return self
