"""One peer in a process of its own, on the engines' shared words: a line of JSON in, one out.

Runs in the bench environment, which knows nothing of this project:
`python peer.py NAME SOCKET DATABASE CORE`. The words are those of `contest.py`. Each peer is set up
as its own guide says for one worker process: acknowledgements as it has them, results off, logs
off.
"""

import asyncio
import contextlib
import json
import logging
import os
import sys
import threading
import time

PAYLOAD = "x" * 100
NAME, SOCKET, DATABASE, CORE = sys.argv[1:3] + [int(word) for word in sys.argv[3:5]]
URL = f"unix://{SOCKET}?db={DATABASE}"
logging.disable(logging.CRITICAL)


class Tally:
    """What handlers saw: how many ran, when the last one did, and how late each began."""

    def __init__(self):
        self.count, self.late = 0, []
        self.goal, self.reached, self.at = None, threading.Event(), 0.0

    def aim(self, goal):
        self.count, self.late, self.goal = 0, [], goal
        self.reached.clear()

    def ran(self, payload):
        if payload[0] == "@":
            self.late.append((time.time() - float(payload[1:])) * 1000)
        self.count += 1
        if self.count == self.goal:
            self.at = time.perf_counter()
            self.reached.set()


tally = Tally()


class Huey:
    def __init__(self):
        from huey import RedisHuey

        self.huey = RedisHuey("huey", url=URL, results=False, blocking=True)
        self.task = self.huey.task()(tally_ran)

    def put(self, payload):
        self.task(payload)

    def put_in(self, payload, seconds):
        self.task.schedule((payload,), delay=seconds)

    def start(self, workers):
        self.consumer = self.huey.create_consumer(
            workers=workers, worker_type="thread", periodic=False, check_worker_health=False
        )
        self.consumer.start()

    def stop(self):
        self.consumer.stop(graceful=True)


class Dramatiq:
    def __init__(self):
        import dramatiq
        from dramatiq.brokers.redis import RedisBroker

        self.dramatiq = dramatiq
        self.broker = RedisBroker(url=URL)
        dramatiq.set_broker(self.broker)
        self.actor = dramatiq.actor(max_retries=0)(tally_ran)

    def put(self, payload):
        self.actor.send(payload)

    def start(self, workers):
        self.worker = self.dramatiq.Worker(self.broker, worker_threads=workers)
        self.worker.start()

    def stop(self):
        self.worker.stop()


def tally_ran(payload):
    tally.ran(payload)


class Celery:
    def __init__(self):
        from celery import Celery as App

        self.app = App("bench", broker=f"redis+socket://{SOCKET}?virtual_host={DATABASE}")
        self.app.conf.update(
            task_ignore_result=True, worker_hijack_root_logger=False, task_acks_late=True,
            worker_send_task_events=False, broker_connection_retry_on_startup=True,
            worker_enable_remote_control=False,
        )  # fmt: skip
        self.task = self.app.task(name="ran")(tally_ran)

    def put(self, payload):
        self.task.delay(payload)

    def put_in(self, payload, seconds):
        self.task.apply_async((payload,), countdown=seconds)

    def start(self, workers):
        pool = "solo" if workers == 1 else "threads"
        self.worker = self.app.WorkController(
            pool=pool, concurrency=workers, without_gossip=True, without_mingle=True,
            without_heartbeat=True,
        )  # fmt: skip
        threading.Thread(target=self.worker.start, daemon=True).start()

    def stop(self):
        self.worker.stop()


class Rq:
    def __init__(self):
        import redis
        import rq

        sys.modules.setdefault("peer", sys.modules["__main__"])
        self.rq, self.connection = rq, redis.Redis.from_url(URL)
        self.queue = rq.Queue("rq", connection=self.connection)

    def put(self, payload):
        self.queue.enqueue("peer.tally_ran", payload, result_ttl=0)

    def burst(self, workers):
        if workers > 1:
            return False
        self.rq.SimpleWorker([self.queue], connection=self.connection).work(
            burst=True, logging_level="CRITICAL"
        )
        return True


class Awaited:
    """A peer that lives in an event loop of its own."""

    def __init__(self):
        self.loop = asyncio.new_event_loop()
        threading.Thread(target=self.loop.run_forever, daemon=True).start()
        self.call(self.open())

    def call(self, awaited):
        return asyncio.run_coroutine_threadsafe(awaited, self.loop).result()

    def put(self, payload):
        self.call(self.send(payload))

    def put_in(self, payload, seconds):
        self.call(self.send(payload, seconds))

    def put_many(self, payloads):
        async def each():
            for payload in payloads:
                await self.send(payload)

        self.call(each())

    def start(self, workers):
        self.call(self.begin(workers))

    def stop(self):
        self.call(self.end())


class Arq(Awaited):
    async def open(self):
        import arq
        from arq.connections import RedisSettings

        self.arq = arq
        self.settings = RedisSettings(unix_socket_path=SOCKET, database=DATABASE)
        self.pool = await arq.create_pool(self.settings)

    async def send(self, payload, seconds=None):
        await self.pool.enqueue_job("ran", payload, _defer_by=seconds)

    async def begin(self, workers):
        async def ran(_context, payload):
            tally.ran(payload)

        self.worker = self.arq.Worker(
            functions=[self.arq.func(ran, name="ran", keep_result=0)], max_jobs=workers,
            redis_settings=self.settings, handle_signals=False, poll_delay=0.5,
        )  # fmt: skip
        self.task = asyncio.ensure_future(self.worker.async_run())

    async def end(self):
        self.task.cancel()
        with contextlib.suppress(asyncio.CancelledError):
            await self.worker.close()


