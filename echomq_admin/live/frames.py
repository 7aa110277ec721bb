"""A watch drawn once for everybody who looks the same way, and what of it has changed since.

A view renders its panels after each tick. A panel whose markup is as before keeps its version
and is not sent again; a socket is sent what is newer than its own last version, so frames
that it could not take merge into the next.
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from django.template.loader import render_to_string
from django.utils import translation

from echomq_admin.live import surroundings
from echomq_admin.live.page import Page, Shaped, Watch
from echomq_admin.live.scene import Scene, Scenes, host_ms
from queue_core.errors import EchoMQError

FRAME_BYTES = 40_000
"""Changed parts beyond this wait for the next frame, so that one stays under 50 KB."""

BEAT_MS = 1_000
"""A view without a change still sends its age this often."""

RAIL_MS = 1_000
"""The rail moves with every count of the bus; once a second is enough."""

_AGE = re.compile(r' data-at="[0-9]+"')


def drawing(page: Page, watch: Watch, scenes: Scenes, shaped: Shaped) -> dict[str, Any]:
    """The context that every template of a page draws from, on first paint and in frames."""
    scene = scenes.get(watch.bus)
    state, why, since = shaped.state, shaped.why, None
    if scene is not None:
        state, since = scene.state, scene.status.since_ms
        why = scene.status.why if state not in {"live", "stale"} else shaped.why
    return {
        "watch": watch,
        "page": page,
        "scene": scene,
        "shaped": shaped,
        "now_ms": scene.now_ms if scene is not None else host_ms(),
        "clocks": clocks(watch, scenes),
        "state": state,
        "since_ms": since,
        "why": why,
        "at_ms": _at(watch, scene, shaped),
        "no_writes": scene.no_writes(watch.queue) if scene is not None else "",
        **surroundings.context(page, watch, scenes),
        **shaped.context,
    }


def clocks(watch: Watch, scenes: Scenes) -> dict[str, int]:
    """On a page of every bus, how far each bus's clock is from the page's, in ms."""
    if watch.bus:
        return {}
    return {name: round(scene.skew_ms) for name, scene in scenes.items()}


def panels_of(page: Page) -> dict[str, str]:
    """Every panel of a page with those around it: element id to template."""
    around = surroundings.PANELS | (surroundings.QUEUE_PANELS if page.of_queue else {})
    return {**around, **page.panels}


@dataclass(frozen=True, slots=True)
class State:
    """A view as it stands: per element id its markup and the version that changed it (`bare`:
    without ages and parts, to compare), per chart its JSON and version, and what the envelope
    says. Replaced whole; only `bodies`, the frames encoded from it, fills up."""

    version: int = 0
    html: Mapping[str, tuple[str, int]] = field(default_factory=dict)
    data: Mapping[str, tuple[str, int]] = field(default_factory=dict)
    bare: Mapping[str, str] = field(default_factory=dict)
    parts: frozenset[str] = frozenset()
    bodies: dict[int, str] = field(default_factory=dict)
    at_ms: int | None = None
    now_ms: int = 0
    complete: bool = True
    why: str = ""
    state: str = "asking"
    clocks: Mapping[str, int] = field(default_factory=dict)
    ages: Mapping[str, int] = field(default_factory=dict)


class View:
    """One watch, rendered once per tick however many sockets share it."""

    def __init__(self, page: Page, watch: Watch) -> None:
        self.page = page
        self.watch = watch
        self.state = State()
        self.results: Sequence[Any | EchoMQError] | None = None
        self.drawn_ms = 0
        self.moved = 0
        self._rail_ms = 0

    def update(self, scenes: Scenes, shaped: Shaped) -> bool:
        """Draw anew; whether there is something to send. `moved` counts the times that more
        than ages changed."""
        with translation.override(self.watch.language):
            context = drawing(self.page, self.watch, scenes, shaped)
            parts = {
                name: render_to_string(template, {**context, **own})
                for name, (template, own) in shaped.parts.items()
            }
            drawn = self._draw({**context, "drawn_parts": parts})
        data = {name: json.dumps(value) for name, value in shaped.data.items()}
        return self._publish(context, shaped, drawn, parts, data)

    def _draw(self, context: dict[str, Any]) -> dict[str, str]:
        wanted = panels_of(self.page)
        if host_ms() - self._rail_ms < RAIL_MS and "rail-queues" in self.state.html:
            del wanted["rail-queues"]
        else:
            self._rail_ms = host_ms()
        return {name: render_to_string(template, context) for name, template in wanted.items()}

    def _publish(
        self,
        context: dict[str, Any],
        shaped: Shaped,
        drawn: dict[str, str],
        parts: dict[str, str],
        data: dict[str, str],
    ) -> bool:
        old, version = self.state, self.state.version + 1
        html, bare, room, changed = dict(old.html), dict(old.bare), FRAME_BYTES, False
        for name in html.keys() - drawn.keys() - parts.keys() - panels_of(self.page).keys():
            del html[name], bare[name]
        # What has waited longest goes first, so that a bound never starves a row.
        oldest = sorted(drawn | parts, key=lambda name: old.html.get(name, ("", 0))[1])
        for name in oldest:
            markup = drawn.get(name) or parts[name]
            naked = _AGE.sub("", _without(markup, parts) if name in drawn else markup)
            if bare.get(name) == naked:
                html[name] = (markup, html[name][1])
                continue
            changed = True
            if old.version and room < len(markup) and room < FRAME_BYTES:
                continue
            room -= len(markup)
            html[name], bare[name] = (markup, version), naked
        charts = {
            name: old.data[name] if old.data.get(name, ("",))[0] == text else (text, version)
            for name, text in data.items()
        }
        changed = changed or charts != old.data or old.state != context["state"]
        self.moved += changed
        if not changed and host_ms() - self.drawn_ms < BEAT_MS:
            return False
        self.drawn_ms = host_ms()
        self.state = State(
            version=version,
            html=html,
            data=charts,
            bare=bare,
            parts=frozenset(parts),
            at_ms=context["at_ms"],
            now_ms=context["now_ms"],
            complete=shaped.complete,
            why=context["why"],
            state=context["state"],
            clocks=context["clocks"],
            ages=shaped.ages | surroundings.ages(context["rail"]),
        )
        return True

    def frame(self, since: int, seq: int) -> tuple[str, int]:
        """The envelope for a socket that holds version `since` (0: nothing, so everything), as
        JSON, and the version it then holds."""
        state = self.state
        body = state.bodies.get(since)
        if body is None:
            body = state.bodies[since] = _body(self.watch, state, since)
        # A page that joins late gets what was drawn before, but the clock as it is now.
        now_ms = state.now_ms + host_ms() - self.drawn_ms
        return f'{{"v":1,"seq":{seq},"now_ms":{now_ms},{body}', state.version


def _without(markup: str, parts: Mapping[str, str]) -> str:
    """A panel with its parts taken out, to tell whether the panel itself has changed."""
    for name, part in parts.items():
        markup = markup.replace(part, f"<{name}>")
    return markup


def _at(watch: Watch, scene: Scene | None, shaped: Shaped) -> int | None:
    """When the page's numbers were true; the sample's moment where the page read nothing."""
    if shaped.at_ms is not None or scene is None:
        return shaped.at_ms
    sample = scene.sample(watch.queue)
    return sample.at_ms if sample is not None else None


def _body(watch: Watch, state: State, since: int) -> str:
    # A whole frame has each part inside its panel already.
    html = {
        name: text
        for name, (text, version) in state.html.items()
        if version > since and not (since == 0 and name in state.parts)
    }
    data = [
        f"{json.dumps(name)}:{text}"
        for name, (text, version) in state.data.items()
        if version > since
    ]
    status = {
        "full": since == 0,
        "state": state.state,
        "clocks": state.clocks,
        "ages": state.ages,
    }
    data.append(f'"frame":{json.dumps(status)}')
    head = {
        "topic": watch.topic,
        "at_ms": state.at_ms,
        "age_ms": None if state.at_ms is None else max(0, state.now_ms - state.at_ms),
        "complete": state.complete,
        "why": state.why,
        "html": html,
    }
    return json.dumps(head)[1:-1] + ',"data":{' + ",".join(data) + "}}"
