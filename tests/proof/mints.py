"""`python -m tests.proof.mints URL NODE COUNT`: take one node number, mint, give it back."""

from __future__ import annotations

import sys

from queue_core.bus import connect
from queue_core.nodes import NodeLease


def main() -> None:
    """The ids, a line each."""
    url, node, count = sys.argv[1], int(sys.argv[2]), int(sys.argv[3])
    bus, lease = connect(url), NodeLease(node, node)
    found = [bus.run(lease.mint()) for _ in range(count)]
    bus.run(lease.release())
    sys.stdout.write("\n".join(job_id.decode() for job_id in found))


if __name__ == "__main__":
    main()
