"""The socket: who is let in, what is sent, and when it is sent nothing."""

import asyncio
import json
import time
from dataclasses import dataclass
from typing import Any

import pytest
from asgiref.sync import sync_to_async
from django.test import Client

from echomq_admin.actions.action import Target
from echomq_admin.actions.perform import actor_of, perform
from echomq_admin.live import sweep
from echomq_admin.live.sweep import lost_of
from echomq_admin.models import AuditEntry
from echomq_admin.templatetags.echomq import address
from queue_core.bus import Bus
from queue_core.keys import QueueKeys
from queue_core.outcomes import Outcome
from queue_core.verbs import admission, queues
from tests.builders import command, raw
from tests.live.conftest import Tab
from tests.trips import counted


@pytest.fixture(autouse=True)
def holds_something(bus: Bus, q: QueueKeys, mint: Any) -> None:
    bus.run(admission.enqueue(q, mint(), b"x"))


async def test_the_first_frame_is_whole(tab, topic, q):
    socket = await tab()
    await socket.say(sub=topic)
    frame = await socket.frame()
    assert (frame["v"], frame["topic"], frame["seq"]) == (1, topic, 1)
    assert {"queue-head", "rail-queues", "vitals", "banners"} <= frame["html"].keys()
    assert frame["at_ms"] > 0
    assert frame["age_ms"] >= 0
    assert frame["data"]["frame"]["full"] is True
    assert frame["data"]["frame"]["state"] == "live"
    assert q.name.decode() in frame["html"]["queue-head"]


async def test_what_another_process_does_shows_within_a_second(tab, topic, bus, q):
    socket = await tab()
    await socket.say(sub=topic)
    await socket.frame()
    await socket.say(ack={topic: 1})
    began = time.monotonic()
    bus.run(queues.pause(q))
    frames = await socket.until(lambda frame: "paused" in frame["html"].get("queue-head", ""))
    assert time.monotonic() - began < 3  # a second on a machine that does nothing else
    assert [frame["seq"] for frame in frames] == list(range(2, len(frames) + 2))


async def test_who_paused_it_is_told_from_the_audit(tab, topic, ada, q):
    def paused() -> None:
        target = Target("main", q.name)
        answer = perform(actor_of(ada), "pause_queue", target, {}, request_id=None, source="page")
        assert answer.outcome is Outcome.done

    await sync_to_async(paused)()
    socket = await tab()
    await socket.say(sub=topic)
    wanted = "paused by ada since"
    frames = await socket.until(lambda frame: wanted in frame["html"].get("queue-head", ""))
    heads = [frame["html"].get("queue-head", "") for frame in frames]
    assert all(wanted in head for head in heads if "paused" in head), "no frame leaves it out"


def test_the_first_paint_says_who_paused_it(watched, ada, client_of, q):
    answer = perform(actor_of(ada), "pause_queue", Target("main", q.name), {}, source="page")
    assert answer.outcome is Outcome.done
    text = client_of(ada).get(address("pending", "main", q.name)).content.decode()
    assert "paused by ada since" in text


def test_a_pause_in_hand_has_its_author_already(watched, ada, client_of, bus, q):
    """The bus shows it before the audit is closed."""
    about = {"bus": "main", "queue": q.name, "action": "pause_queue", "source": "page"}
    AuditEntry.objects.create(request_id="in hand", who="mira", **about)
    bus.run(queues.pause(q))
    text = client_of(ada).get(address("pending", "main", q.name)).content.decode()
    assert "paused by mira since" in text


async def test_panels_without_a_change_are_not_sent_again(tab, topic):
    from echomq_admin.live.pages import PAGES

    socket = await tab()
    await socket.say(sub=topic)
    own = set(PAGES["dead"].panels)
    assert own <= set((await socket.frame())["html"])
    # The rail goes on changing while other tests' queues are being found.
    await socket.until(lambda frame: not own & set(frame["html"]))


def test_who_joins_late_hears_the_clock_of_now():
    from echomq_admin.live.frames import State, View
    from echomq_admin.live.page import Watch
    from echomq_admin.live.pages import PAGES
    from echomq_admin.live.scene import host_ms

    view = View(PAGES["overview"], Watch("", "overview"))
    drawn = host_ms() - 9_000
    view.state, view.drawn_ms = State(version=1, now_ms=drawn), drawn
    assert json.loads(view.frame(0, 1)[0])["now_ms"] >= drawn + 9_000


async def test_two_tabs_of_one_kind_share_one_view(tab, topic):
    from echomq_admin.live.observatory import observatory

    first, second = await tab(), await tab()
    await first.say(sub=topic)
    await second.say(sub=topic)
    assert (await first.frame())["topic"] == (await second.frame())["topic"]
    assert len(observatory()._views) == 1


