"""Bus URLs: where a bus is and how to get in (docs/operations.md).

    redis://[user:password@]host[:port][/db]           rediss:// the same over TLS
    unix://[user:password@]/path/to/socket[?db=0]
    redis+sentinel://[user:password@]host:port,host:port/service[/db]
    redis+cluster://[user:password@]host:port,host:port
    rediss+sentinel:// and rediss+cluster:// the same over TLS

Options after `?`: `protocol` (2 or 3), `db`, `username` and `password`, `client_name`; for
Sentinel `sentinel_username` and `sentinel_password`; for TLS `ssl_ca_certs`, `ssl_certfile`,
`ssl_keyfile`, `ssl_cert_reqs` (required or none), `ssl_check_hostname` (true or false).
"""

from __future__ import annotations

import ssl
from dataclasses import dataclass, field, replace
from enum import StrEnum
from urllib.parse import parse_qsl, unquote

from queue_core.errors import InvalidError

PORT = 6379
SENTINEL_PORT = 26379
CLIENT_NAME = "echomq-py"
_OPTIONS = {
    "protocol", "db", "username", "password", "client_name", "sentinel_username",
    "sentinel_password", "ssl_ca_certs", "ssl_certfile", "ssl_keyfile", "ssl_cert_reqs",
    "ssl_check_hostname",
}  # fmt: skip
_BEGINS = (
    "a bus URL begins with redis://, rediss://, unix://, redis+sentinel:// or redis+cluster://"
)
_SECRET = {"username", "password", "sentinel_username", "sentinel_password"}


class Kind(StrEnum):
    """How the servers of a bus stand to each other."""

    single = "single"
    sentinel = "sentinel"
    cluster = "cluster"


@dataclass(frozen=True, slots=True)
class Address:
    """One server: host and port, or the path of a unix socket."""

    host: str
    port: int = 0

    @property
    def name(self) -> str:
        """`host:port`, or the path."""
        if not self.port:
            return self.host
        return f"[{self.host}]:{self.port}" if ":" in self.host else f"{self.host}:{self.port}"


@dataclass(frozen=True, slots=True)
class Login:
    """User and password; a printed form shows neither."""

    username: str | None = field(default=None, repr=False)
    password: str | None = field(default=None, repr=False)

    @property
    def words(self) -> tuple[str, ...]:
        """The words of AUTH, none where there is no password."""
        if self.password is None:
            return ()
        return (self.password,) if self.username is None else (self.username, self.password)


@dataclass(frozen=True, slots=True)
class Tls:
    """How a server proves itself, and we to it."""

    ca_certs: str | None = None
    certfile: str | None = None
    keyfile: str | None = None
    verify: bool = True
    check_hostname: bool = True

    def context(self) -> ssl.SSLContext:
        """A client's context. `InvalidError` where a file of it cannot be read."""
        try:
            context = ssl.create_default_context(cafile=self.ca_certs)
            context.check_hostname = self.check_hostname and self.verify
            if not self.verify:
                context.verify_mode = ssl.CERT_NONE
            if self.certfile:
                context.load_cert_chain(self.certfile, self.keyfile)
        except (OSError, ssl.SSLError) as error:
            raise InvalidError(f"TLS files of the bus cannot be used: {error}") from None
        return context


@dataclass(frozen=True, slots=True)
class Servers:
    """A parsed bus URL. `seeds` are where to ask first: the server itself, the sentinels, or
    nodes of the cluster. `safe` is the URL with its secrets masked."""

    kind: Kind
    seeds: tuple[Address, ...]
    safe: str
    login: Login = Login()
    sentinel_login: Login = Login()
    tls: Tls | None = None
    service: str = ""
    db: int = 0
    protocol: int = 2
    client_name: str = CLIENT_NAME

    def __str__(self) -> str:
        return self.safe

    def for_asking(self) -> Servers:
        """The same to ask who serves: no database, and of sentinels with their own login."""
        login = self.sentinel_login if self.kind is Kind.sentinel else self.login
        return replace(self, login=login, db=0, protocol=2)


def parse(url: str) -> Servers:
    """What a bus URL says. `InvalidError` names what is wrong with it, secrets left out."""
    scheme, found, rest = url.partition("://")
    if not found:
        raise InvalidError(_BEGINS)
    rest, _, query = rest.partition("?")
    options = _options(query)
    if scheme == "unix":
        return _unix(rest, options)
    base, _, kind_word = scheme.partition("+")
    if base not in {"redis", "rediss"} or kind_word not in {"", "sentinel", "cluster"}:
        raise InvalidError(f"{_BEGINS}, not {_shown(f'{scheme}://')}")
    kind = Kind(kind_word or "single")
    netloc, _, path = rest.partition("/")
    auth, at, hosts = netloc.rpartition("@")
    seeds = _seeds(kind, hosts, path, query)
    if kind is Kind.single and len(seeds) > 1:
        raise InvalidError("redis:// takes one server; several need +sentinel or +cluster")
    service, db = _path(kind, path, options)
    return Servers(
        kind=kind,
        seeds=seeds,
        safe=_safe(scheme, bool(at), hosts, path, options),
        login=_login(auth, options),
        sentinel_login=Login(options.get("sentinel_username"), options.get("sentinel_password")),
        tls=_tls(options) if base == "rediss" else None,
        service=service,
        db=db,
        protocol=_protocol(options),
        client_name=options.get("client_name", CLIENT_NAME),
    )


