"""A Cluster of one node: a game's two keys are on different slots, and queues may move away."""

import time
from collections.abc import Iterator

import pytest
import redis

from queue_core import boards
from queue_core.bus import Bus, connect
from queue_core.embedded import Embedded
from queue_core.keys import board, board_base, queue
from queue_core.outcomes import Word
from queue_core.work.pump import Pump
from tests.builders import command
from tests.ports import free_ports


@pytest.fixture(scope="module")
def cluster(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Bus]:
    port, gossip = free_ports(2)
    folder = tmp_path_factory.mktemp("node")
    node = Embedded(folder, port, ("--cluster-enabled", "yes", "--cluster-port", str(gossip)))
    node.start()
    try:
        with redis.Redis(port=port) as client:
            client.execute_command("CLUSTER ADDSLOTSRANGE", 0, 16383)
            for _ in range(500):
                if client.execute_command("CLUSTER INFO")["cluster_state"] == "ok":
                    break
                time.sleep(0.01)
        bus = connect(f"redis+cluster://127.0.0.1:{port}")
        yield bus
        bus.close()
    finally:
        node.stop()


def test_a_fold_changes_each_key_by_itself(cluster: Bus) -> None:
    assert cluster.run(boards.fold("g1", "ann", 5)) == (Word.ok, "5")
    assert cluster.run(boards.fold("g1", "ann", 3)) == (Word.noop, "5")
    assert cluster.run(boards.fold("g1", "ann", 8)) == (Word.ok, "8")
    assert cluster.run(command("HGET", board_base(b"g1"), "ann")) == b"8"
    assert cluster.run(boards.top("g1", 5)).value == [(b"ann", "8")]


def test_a_late_half_of_a_fold_never_lowers_the_board(cluster: Bus) -> None:
    cluster.run(boards.fold("g2", "ann", 5))
    cluster.run(command("ZADD", board(b"g2"), 9, "ann"))
    cluster.run(boards.fold("g2", "ann", 7))
    assert cluster.run(boards.top("g2", 5)).value == [(b"ann", "9")]


def test_a_rescore_still_needs_the_score_that_was_seen(cluster: Bus) -> None:
    cluster.run(boards.fold("g3", "ann", 5))
    assert cluster.run(boards.rescore("g3", "ann", 2, "4")) == (Word.moved, "5")
    assert cluster.run(boards.rescore("g3", "ann", 2, "5")) == (Word.ok, "2")
    assert cluster.run(boards.rescore("g3", "bob", 2, "5")) == (Word.gone, None)
    assert cluster.run(command("HGET", board_base(b"g3"), "ann")) == b"2"


def test_a_pump_has_a_line_for_each_queue_before_there_is_a_second_node(cluster: Bus) -> None:
    assert len(cluster.primaries()) == 1
    assert len(Pump(cluster, [queue("here"), queue("there")])._watches) == 2
