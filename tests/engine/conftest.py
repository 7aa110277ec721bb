"""What the tests of the engine share: jobs in a named state, and every way to reach a bus."""

import contextlib
import re
from collections.abc import Callable, Iterator
from functools import partial
from itertools import product

import pytest

from queue_core.bus import Bus
from queue_core.keys import QueueKeys
from queue_core.plans import Batch, Call, Plan
from queue_core.scripts import SCRIPTS
from tests.builders import Builder, Run
from tests.engine.manned import Fill, Seen, admit
from tests.engine.reach import BUSES, Reach
from tests.engine.reader import surprises
from tests.proof.keyspace import read
from tests.servers import Cluster, Sentinels, Single, running


@pytest.fixture
def make(run: Run, q: QueueKeys, mint: Callable[[], bytes]) -> Builder:
    """Jobs of this test's queue."""
    return Builder(run, q, mint)


@pytest.fixture(autouse=True)
def read_by_another(request: pytest.FixtureRequest) -> Iterator[None]:
    """Where a test is named after a row of part 10, another engine finds nothing strange in what
    it leaves. A test that plants something strange itself says so: `planted`."""
    named = re.search(r"row_\d+", request.node.name) and "q" in request.fixturenames
    if not named or request.node.get_closest_marker("planted"):
        yield
        return
    q: QueueKeys = request.getfixturevalue("q")
    bus: Bus = request.getfixturevalue("_bus")
    yield
    (space,) = bus.run(read(q))
    assert not list(surprises(space))


@pytest.fixture
def seen() -> Seen:
    """A handler of batches that notes them."""
    return Seen()


@pytest.fixture
def fill(bus: Bus, mint: Callable[[], bytes], q: QueueKeys) -> Fill:
    """Admits so many jobs; into a lane, where one is named."""
    return partial(admit, bus, mint, q)


@pytest.fixture
def loaded(run: Run) -> None:
    """Every script known to the server, so that no test counts the loading of one."""

    def load() -> Plan[None]:
        yield Batch(tuple(Call("SCRIPT", (), ("LOAD", one.source)) for one in SCRIPTS.values()))

    run(load())


@pytest.fixture(scope="session")
def single() -> Iterator[Single]:
    """One server."""
    with running(Single) as servers:
        yield servers


@pytest.fixture(scope="session")
def sentinels() -> Iterator[Sentinels]:
    """A primary and a replica that three sentinels watch."""
    with running(Sentinels) as servers:
        yield servers


@pytest.fixture(scope="session")
def cluster() -> Iterator[Cluster]:
    """A Cluster of three primaries and a replica."""
    with running(Cluster) as servers:
        yield servers


@pytest.fixture(params=list(product(("single", "sentinels", "cluster"), BUSES)), ids="-".join)
def reach(request: pytest.FixtureRequest) -> Iterator[Reach]:
    """A bus of each kind over servers of each kind: every test that uses it runs six times."""
    servers, kind = request.param
    with contextlib.ExitStack() as stack:
        yield Reach(request.getfixturevalue(servers), BUSES[kind], stack)
