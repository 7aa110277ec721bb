"""What a job's progress tells those who listen (protocol part 5.2)."""

import json
import threading

from queue_core.keys import QueueKeys
from queue_core.outcomes import Word
from queue_core.verbs import jobs


def test_progress_is_published_as_one_flat_object(bus, q: QueueKeys, make):
    job = make.pending()
    heard: list[bytes] = []
    listening = threading.Event()

    def listen() -> None:
        channel = bus.listen([q.events])
        listening.set()
        heard.append(next(iter(channel))[1])

    thread = threading.Thread(target=listen, daemon=True)
    thread.start()
    assert listening.wait(5)
    progress = 'half "way"\n\x00 ü'
    while thread.is_alive():
        assert bus.run(jobs.update_progress(q, job.id, progress)) is Word.ok
        thread.join(0.05)
    assert json.loads(heard[0]) == {
        "event": "progress",
        "job": job.id.decode(),
        "progress": progress,
    }
