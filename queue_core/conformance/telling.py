"""What others are told, and what stays in this process: events, telemetry, cancelling
(scenarios 18, 29, 35 to 37)."""

import json
from typing import Any

from queue_core import telemetry
from queue_core.conformance.stage import Chapter, Differs, Stage
from queue_core.errors import UnavailableError
from queue_core.outcomes import Word
from queue_core.plans import Call, Plan, Reply
from queue_core.verbs import events, jobs, settle
from queue_core.work.cancel import Cancelled, CancelToken

chapter = Chapter()


def _publish(channel: bytes, text: bytes, node: str) -> Plan[Reply]:
    """To the subscriber's own server, whose answer counts it."""
    return (yield Call("PUBLISH", (), (channel, text), node=node))


def _kill_named(name: str, node: str) -> Plan[int]:
    """End the connections of subscribers that carry this name; how many."""
    listed = yield Call("CLIENT", (), ("LIST", "TYPE", "pubsub"), node=node)
    killed = 0
    for line in listed.decode("utf-8", "replace").splitlines():
        words = dict(word.partition("=")[::2] for word in line.split())
        if words.get("name") == name:
            killed += yield Call("CLIENT", (), ("KILL", "ID", words["id"]), node=node)
    return killed


@chapter.scenario(18)
def resubscribe(s: Stage) -> None:
    """A subscriber whose connection is killed hears again once it has subscribed anew."""
    channel, name = s.q.base + b"chan", f"conformance-{s.mint().decode()}"
    bus, node = s.listener(name), s.ground.primaries[0]
    messages = bus.listen([channel])
    s.expect("first publish", s.run(_publish(channel, b"one", node)), 1)
    s.expect("first message", next(messages), (channel, b"one"))
    s.expect("killed", s.run(_kill_named(name, node)), 1)
    try:
        raise Differs("the killed line", "UnavailableError", next(messages))
    except UnavailableError:
        messages = bus.listen([channel])
    s.expect("second publish", s.run(_publish(channel, b"two", node)), 1)
    s.expect("second message", next(messages), (channel, b"two"))


def _heard(s: Stage, plan: Plan[Any], expected: Any) -> list[dict[str, str]]:
    """The events that the queue's subscribers hear while a plan runs."""
    mark = s.q.base + b"mark"
    messages = s.listener().listen([s.q.events, mark])
    s.expect("answer", s.run(plan), expected)
    return [json.loads(message) for message in s.heard(messages, mark)]


@chapter.scenario(29)
def update_progress(s: Stage) -> None:
    """Progress is noted and published; of a missing job it is not."""
    job_id = s.job()
    heard = _heard(s, jobs.update_progress(s.q, job_id, "50"), Word.ok)
    wanted = {"event": "progress", "job": job_id.decode(), "progress": "50"}
    s.expect("events", heard, [wanted])
    s.expect("progress", s.field(job_id, "progress"), b"50")
    s.expect("missing", s.run(jobs.update_progress(s.q, s.mint(), "50")), Word.gone)


@chapter.scenario(35)
def events_(s: Stage) -> None:
    """What a host publishes of a job reaches its subscribers."""
    job_id = s.job()
    lease = s.held()
    s.expect("complete", s.run(settle.complete(s.q, job_id, lease.token)), Word.ok)
    mark = s.q.base + b"mark"
    messages = s.listener().listen([s.q.events, mark])
    s.run(events.publish(s.q, "completed", job_id))
    heard = [json.loads(message) for message in s.heard(messages, mark)]
    s.expect("events", heard, [{"event": "completed", "job": job_id.decode()}])


@chapter.scenario(36)
def telemetry_(s: Stage) -> None:
    """A listener in the process is told; without one an emit says nothing."""
    seen: list[Any] = []
    job_id = s.mint()
    detach = telemetry.attach("job.complete", lambda event, values: seen.append((event, values)))
    try:
        telemetry.emit("job.complete", duration_ms=1234, job_id=job_id)
    finally:
        detach()
    telemetry.emit("job.complete", duration_ms=1, job_id=job_id)
    s.expect("told", seen, [("job.complete", {"duration_ms": 1234, "job_id": job_id})])


@chapter.scenario(37)
def cancel(s: Stage) -> None:
    """A token lets work go on until it is cancelled, with the last reason."""
    token = CancelToken()
    s.expect("fresh", token.check(), None)
    token.cancel("stop")
    s.expect("cancelled", token.check(), "stop")
    token.cancel("again")
    try:
        token.raise_if_cancelled()
    except Cancelled as asked:
        s.expect("reason", asked.reason, "again")
    else:
        raise Differs("a cancelled token", "Cancelled", None)
