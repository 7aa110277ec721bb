"""The live socket: join, leave, forward. What is sent is the outlet's business."""

from __future__ import annotations

import json
from typing import Any

from channels.db import database_sync_to_async
from channels.generic.websocket import AsyncWebsocketConsumer
from django.urls import set_script_prefix
from django.utils.translation import get_language

from echomq_admin.buses import bus_urls
from echomq_admin.heard import json_object
from echomq_admin.live.acts import act
from echomq_admin.live.origin import same_origin
from echomq_admin.live.outlet import Outlet
from echomq_admin.live.page import BadParameter, Watch, parse_topic
from echomq_admin.live.pages import PAGES
from echomq_admin.live.sweep import SWEEP
from echomq_admin.permissions import rights_of

FORBIDDEN, ENDED = 4403, 4401
LONGEST = 65_536  # characters of one message


class LiveConsumer(AsyncWebsocketConsumer):
    """One browser tab."""

    outlet: Outlet | None = None
    rights: frozenset[str] = frozenset()
    session_key = user_id = ""

    async def connect(self) -> None:
        """Let in whoever may look, from a page of ours."""
        user = self.scope["user"]
        self.rights = await database_sync_to_async(rights_of)(user)
        if below := self.scope.get("root_path"):
            set_script_prefix(f"{below.rstrip('/')}/")  # as Django does for a request
        await self.accept()
        if "view" not in self.rights or not same_origin(self.scope):
            await self.close(FORBIDDEN)
            return
        self.session_key = self.scope["session"].session_key or ""
        self.user_id = str(user.pk)
        self.outlet = Outlet(self._say)
        SWEEP.join(self)

    async def disconnect(self, _code: int) -> None:
        """Leave every view."""
        SWEEP.leave(self)
        outlet, self.outlet = self.outlet, None
        if outlet is not None:
            await outlet.close()

    async def lose(self) -> None:
        """The session or a right is gone: stop first, then say so."""
        await self.disconnect(ENDED)
        await self.close(ENDED)

    async def receive(self, text_data: str | None = None, **_: Any) -> None:
        """One message: a version and one verb. What makes no sense is ignored."""
        try:
            message = json_object(text_data if text_data and len(text_data) <= LONGEST else "")
        except BadParameter:
            return
        if self.outlet is not None and message.pop("v", 0) == 1:
            for name, asked in message.items():
                if verb := self.VERBS.get(name):
                    await verb(self, self.outlet, asked)

    async def _say(self, text: str) -> None:
        await self.send(text_data=text)

    async def _sub(self, outlet: Outlet, topic: Any) -> None:
        try:
            bus, name, queue, item, raw = parse_topic(str(topic))
            page = PAGES[name]
            params = page.clean(raw)
        except (BadParameter, KeyError):
            return
        # A part that the page does not have would make one more view of the same.
        known = bus in bus_urls() if page.of_bus else not bus
        if known and (page.of_queue or not queue):
            language = get_language() or "en"
            await outlet.add(page, Watch(bus, name, queue, item, params, self.rights, language))

    async def _unsub(self, outlet: Outlet, topic: Any) -> None:
        outlet.remove(str(topic))

    async def _ack(self, outlet: Outlet, acks: Any) -> None:
        for topic, seq in acks.items() if isinstance(acks, dict) else ():
            outlet.ack(topic, seq if isinstance(seq, int) else 0)

    async def _snapshot(self, outlet: Outlet, topic: Any) -> None:
        outlet.snapshot(str(topic))

    async def _visible(self, outlet: Outlet, visible: Any) -> None:
        await outlet.show(visible is True)

    async def _act(self, _outlet: Outlet, wanted: Any) -> None:
        await self._say(json.dumps(await act(self.scope["user"], wanted)))

    VERBS = {"sub": _sub, "unsub": _unsub, "ack": _ack, "snapshot": _snapshot,
             "visible": _visible, "act": _act}  # fmt: skip