async def test_case_20_a_closed_tab_leaves_nobody_behind(tab, topic):
    from echomq_admin.live.observatory import observatory

    socket = await tab()
    await socket.say(sub=topic)
    await socket.frame()
    assert observatory()._views
    assert sweep.SWEEP._members
    await socket.wire.disconnect()
    await quiet()
    assert not observatory()._views
    assert not observatory()._watchers
    assert not sweep.SWEEP._members


async def test_case_22_and_46_frames_carry_marks_for_bytes_and_masks_for_secrets(
    tab, topic, bus, q, mint
):
    odd, kept = mint(), mint()
    bus.run(command("ZADD", q.dead, 0, odd, 0, kept))
    raw_bytes = b"\xff\xfe\x00\xc3\x28"
    bus.run(command("HSET", q.row(odd), "payload", raw_bytes, "last_error", raw_bytes))
    secret = ("payload", b'{"a":{"password":"hunter22"}}', "last_error", b"hunter22 refused")
    bus.run(command("HSET", q.row(kept), *secret))
    socket = await tab()
    await socket.say(sub=topic)
    graves = (await socket.frame())["html"]["graves"]
    assert "⟨ff⟩⟨fe⟩␀⟨c3⟩(" in graves
    assert "refused" in graves
    assert "hunter22" not in graves


async def test_case_122_a_gap_is_mended_by_a_snapshot(tab, topic):
    socket = await tab()
    await socket.say(sub=topic)
    await socket.frame()
    await socket.say(snapshot=topic)
    frames = await socket.until(lambda frame: frame["data"]["frame"]["full"])
    assert "queue-head" in frames[-1]["html"]


async def test_without_acknowledgement_eight_frames_and_no_more(tab, topic, bus, q):
    socket = await tab()
    await socket.say(sub=topic)
    for seq in range(1, 9):
        bus.run(command("ZADD", q.dead, 0, f"JOB{seq}"))
        assert (await socket.frame())["seq"] == seq
    bus.run(command("ZADD", q.dead, 0, "JOBmore"))
    assert await socket.wire.receive_nothing(timeout=1.0)
    await socket.say(ack={topic: 8})
    frame = await socket.frame()
    assert frame["data"]["frame"]["full"] is True


async def quiet() -> None:
    """Wait until a second has passed without a single round trip, four ticks' time."""
    for _ in range(8):
        with counted() as trips:
            await asyncio.sleep(1.0)
        if not trips.calls:
            return
    raise AssertionError("the bus is still read")


async def test_case_12_a_hidden_tab_costs_the_bus_nothing(tab, topic):
    socket = await tab()
    await socket.say(sub=topic)
    await socket.frame()
    await socket.say(visible=False)
    await quiet()
    await socket.say(visible=True)
    frames = await socket.until(lambda frame: frame["data"]["frame"]["full"])
    assert frames[-1]["html"]


async def test_unsub_ends_the_reading(tab, topic):
    socket = await tab()
    await socket.say(sub=topic)
    await socket.frame()
    await socket.say(unsub=topic)
    await quiet()


async def test_case_120_ten_thousand_changes_are_a_few_small_frames(tab, topic, bus, q, mint):
    socket = await tab()
    await socket.say(sub=topic)
    await socket.frame()
    await socket.say(ack={topic: 1})
    done = asyncio.Event()

    async def churn() -> None:
        for _ in range(20):
            batch = [part for _ in range(500) for part in (0, mint())]
            await asyncio.to_thread(bus.run, command("ZADD", q.pending, *batch))
        done.set()

    began = time.monotonic()
    work = asyncio.create_task(churn())
    frames = []
    while not done.is_set() or "10,001" not in str(frames[-1:]):
        frames.append(await socket.frame())
        await socket.say(ack={topic: frames[-1]["seq"]})
        assert len(frames) < 60
    await work
    assert len(frames) <= 4 * (time.monotonic() - began) + 1
    assert max(len(str(frame)) for frame in frames) < 50_000


async def test_a_tick_is_one_round_trip_and_never_two_at_once(tab, topic):
    socket = await tab()
    await socket.say(sub=topic)
    await socket.frame()
    with counted() as trips:
        await socket.until(lambda _: len(trips) >= 3)
    assert trips.at_once == 1
    for calls in trips.calls:
        assert calls.count("reads/sample") >= 1


