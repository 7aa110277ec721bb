"""`python -m queue_core.conformance URL`: whether a bus and this engine play by the wire."""

import sys

from queue_core.conformance.command import main

sys.exit(main())
