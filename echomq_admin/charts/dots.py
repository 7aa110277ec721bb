"""Things counted one by one, drawn as dots in a row."""


def marks(places: range, step: int) -> str:
    """The dots at these places, `step` px apart, as one SVG path to be stroked round."""
    return "".join(f"M{4 + step * at} 8h0" for at in places)
