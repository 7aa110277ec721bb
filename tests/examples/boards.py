"""Keep each player's best score, and mend one by hand."""

import os

from queue_core import boards, connect

bus = connect(os.environ.get("BUS_URL", "redis://localhost:6379"))
print(bus.run(boards.fold("chess", "ada", 40)))
print(bus.run(boards.fold("chess", "bob", 70)))
print(bus.run(boards.fold("chess", "ada", 30)))  # not better: it stays
print(bus.run(boards.rescore("chess", "ada", 90, expected="40")))
print(bus.run(boards.rescore("chess", "ada", 95, expected="40")))  # somebody was first
print(bus.run(boards.top("chess", 10)).value)
