"""Branded ids: the vectors of the wire, order, and a clock that misbehaves."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from queue_core import ids
from queue_core.errors import InvalidError

KNOWN = [
    (0, "00000000000", 1704067200000, 0, 0),
    (1, "00000000001", 1704067200000, 0, 1),
    (61, "0000000000z", 1704067200000, 0, 61),
    (62, "00000000010", 1704067200000, 0, 62),
    (12345678901234, "0003VLrOWLi", 1704070143439, 226, 4082),
    (209715201620567, "000xY9Wvvcd", 1704117200000, 395, 2647),
    (154196038909952000, "0BODbjai1b6", 1740830400500, 0, 0),
    (271644782957166592, "0K48QjihpC4", 1768832363173, 0, 0),
    (274557032793636864, "0KHTOWnGLuC", 1769526697641, 0, 0),
    (320636799581945856, "0NgWEfAEJfs", 1780512970164, 0, 0),
    (9223372036854775807, "AzL8n0Y58m7", 3903090455551, 1023, 4095),
]


@pytest.mark.parametrize(("value", "digits", "unix_ms", "node", "seq"), KNOWN)
def test_known_values(value: int, digits: str, unix_ms: int, node: int, seq: int) -> None:
    raw = ids.encode("USR", value)
    assert raw == b"USR" + digits.encode()
    assert ids.decode(raw) == ids.Identity("USR", unix_ms, node, seq, value)


@pytest.mark.parametrize(
    "wrong",
    [
        "JOBAzL8n0Y58m8", "JOBzzzzzzzzzzz", "job00000000000", "JO00000000000", "JOB0000000000",
        "JOB000000000000", "JOB0000000000-", "JOB0000000000\n", "", "JÖB0000000000",
    ],
)  # fmt: skip
def test_the_gate_refuses(wrong: str) -> None:
    with pytest.raises(InvalidError):
        ids.check(wrong)


@given(st.integers(0, ids.MAX_VALUE), st.integers(0, ids.MAX_VALUE))
def test_byte_order_is_value_order(one: int, other: int) -> None:
    assert (ids.encode("JOB", one) < ids.encode("JOB", other)) == (one < other)


@given(st.lists(st.integers(-5_000, 5_000), min_size=1, max_size=200))
def test_mint_rises_whatever_the_clock_does(steps: list[int]) -> None:
    clock = iter([ids.EPOCH_MS + 1_000_000 + step for step in steps])
    minter = ids.Minter(7, lambda: next(clock))
    minted = [minter.mint() for _ in steps]
    assert minted == sorted(set(minted))
    assert {ids.decode(one).node for one in minted} == {7}


def test_a_burst_borrows_from_the_next_millisecond() -> None:
    minter = ids.Minter(1, lambda: ids.EPOCH_MS + 10)
    minted = [ids.decode(minter.mint()) for _ in range(4097)]
    assert (minted[-2].unix_ms, minted[-2].seq) == (ids.EPOCH_MS + 10, 4095)
    assert (minted[-1].unix_ms, minted[-1].seq) == (ids.EPOCH_MS + 11, 0)


def test_min_for_is_the_smallest_of_its_millisecond() -> None:
    instant = 1_740_830_400_500
    assert ids.encode("EVT", ids.min_for(instant)) == b"EVT0BODbjai1b6"
    assert ids.decode(ids.encode("EVT", ids.min_for(instant) - 1)).unix_ms == instant - 1
