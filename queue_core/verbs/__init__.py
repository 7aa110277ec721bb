"""Every transition of the wire as a plan, a module for each part of it (protocol parts 3, 4, 7)."""
