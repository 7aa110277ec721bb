"""A walk through the bus: what a pass found stands until the next has seen the whole."""

from echomq_admin.live.walk import KEPT, Walk, Walks


def test_names_stand_until_the_next_pass_ends() -> None:
    walk = Walk()
    assert (walk.whole, walk.cursor()) == (False, b"0")
    walk.take(b"7", [b"b"])
    assert (walk.names, walk.whole, walk.cursor()) == ([b"b"], False, b"7")
    walk.take(b"0", [b"a"])
    assert (walk.names, walk.whole) == ([b"a", b"b"], True)
    walk.take(b"9", [b"a"])
    assert walk.names == [b"a", b"b"]
    walk.take(b"0", [])
    assert walk.names == [b"a"]


def test_every_primary_is_walked() -> None:
    walk = Walk()
    walk.take(b"0", [b"a"], "one")
    walk.take(b"4", [], "two")
    assert not walk.whole
    walk.take(b"0", [b"c"], "two")
    assert (walk.whole, walk.names) == (True, [b"a", b"c"])


def test_walks_are_bounded() -> None:
    walks = Walks()
    first = walks.of("main", b"0")
    for number in range(KEPT):
        walks.of("main", b"%d" % (number + 1))
    assert walks.of("main", b"0") is not first
