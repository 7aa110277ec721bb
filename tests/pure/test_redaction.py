"""Payloads as exact JSON, and what of them anybody may read."""

import json

import pytest

from echomq_admin.exact_json import NoTree, Number, Object, parse
from echomq_admin.redaction import DEFAULT_KEYS, MASK, Veil


def veil(payload: bytes | None, *, whole: bool = True, may: bool = False) -> Veil:
    return Veil.over(payload, whole=whole, may=may, words=DEFAULT_KEYS)


def shown(payload: bytes) -> str:
    return veil(payload).preview(10_000).text


@pytest.mark.parametrize("digits", ["9007199254740993", "1.0", "1e400", "-0", "1E+2", "0.10"])
def test_digits_stay_as_they_were(digits: str) -> None:
    tree = parse(f'{{"n":{digits}}}'.encode())
    assert isinstance(tree, Object)
    assert tree.pairs == (("n", Number(digits)),)
    assert shown(f'{{"n":{digits}}}'.encode()) == f'{{"n":{digits}}}'


def test_an_empty_key_is_legal_and_a_repeated_one_is_marked() -> None:
    lines = veil(b'{"":1,"a":2,"a":3}').lines(10)
    assert [(line.key, line.text, line.repeated) for line in lines] == [
        (None, "{", False), ("", "1", False), ("a", "2", False), ("a", "3", True),
    ]  # fmt: skip


@pytest.mark.parametrize(
    ("payload", "why"),
    [
        (b"[" * 20_000 + b"]" * 20_000, "nested deeper"),
        (b"[" * 40 + b"]" * 40, "nested deeper"),
        (b'{"a":' * 20_000 + b"1" + b"}" * 20_000, "nested deeper"),
        (b"[" + b"1," * 200_000 + b"1]", "values"),
        (b"[" + b"1," * 1_000_000 + b"1]", "bytes"),
        (b"\xff\xfe\x00\xc3\x28", "not UTF-8"),
        (b"hello", "not JSON"),
        (b"", "not JSON"),
        (b'{"a":1} trailing', "not JSON"),
    ],
)
def test_what_has_no_tree_says_why(payload: bytes, why: str) -> None:
    with pytest.raises(NoTree, match=why):
        parse(payload)


def test_a_lone_surrogate_breaks_nothing() -> None:
    assert veil(b'{"a":"\\ud800"}').preview(80).text


@pytest.mark.parametrize(
    "payload",
    [
        {"password": "hunter22"},
        {"a": {"b": [{"PassWord": "hunter22"}]}},
        {"user_password_hash": "hunter22"},
        {"API-Key": "hunter22"},
        {"headers": {"Authorization": "hunter22"}},
        {"accessToken": {"deep": ["hunter22"]}},
        {"body": '{"token":"hunter22"}'},
        {"url": "https://x.test/?token=hunter22&b=1"},
        {"note": "it was hunter22", "secret": "hunter22"},
        {"token": "hunter22", "seen": {"hunter22": 1}},
        {"password=hunter22": 1},
        {"body": json.dumps({"body": json.dumps({"token": 'a"hunter22', "b": 1})})},
    ],
)
def test_secrets_are_masked_at_any_depth(payload: object) -> None:
    over = veil(json.dumps(payload).encode())
    assert "hunter22" not in over.preview(10_000).text
    assert all("hunter22" not in f"{line.key} {line.text}" for line in over.lines(100))


def test_a_masked_line_tells_its_size_only() -> None:
    line = veil(b'{"token":"abcdef"}').lines(10)[1]
    assert (line.kind, line.text, line.note) == ("masked", "", "masked, 6 bytes")


def test_the_same_secret_is_masked_in_an_error() -> None:
    over = veil(b'{"a":{"password":"x"},"pin_token":1234567}')
    assert over.text(b"login failed for x at 1234567, box").text == (
        f"login failed for {MASK} at {MASK}, box"
    )


@pytest.mark.parametrize(
    "error",
    [
        b'boom {"password": "s3cret-one"} boom',
        b"password=s3cret-one",
        b"Authorization: Bearer s3cret-one",
        b"api_key = 's3cret-one'",
        b'{"token":"s3cret\\"-one',
        b"X-Auth-Token: s3cret-one, next",
        rb'bad body "{\"token\": \"s3cret\\\"-one\", \"n\": 1}"',
        rb"bad body '{\'password\': \'s3cret-one'",
    ],
)
def test_assignments_in_free_text_are_masked(error: bytes) -> None:
    said = veil(b"{}").text(error).text
    assert "s3cret" not in said
    assert "one" not in said


def test_a_hostile_text_is_masked_in_time_of_its_length() -> None:
    text = b"token" * 12_000 + b"=" * 4_000
    assert veil(b"{}").text(text).text


def test_text_that_cannot_be_parsed_whole_needs_the_right() -> None:
    for payload in (b"\x83h\x04\xff", b"hello", b"[" * 20_000):
        hidden = veil(payload).preview(80)
        assert (hidden.text, bool(hidden.hidden)) == ("", True)
        assert veil(payload, may=True).preview(80).text


def test_a_cut_payload_hides_the_error_beside_it_from_those_without_the_right() -> None:
    cut = b'{"password":"hun'
    assert veil(cut, whole=False).text(b"hunter22 failed").hidden
    assert veil(None, whole=False).text(b"hunter22 failed").hidden
    assert veil(cut, whole=False, may=True).text(b"plain").text == "plain"


def test_an_error_beside_a_payload_without_secrets_is_shown() -> None:
    assert veil(b"vol:1:2:3").text(b"\xff timeout").text == "\udcff timeout"


def test_a_long_payload_is_cut_in_its_preview() -> None:
    text = veil(json.dumps({"a": ["word"] * 5_000}).encode()).preview(100).text
    assert 100 <= len(text) < 120


def test_a_big_tree_says_how_much_is_left_out() -> None:
    lines = veil(json.dumps(list(range(500))).encode()).lines(100)
    assert len(lines) == 101
    assert (lines[-1].kind, lines[-1].text) == ("cut", "401 more")
