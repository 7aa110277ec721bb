"""Bus URLs: what they say, what is refused, and that no secret is ever shown."""

from __future__ import annotations

import pytest

from queue_core.errors import InvalidError
from queue_core.servers import Address, Kind, parse


@pytest.mark.parametrize(
    ("url", "kind", "seeds", "db", "tls"),
    [
        ("redis://localhost", "single", ["localhost:6379"], 0, False),
        ("redis://", "single", ["127.0.0.1:6379"], 0, False),
        ("redis://10.0.0.1:6390/4", "single", ["10.0.0.1:6390"], 4, False),
        ("redis://h:1?db=7", "single", ["h:1"], 7, False),
        ("rediss://h:1/2", "single", ["h:1"], 2, True),
        ("redis://[::1]:7000", "single", ["[::1]:7000"], 0, False),
        ("redis://[::1]", "single", ["[::1]:6379"], 0, False),
        ("unix:///tmp/a%20b.sock?db=3", "single", ["/tmp/a b.sock"], 3, False),
        ("unix://u:p@/run/v.sock", "single", ["/run/v.sock"], 0, False),
        ("redis+sentinel://a:1,b:2/house", "sentinel", ["a:1", "b:2"], 0, False),
        ("redis+sentinel://u:p@a,b/house/5", "sentinel", ["a:26379", "b:26379"], 5, False),
        ("rediss+sentinel://a/house", "sentinel", ["a:26379"], 0, True),
        ("redis+cluster://a:1,b:2", "cluster", ["a:1", "b:2"], 0, False),
        ("redis+cluster://a:1/0", "cluster", ["a:1"], 0, False),
        ("rediss+cluster://a", "cluster", ["a:6379"], 0, True),
    ],
)
def test_what_a_url_says(url, kind, seeds, db, tls):
    found = parse(url)
    assert found.kind is Kind(kind)
    assert [seed.name for seed in found.seeds] == seeds
    assert (found.db, found.tls is not None) == (db, tls)


def test_logins_may_hold_any_character():
    assert parse("redis://u%40x:p%3A%2F%40@h").login.words == ("u@x", "p:/@")
    assert parse("redis://:only@h").login.words == ("only",)
    assert parse("redis://h?username=u&password=p").login.words == ("u", "p")
    assert parse("redis://h").login.words == ()
    assert parse("redis://:@h").login.words == ("",)
    assert parse("redis://u:a@b@h").login.words == ("u", "a@b")


def test_sentinels_have_a_login_of_their_own():
    found = parse("redis+sentinel://u:p@a/house/2?sentinel_username=s&sentinel_password=t")
    asking = found.for_asking()
    assert (found.login.words, asking.login.words) == (("u", "p"), ("s", "t"))
    assert (found.db, asking.db, asking.service) == (2, 0, "house")


@pytest.mark.parametrize(
    "url",
    [
        "redis://u:hunter2@h/0",
        "redis://:hunter2@h",
        "rediss+cluster://u:hunter2@a,b",
        "unix://:hunter2@/tmp/v.sock",
        "redis://h?password=hunter2",
        "redis+sentinel://u:hunter2@a/house?sentinel_password=hunter2",
    ],
)
def test_no_secret_is_ever_shown(url):
    found = parse(url)
    for shown in (found.safe, str(found), repr(found), f"{found.login}", f"{found.for_asking()}"):
        assert "hunter2" not in shown
    assert "***" in found.safe


@pytest.mark.parametrize(
    "url",
    [
        "", "localhost:6379", "http://h", "redis+other://h", "valkey://h", "redis+cluster+x://h",
        "redis://a,b", "redis://h:0", "redis://h:65536", "redis://h:x", "redis://h/x",
        "redis://h/0/1", "redis://h/-1", "redis://h?nonsense=1", "redis://h?protocol=4",
        "redis://h h", "redis://hunter2@h", "redis+sentinel://a", "redis+sentinel://a/s/x",
        "redis+cluster://a/3", "unix://relative.sock", "unix://", "redis://,", "redis://a:1:2:3",
        "redis://h?db=\u0663",
    ],
)  # fmt: skip
def test_nonsense_is_refused_in_words_without_secrets(url):
    with pytest.raises(InvalidError) as refusal:
        parse(url)
    assert str(refusal.value)
    assert "hunter2" not in str(refusal.value)


def test_a_refusal_never_shows_a_password():
    for url in ("redis://u:hunter2@h:x", "redis://u:hunter2@h/x/y", "hunter2://u:hunter2@h"):
        with pytest.raises(InvalidError) as refusal:
            parse(url)
        assert "u:hunter2" not in str(refusal.value)


@pytest.mark.parametrize(
    "url",
    [
        "redis://:hun/ter2@h", "redis://u:hun/ter2@h:1/0", "rediss+cluster://:hun/ter2@a",
        "redis+sentinel://u:hun/ter2@a,b/house", "redis://u:hun?ter2@h", "redis://u:hun?db=2@h",
        "redis+sentinel://u:123/ter2@a", "redis://u:hun/ter2@h?db=1",
    ],
)  # fmt: skip
def test_a_password_that_was_not_escaped_is_no_host_and_is_not_shown(url):
    with pytest.raises(InvalidError) as refusal:
        parse(url)
    assert not [part for part in ("hun", "ter2", "123") if part in str(refusal.value)]


def test_tls_files_that_cannot_be_read_are_named_early():
    found = parse("rediss://h?ssl_ca_certs=/nowhere/ca.pem")
    assert found.tls is not None
    with pytest.raises(InvalidError):
        found.tls.context()


def test_an_address_names_itself():
    assert [Address("h", 1).name, Address("::1", 2).name, Address("/tmp/s").name] == [
        "h:1", "[::1]:2", "/tmp/s",
    ]  # fmt: skip