async def test_looking_writes_nothing(tab, topic, bus):
    def changes() -> bytes:
        return next(
            line
            for line in bus.run(raw("INFO", "persistence")).splitlines()
            if line.startswith(b"rdb_changes_since_last_save")
        )

    before = changes()
    socket = await tab()
    for watched in (topic, "/overview/~/~"):
        await socket.say(sub=watched)
        await socket.until(lambda frame, wanted=watched: frame["topic"] == wanted)
    assert changes() == before


@pytest.mark.parametrize(
    "nonsense",
    ["{", "[]", "1", '{"v":2,"sub":"x"}', '{"v":1,"sub":"x/y"}', '{"v":1,"sub":[]}',
     '{"v":1,"ack":7}', '{"v":1,"ack":{"x":"y"}}', '{"v":1,"visible":"maybe"}',
     '{"v":1,"sub":"main/nothing/~/~"}', '{"v":1,"sub":"/schedule/~/~"}', "x" * 70_000],
    ids=lambda text: text[:24],
)  # fmt: skip
async def test_nonsense_is_ignored_and_the_socket_lives(tab, topic, nonsense):
    socket = await tab()
    await socket.wire.send_to(nonsense)
    await socket.say(visible=True, sub=topic)
    assert (await socket.frame())["seq"] == 1


async def test_nobody_is_let_in_without_a_session(watched):
    socket = Tab(None)
    assert await socket.open()
    assert await socket.closed() == 4403


async def test_a_page_of_another_origin_is_refused(watched, ada, client_of):
    client = await sync_to_async(client_of)(ada)
    for origin in ("http://evil.example", "http://localhost:9999", "null"):
        socket = Tab(client, origin)
        if await socket.open():
            assert await socket.closed() == 4403


async def test_without_the_right_to_look_it_closes(watched, person, client_of):
    nobody = await sync_to_async(person)("nobody")
    socket = Tab(await sync_to_async(client_of)(nobody))
    assert await socket.open()
    assert await socket.closed() == 4403


class TestCase44LosingTheSessionOrARightClosesTheSocket:
    @pytest.fixture(autouse=True)
    def often(self, monkeypatch: pytest.MonkeyPatch) -> None:
        """The sweep of two seconds, made quick."""
        assert sweep.EVERY_S <= 2
        monkeypatch.setattr(sweep, "EVERY_S", 0.3)

    async def watch(self, tab: Any, topic: str, who: Any) -> Any:
        socket = await tab(who)
        await socket.say(sub=topic)
        await socket.frame()
        return socket

    async def gone(self, socket: Any) -> None:
        assert await socket.closed() == 4401
        assert await socket.wire.receive_nothing(timeout=0.5)

    async def test_case_44_log_out(self, tab, topic, person):
        socket = await self.watch(tab, topic, await sync_to_async(person)("vera", "view"))
        client: Client = socket.client
        await sync_to_async(client.logout)()
        await self.gone(socket)

    async def test_case_44_deactivated(self, tab, topic, person):
        vera = await sync_to_async(person)("vera", "view")
        socket = await self.watch(tab, topic, vera)
        vera.is_active = False
        await sync_to_async(vera.save)()
        await self.gone(socket)

    async def test_case_44_a_permission_is_dropped(self, tab, topic, person):
        vera = await sync_to_async(person)("vera", "view", "pause_queue")
        socket = await self.watch(tab, topic, vera)
        await sync_to_async(vera.user_permissions.clear)()
        await self.gone(socket)

    async def test_case_44_the_password_is_changed(self, tab, topic, person):
        vera = await sync_to_async(person)("vera", "view")
        socket = await self.watch(tab, topic, vera)
        vera.set_password("another-1")
        await sync_to_async(vera.save)()
        await self.gone(socket)

    async def test_who_loses_nothing_stays(self, tab, topic, person):
        socket = await self.watch(tab, topic, await sync_to_async(person)("vera", "view"))
        for _ in range(4):
            frame = await socket.frame()
            await socket.say(ack={topic: frame["seq"]})


@dataclass(frozen=True)
class Listener:
    """A socket as the sweep sees it."""

    session_key: str
    user_id: str
    rights: frozenset[str]


def test_the_sweep_asks_two_queries_however_many_listen(
    person, client_of, django_assert_num_queries
):
    listeners = set()
    for name in ("vera", "otto", "kim"):
        user = person(name, "view", "retry_job")
        key = client_of(user).session.session_key
        listeners.add(Listener(key, str(user.pk), frozenset({"view", "retry_job"})))
    stranger = Listener("no-such-session", "1", frozenset({"view"}))
    with django_assert_num_queries(2):
        assert lost_of(listeners | {stranger}) == {stranger}
