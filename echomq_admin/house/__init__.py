"""One machine's whole house, started and supervised by one command: a bus, the console, a worker,
a pump and the demo load. No Django here: the children bring it."""
