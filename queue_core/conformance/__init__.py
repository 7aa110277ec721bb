"""The 79 scenarios that an engine of the wire must play (protocol part 11), run on any bus."""