def _unix(rest: str, options: dict[str, str]) -> Servers:
    auth, at, path = rest.rpartition("@")
    path = unquote(path)
    if not path.startswith("/"):
        raise InvalidError("a unix:// URL needs the absolute path of a socket")
    return Servers(
        kind=Kind.single,
        seeds=(Address(path),),
        safe=_safe("unix", bool(at), "", path.removeprefix("/"), options),
        login=_login(auth, options),
        db=_number(options.get("db", "0"), "a database", 0, 1_000_000),
        protocol=_protocol(options),
        client_name=options.get("client_name", CLIENT_NAME),
    )


def _options(query: str) -> dict[str, str]:
    options = dict(parse_qsl(query, keep_blank_values=True))
    if unknown := sorted(set(options) - _OPTIONS):
        raise InvalidError(f"a bus URL has no option {', '.join(map(_shown, unknown))}")
    return options


def _protocol(options: dict[str, str]) -> int:
    return _number(options.get("protocol", "2"), "a protocol", 2, 3)


def _seeds(kind: Kind, hosts: str, path: str, query: str) -> tuple[Address, ...]:
    """Where to ask first. A login that was cut short by its own / or ? is not taken for a host,
    nor shown as one."""
    cut = InvalidError("no host: a / or ? in a login is written %2F or %3F")
    if "@" in path:
        raise cut
    try:
        return _addresses(hosts, SENTINEL_PORT if kind is Kind.sentinel else PORT)
    except InvalidError:
        if "@" in query:
            raise cut from None
        raise


def _addresses(hosts: str, port: int) -> tuple[Address, ...]:
    found = tuple(_address(host, port) for host in hosts.split(",")) if hosts else ()
    return found or (Address("127.0.0.1", port),)


def _address(text: str, default: int) -> Address:
    host, colon, port = text.rpartition(":")
    if not colon or (text.startswith("[") and text.endswith("]")):
        host, port = text, str(default)
    bracketed = host.startswith("[") and host.endswith("]")
    host = host[1:-1] if bracketed else host
    if (
        not host
        or (":" in host) is not bracketed
        or any(ch.isspace() or ch in "/[]" for ch in host)
    ):
        raise InvalidError(f"no host in {_shown(text)}")
    return Address(host, _number(port, "a port", 1, 65_535))


def _path(kind: Kind, path: str, options: dict[str, str]) -> tuple[str, int]:
    parts = [unquote(part) for part in path.split("/") if part]
    service = ""
    if kind is Kind.sentinel:
        if not parts:
            raise InvalidError("a sentinel URL needs its service: …/service or …/service/db")
        service = parts.pop(0)
    if len(parts) > 1:
        raise InvalidError(f"a bus URL has no such path: /{_shown(path)}")
    db = _number(parts[0] if parts else options.get("db", "0"), "a database", 0, 1_000_000)
    if kind is Kind.cluster and db:
        raise InvalidError("a cluster has database 0 alone")
    return service, db


def _login(auth: str, options: dict[str, str]) -> Login:
    username, colon, password = auth.partition(":")
    if auth and not colon:  # redis://secret@host, as some clients write it
        raise InvalidError("a login is user:password@ or :password@")
    return Login(
        options.get("username") or unquote(username) or None,
        options["password"] if "password" in options else unquote(password) if colon else None,
    )


def _tls(options: dict[str, str]) -> Tls:
    return Tls(
        ca_certs=options.get("ssl_ca_certs"),
        certfile=options.get("ssl_certfile"),
        keyfile=options.get("ssl_keyfile"),
        verify=options.get("ssl_cert_reqs", "required").lower() != "none",
        check_hostname=options.get("ssl_check_hostname", "true").lower() not in {"false", "no"},
    )


def _number(text: str, what: str, least: int, most: int) -> int:
    if not text.isascii() or not text.isdigit() or not least <= int(text[:9]) <= most:
        raise InvalidError(f"{what} is a whole number in {least}..{most}, got {_shown(text)}")
    return int(text)


def _safe(scheme: str, login: bool, hosts: str, path: str, options: dict[str, str]) -> str:
    shown = [f"{name}={'***' if name in _SECRET else value}" for name, value in options.items()]
    query = f"?{'&'.join(shown)}" if shown else ""
    slash = f"/{path}" if path else ""
    return f"{scheme}://{'***@' if login else ''}{hosts}{slash}{query}"


def _shown(text: str) -> str:
    """A piece of the URL in a message: short, and nothing in front of an @."""
    return repr(text.rpartition("@")[2][:60])
