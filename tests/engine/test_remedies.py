"""A bus URL of another kind than its servers is refused with what to say instead."""

from __future__ import annotations

import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest

from queue_core import ids
from queue_core.embedded import find_binary
from queue_core.errors import EchoMQError, FenceError, InvalidError, ServerFault, UnavailableError
from queue_core.names import check_dedup, check_queue
from queue_core.quoting import quoted
from queue_core.servers import parse
from queue_core.work.trouble import name_of
from tests.buses import Awaited, Blocking
from tests.ports import free_port
from tests.servers import Single, ask, leashed, running, until


@pytest.fixture(scope="module")
def plain() -> Iterator[int]:
    """The port of a server that is alone."""
    with running(Single) as servers:
        yield servers.port


@pytest.fixture(scope="module")
def sentinel(tmp_path_factory: pytest.TempPathFactory) -> Iterator[int]:
    """The port of a sentinel that watches nothing."""
    folder: Path = tmp_path_factory.mktemp("sentinel")
    port = free_port()
    conf = folder / "sentinel.conf"
    conf.write_text(f"port {port}\nbind 127.0.0.1\ndir {folder}\nlogfile {folder}/log\n")
    process = subprocess.Popen(
        leashed([str(find_binary()), str(conf), "--sentinel"]), stdout=subprocess.DEVNULL
    )

    def answers() -> bool:
        try:
            return ask(port, "PING") is not None
        except OSError:
            return False

    until(answers, "the sentinel answers")
    yield port
    process.kill()
    process.wait()


@pytest.mark.parametrize("kind", [Blocking, Awaited])
def test_servers_of_another_kind_than_the_url_says(
    plain: int, sentinel: int, kind: type[Blocking | Awaited]
) -> None:
    with pytest.raises(ServerFault, match=r"cluster support disabled.*begins .*redis://"):
        kind(f"redis+cluster://127.0.0.1:{plain}")
    with pytest.raises(ServerFault, match=r"redis\+sentinel:// URL names the sentinels"):
        kind(f"redis+sentinel://127.0.0.1:{plain}/house")
    with pytest.raises(UnavailableError, match=r"primary of nosuch: .*SENTINEL MASTERS names it"):
        kind(f"redis+sentinel://127.0.0.1:{sentinel}/nosuch")
    with pytest.raises(UnavailableError, match=r": .+; if it speaks no TLS"):
        kind(f"rediss://127.0.0.1:{plain}", connect_timeout_ms=500)


def test_a_url_that_begins_otherwise_is_told_how_one_begins() -> None:
    for url in ("http://h:1", "127.0.0.1:6379"):
        with pytest.raises(InvalidError, match=r"begins with redis://.*or redis\+cluster://"):
            parse(url)


def test_names_stand_in_sentences_as_text() -> None:
    told: list[EchoMQError] = [FenceError("echomq:3.0.0", b"echomq:9.0.0")]
    for refuse, name in ((ids.check, b"g1"), (check_queue, b"bad{q"), (check_dedup, b"a:b")):
        with pytest.raises(InvalidError) as refused:
            refuse(name)
        told.append(refused.value)
    assert not [one for one in told if " b'" in str(one)]
    assert str(told[1]).endswith(": 'g1'")


@pytest.mark.parametrize(
    ("name", "words"),
    [
        (b"plain", "'plain'"), ("plain", "'plain'"), (b"\xff\x1b[", r"'\xff\x1b['"),
        ("\x1b[2J", r"'\x1b[2J'"), ("caf\xe9".encode(), "'caf\xe9'"), (7, "7"),
        (b"x" * 100, f"'{'x' * 59}…'"),
    ],
)  # fmt: skip
def test_a_name_in_quotes(name: object, words: str) -> None:
    assert quoted(name) == words


def test_loops_are_called_after_their_queues_as_text() -> None:
    assert name_of("pump", [b"a", b"b\xff"]) == r"pump of 'a', 'b\xff'"