class Saq(Awaited):
    async def open(self):
        import redis.asyncio
        import saq
        from saq.queue.redis import RedisQueue

        self.saq, self.queue = saq, RedisQueue(redis.asyncio.Redis.from_url(URL))
        await self.queue.connect()

    async def send(self, payload, seconds=None):
        more = {"scheduled": time.time() + seconds} if seconds else {}
        await self.queue.enqueue("ran", payload=payload, ttl=-1, **more)

    async def begin(self, workers):
        async def ran(_context, *, payload):
            tally.ran(payload)

        self.worker = self.saq.Worker(self.queue, functions=[("ran", ran)], concurrency=workers)
        self.worker.SIGNALS = []
        self.task = asyncio.ensure_future(self.worker.start())

    async def end(self):
        await self.worker.stop()
        self.task.cancel()


class Taskiq(Awaited):
    async def open(self):
        from taskiq_redis import RedisStreamBroker

        self.broker = RedisStreamBroker(url=URL)

        async def ran(payload: str) -> None:
            tally.ran(payload)

        self.task = self.broker.register_task(ran, task_name="ran")
        await self.broker.startup()

    async def send(self, payload):
        await self.task.kiq(payload)

    async def begin(self, workers):
        from taskiq.api import run_receiver_task

        self.broker.is_worker_process = True
        self.worker = asyncio.ensure_future(
            run_receiver_task(self.broker, max_async_tasks=workers, run_startup=True)
        )

    async def end(self):
        self.worker.cancel()


PEERS = {
    "huey": Huey, "Dramatiq": Dramatiq, "Celery": Celery, "RQ": Rq, "arq": Arq, "SAQ": Saq,
    "taskiq": Taskiq,
}  # fmt: skip


def flush(peer):
    import redis

    if isinstance(peer, Celery):  # it would miss its bindings
        peer.app.control.purge()
        return
    redis.Redis.from_url(URL).flushdb()
    if isinstance(peer, Taskiq):  # its group of readers went with the rest
        peer.call(peer.broker.startup())


def enqueue(peer, count):
    """Seconds that so many admissions take, one by one."""
    many = getattr(peer, "put_many", None)
    began = time.perf_counter()
    if many is not None:
        many([PAYLOAD] * count)
    else:
        for _ in range(count):
            peer.put(PAYLOAD)
    took = time.perf_counter() - began
    flush(peer)
    return took


def drain(peer, count, workers):
    """Seconds that a waiting backlog takes, from the start of the worker's first job on."""
    if isinstance(peer, Arq) and workers == 1:
        return None  # it takes nothing with one place
    for _ in range(count):
        peer.put(PAYLOAD)
    first = []
    tally.aim(count)
    real = tally.ran

    def noting(payload):
        if not first:
            first.append(time.perf_counter())
        real(payload)

    tally.ran = noting
    try:
        if hasattr(peer, "burst"):
            if not peer.burst(workers):
                flush(peer)
                return None
        else:
            peer.start(workers)
            if not tally.reached.wait(20):
                return None
            peer.stop()
    finally:
        tally.ran = real
    flush(peer)
    return (tally.at - first[0]) * count / (count - 1)


def pickup(peer, count):
    """ms from enqueue to the handler's start, on an idle worker."""
    if hasattr(peer, "burst"):
        return None
    tally.aim(count + 1)
    peer.start(10)
    peer.put("@0")
    while tally.count < 1:
        time.sleep(0.01)
    tally.late.clear()
    for _ in range(count):
        time.sleep(0.02)
        peer.put("@" + repr(time.time()))
    tally.reached.wait(20)
    late = list(tally.late)
    peer.stop()
    flush(peer)
    return late


def lateness(peer, count):
    """ms from due to the handler's start."""
    if not hasattr(peer, "put_in") or isinstance(peer, Rq | Taskiq):
        return None
    tally.aim(count + 1)
    peer.start(10)
    peer.put("@0")
    while tally.count < 1:
        time.sleep(0.01)
    tally.late.clear()
    for at in range(count):
        wait = 0.3 + 0.037 * at
        peer.put_in("@" + repr(time.time() + wait), wait)
    tally.reached.wait(20)
    late = list(tally.late)
    peer.stop()
    flush(peer)
    return late


def main():
    if CORE >= 0:
        os.sched_setaffinity(0, {CORE})
    peer = PEERS[NAME]()
    said = os.fdopen(os.dup(1), "w")
    os.dup2(2, 1)
    for line in sys.stdin:
        word, *numbers = json.loads(line)
        try:
            answer = globals()[word](peer, *numbers)
        except Exception as error:  # noqa: BLE001 (told to whoever asked)
            answer = {"error": f"{type(error).__name__}: {error}"}
        said.write(json.dumps(answer) + "\n")
        said.flush()
    os._exit(0)


main()
