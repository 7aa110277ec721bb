"""What a socket may be sent that no page of ours would: it is ignored, and the socket lives."""

from __future__ import annotations

import json
from typing import Any

import pytest

from echomq_admin.live.page import to_path
from queue_core.bus import Bus
from queue_core.keys import QueueKeys
from queue_core.verbs import admission


@pytest.fixture(autouse=True)
def holds_something(bus: Bus, q: QueueKeys, mint: Any) -> None:
    bus.run(admission.enqueue(q, mint(), b"x"))


@pytest.mark.parametrize(
    "text",
    ["[" * 60_000, '{"a":' * 12_000, "\x00", "null", '{"v":1,"sub":"\\ud800/overview/~/~"}'],
    ids=["deep array", "deep object", "no json", "no object", "lone surrogate"],
)
async def test_the_socket_outlives_a_message_that_makes_no_sense(tab, topic, text):
    socket = await tab()
    await socket.wire.send_to(text)
    await socket.say(sub=topic)
    assert (await socket.frame())["topic"] == topic


async def test_an_act_with_text_that_has_no_bytes_is_ignored(tab, topic, q):
    socket = await tab()
    target = {"bus": "main", "queue": to_path(q.name)}
    wanted = {"id": "\ud800", "action": "enqueue", "target": target, "params": {"payload": "x"}}
    await socket.wire.send_to(json.dumps({"v": 1, "act": wanted}))
    await socket.say(sub=topic)
    assert (await socket.frame())["topic"] == topic


@pytest.mark.parametrize(
    "wanted",
    [
        None, "ab", {}, {"id": "1", "action": "pause_queue", "target": "ab"},
        {"id": "1", "action": "pause_queue", "target": ["ab"], "params": {}},
        {"id": "1", "action": "pause_queue", "target": {"bus": "main"}, "params": ["ab", "cd"]},
        {"id": "1", "action": "pause_queue", "target": {"bus": "main", "queue": {}}},
        {"id": "1", "action": ["pause_queue"], "target": {"bus": ["main"], "what": "~YQ"}},
        {"id": "1", "action": "pause_queue", "target": {"bus": "main", "queue": "~" + "A" * 20000}},
    ],
)  # fmt: skip
async def test_an_act_of_another_shape_is_told_so(tab, topic, wanted):
    socket = await tab()
    await socket.say(act=wanted)
    told = await socket.frame()
    assert told["data"]["act"]["outcome"] == "invalid"
    await socket.say(sub=topic)
    assert (await socket.frame())["topic"] == topic


@pytest.mark.parametrize("crafted", ["zz/overview/~/~", "/overview/~YQ/~", "main/boards/~YQ/~"])
async def test_a_topic_with_parts_its_page_does_not_have_is_no_topic(tab, topic, crafted):
    socket = await tab()
    await socket.say(sub=crafted)
    await socket.say(sub=topic)
    assert (await socket.frame())["topic"] == topic
