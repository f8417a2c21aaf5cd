"""One HTTP exchange that ends for certain and goes nowhere else: this machine alone, unless more is allowed."""

from __future__ import annotations

import contextlib
import ipaddress
import socket
import ssl
import threading
import time
from collections.abc import Mapping
from http.client import HTTPConnection, HTTPException, HTTPResponse, IncompleteRead
from typing import NamedTuple
from urllib.parse import urlsplit

from vault_eval.vault.paths import quoted

_OK = 200
# Any other name would be asked of a server of names, which is on another machine.
_THIS_MACHINE = "localhost"
_ONLY_HERE = "queries leave this one only with --allow-remote"
_SAID_MAX_BYTES = 400
_NO_TIME_SECONDS = 0.001  # with 0 a socket would not wait, which it calls another error than a time-out


class HttpFailedError(Exception):
    """An exchange failed; `str(error)` is the whole sentence."""


class Address(NamedTuple):
    """Where a request goes. `server` is how messages name it; `target` is path and query."""

    scheme: str
    host: str
    port: int
    target: str

    @property
    def server(self) -> str:
        """The server alone, without path."""
        host = f"[{self.host}]" if ":" in self.host else self.host
        return f"{self.scheme}://{host}:{self.port}"


def address_of(url: str) -> Address:
    """The parts of an address. Raises HttpFailedError for anything but http and https, and for a user or password in it."""
    try:
        parts = urlsplit(url)
        port = parts.port
    except ValueError as error:
        raise HttpFailedError(f"{quoted(url)} is no address: {error}") from None
    if parts.scheme not in ("http", "https") or not parts.hostname:
        raise HttpFailedError(f"{quoted(url)} is no address; write http://localhost:PORT/PATH")
    if "@" in parts.netloc:
        raise HttpFailedError("an address may not hold a user or password: reports quote it")
    target = (parts.path or "/") + (f"?{parts.query}" if parts.query else "")
    return Address(parts.scheme, parts.hostname, port or (443 if parts.scheme == "https" else 80), target)


def refuse_elsewhere(address: Address) -> None:
    """Raises HttpFailedError for an address that is, or may be, another machine's; nothing is looked up for it."""
    if _is_numeric(address.host):
        if not _is_loopback(address.host):
            raise HttpFailedError(f"{address.server} is another machine ({address.host}); {_ONLY_HERE}")
    elif address.host != _THIS_MACHINE:
        raise HttpFailedError(f"{address.server} may be another machine: the name is not looked up; {_ONLY_HERE}")


def fetch_bounded(
    address: Address,
    *,
    body: bytes | None = None,
    headers: Mapping[str, str] | None = None,
    timeout_seconds: float,
    max_bytes: int,
    allow_remote: bool,
) -> bytes:
    """The body of the answer to a GET, or to a POST of `body`; connected to directly, redirects not followed.

    Raises HttpFailedError where the server cannot be reached, is another machine that is not allowed, answers with
    anything but 200, takes longer than `timeout_seconds`, of which every address it has takes its part, sends more than
    `max_bytes`, or hangs up before the body is whole.
    """
    late = HttpFailedError(f"{address.server} took longer than {timeout_seconds:g} seconds")
    cut: list[bool] = []

    def cut_off() -> None:
        cut.append(True)
        with contextlib.suppress(OSError):
            connected.shutdown(socket.SHUT_RDWR)

    ends = time.monotonic() + timeout_seconds
    try:
        connected = _connect(address, ends, allow_remote)
    except TimeoutError:
        raise late from None
    # The time-out of a socket begins anew with every byte.
    timer = threading.Timer(max(0.0, ends - time.monotonic()), cut_off)
    timer.daemon = True
    timer.start()
    try:
        with contextlib.closing(HTTPConnection(address.host, address.port)) as connection:
            connection.sock = connected  # it opens none of its own then
            connection.request("GET" if body is None else "POST", address.target, body, dict(headers or {}))
            with connection.getresponse() as response:
                data = _body(response, address, max_bytes)
    except IncompleteRead as error:
        raise late if cut else HttpFailedError(f"{address.server} {_cut_short(error)}") from None
    except TimeoutError:  # the socket's own, which may be a moment before the timer's
        raise late from None
    except (OSError, HTTPException, ValueError) as error:
        raise late if cut else HttpFailedError(f"{address.server} failed: {quoted(str(error) or repr(error))}") from None
    finally:
        timer.cancel()
        connected.close()
    if cut:  # what was cut off reads as if it had ended
        raise late
    return data


def _connect(address: Address, ends: float, allow_remote: bool) -> socket.socket:
    """A connection to an address that was looked up and checked; it is the checked one that is connected to.

    Raises TimeoutError where there is none when time `ends`, on the monotonic clock.
    """
    if not allow_remote:
        refuse_elsewhere(address)
    try:
        found = socket.getaddrinfo(address.host, address.port, type=socket.SOCK_STREAM)
    except (OSError, ValueError) as error:
        raise HttpFailedError(f"{address.server} cannot be found: {error}") from None
    allowed = [one for one in found if allow_remote or _is_loopback(str(one[4][0]))]
    if not allowed:
        raise HttpFailedError(f"{address.server} is another machine ({found[0][4][0]}); {_ONLY_HERE}")
    problem = ""
    for family, kind, protocol, _, place in allowed:
        connected = socket.socket(family, kind, protocol)
        try:
            connected.settimeout(max(_NO_TIME_SECONDS, ends - time.monotonic()))
            connected.connect(place)
        except OSError as error:
            connected.close()
            if isinstance(error, TimeoutError) and error.errno is None:  # ours; that of the system has a number
                raise
            problem = error.strerror or str(error)
        else:
            return connected if address.scheme == "http" else _encrypted(connected, address.host)
    raise HttpFailedError(f"{address.server} cannot be reached: {problem}; is it running?")


def _encrypted(connected: socket.socket, host: str) -> ssl.SSLSocket:
    # The handshake is left to the first byte, so that it counts as time and its failure as a failure.
    trusted = ssl.create_default_context()
    return trusted.wrap_socket(connected, server_hostname=host, do_handshake_on_connect=False)


def _is_numeric(host: str) -> bool:
    with contextlib.suppress(ValueError):
        return bool(ipaddress.ip_address(host.partition("%")[0]))
    return False


def _is_loopback(place: str) -> bool:
    return ipaddress.ip_address(place.partition("%")[0]).is_loopback


def _body(response: HTTPResponse, address: Address, max_bytes: int) -> bytes:
    if response.status != _OK:
        location = response.getheader("Location")
        said = f"and points to {quoted(location)}; redirects are not followed" if location else _said(response)
        raise HttpFailedError(f"{address.server} answered {response.status} {said}")
    data = response.read(max_bytes + 1)
    if len(data) > max_bytes:
        raise HttpFailedError(f"{address.server} sent more than {max_bytes:,} bytes")
    if response.length:  # what is missing of Content-Length: a bounded read takes the end of the connection for that of the body
        raise IncompleteRead(data, response.length)
    return data


def _cut_short(error: IncompleteRead) -> str:
    if error.expected is None:  # a body in chunks does not say how long it is
        return "ended before its answer was whole"
    return f"ended after {len(error.partial):,} of {len(error.partial) + error.expected:,} bytes"


def _said(response: HTTPResponse) -> str:
    said = response.read(_SAID_MAX_BYTES).decode("utf-8", "replace").strip()
    return f"and said {quoted(said)}" if said else "and said nothing"
