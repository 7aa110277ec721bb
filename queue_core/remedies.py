"""Trouble on the way to a bus in words: what it means, and what to say instead where the URL does
not fit the servers.
"""

from __future__ import annotations

import ssl

from queue_core.errors import EchoMQError, ServerFault
from queue_core.servers import Kind, Servers

_HOST = {62, 64}
"""OpenSSL's numbers: the certificate is for another host, for another address."""
_DATE = {9, 10}
"""It is not valid yet, no more."""


def of_tls(error: OSError) -> str:
    """What to do about a server that did not prove itself; empty for other troubles of a line."""
    if isinstance(error, ssl.SSLCertVerificationError):
        if error.verify_code in _DATE:
            return "; renew the server's certificate, or mend this host's clock"
        if error.verify_code in _HOST:
            return (
                "; name the host as its certificate does, or say ssl_check_hostname=false in the "
                "bus URL"
            )
        return (
            "; name the certificate that vouches for it in the bus URL: ssl_ca_certs=FILE, or "
            "trust anybody: ssl_cert_reqs=none"
        )
    if isinstance(error, ssl.SSLError) and "CERTIFICATE_REQUIRED" in (error.reason or ""):
        return "; show ours by the bus URL: ssl_certfile=FILE and ssl_keyfile=FILE"
    return ""


def of_greeting(error: OSError) -> str:
    """The same of a line that broke while TLS was agreed on: a server that speaks none hangs up, or
    waits for the rest of a command."""
    if told := of_tls(error):
        return told
    if isinstance(error, ssl.SSLError | ConnectionResetError | TimeoutError):
        return "; if it speaks no TLS, its URL begins with redis, not rediss"
    return ""


def of_silence(error: OSError) -> str:
    """What the system says of a line, or what it means where it says nothing."""
    return str(error) or ("time is up" if isinstance(error, TimeoutError) else "it was cut")


def of_asking(servers: Servers, fault: EchoMQError) -> EchoMQError:
    """What a server said that was asked who serves, with what to do where it is of another kind
    than the URL says."""
    if not isinstance(fault, ServerFault) or fault.code != "ERR":
        return fault
    plain = "unix:// or redis://, rediss:// over TLS"
    if servers.kind is Kind.cluster:
        return ServerFault(fault.code, f"{fault.text}: the URL of a single server begins {plain}")
    return ServerFault(
        fault.code,
        f"{fault.text}: a redis+sentinel:// URL names the sentinels, by default at port 26379; "
        f"that of a single server begins {plain}",
    )


def of_no_primary(servers: Servers, last: EchoMQError | None) -> str:
    """Why sentinels or a cluster told nobody who serves. `last` is the last answer that was a
    fault, None where each of them knew nothing."""
    if servers.kind is Kind.cluster:
        if last is None:
            return "no node of the cluster answers: none serves a slot; assign its slots"
        return f"no node of the cluster answers: {last}"
    told = f"no sentinel names a primary of {servers.service}"
    if last is None:
        return f"{told}: none watches it; the URL ends in /SERVICE as SENTINEL MASTERS names it"
    return f"{told}: {last}"
