"""Why the house does not start, in one line that says how to mend it."""


class RefusedError(Exception):
    """Ends the command with its text and an exit code that is not 0."""
