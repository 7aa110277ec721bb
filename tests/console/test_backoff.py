"""The backoff lab as a browser gets it: a curve by the address, real jobs on it, no writing."""

import pytest

from queue_core.plans import Call
from queue_core.verbs import admission, claims, settle


def failed(bus, q, mint, delay_ms=20_000):
    """A job whose first try failed."""
    job = mint()
    bus.run(admission.enqueue(q, job, b"{}"))
    lease = bus.run(claims.claim(q, 60_000, b"w1"))
    bus.run(settle.retry(q, job, lease.token, delay_ms, 9, b"502"))
    return job


def test_a_job_off_the_curve_is_told(look, bus, q, mint):
    failed(bus, q, mint)
    answer = look("backoff")
    text = answer.content.decode()
    assert "1 above the curve: another policy or a hand gave it" in text
    assert "When a try failed is not recorded" in text
    assert answer.context["shaped"].data["curve"]["jobs"][0]["off"] == "above"
    fitting = look("backoff", form="1", kind="fixed", base="60000", tries="8")
    assert fitting.context["above"] == 0
    assert "fixed" in fitting.content.decode()


def test_the_form_says_what_it_is_given(look, make):
    make.pending()
    answer = look("backoff", form="1", kind="exponential", base="2,000", cap="9", tries="1")
    assert (answer.context["a"].base, answer.context["a"].cap) == (2000, 9)
    assert answer.context["a"].jitter is False
    assert answer.context["a"].worst_ms == 0


@pytest.mark.parametrize(
    ("params", "status"),
    [
        ({"kind": "cubic"}, 400),
        ({"base": "1e3"}, 400),
        ({"base": "-5"}, 400),
        ({"tries": "٣"}, 400),
        ({"base": "0", "cap": "999999999999999", "tries": "9999"}, 200),
    ],
)
def test_case_8_102_parameters_are_clamped_or_refused(look, make, params, status):
    """Cases 8 and 102."""
    make.pending()
    answer = look("backoff", **params)
    assert answer.status_code == status
    if status == 200:
        assert (answer.context["a"].base, answer.context["a"].tries) == (1, 100)


def test_a_preview_writes_nothing(look, bus, q, mint):
    def dirty():
        info = yield Call("INFO", args=("persistence",))
        return [line for line in info.splitlines() if b"changes_since_last_save" in line]

    failed(bus, q, mint)
    before = bus.run(dirty())
    for base in ("100", "200", "300"):
        look("backoff", base=base)
    assert bus.run(dirty()) == before
